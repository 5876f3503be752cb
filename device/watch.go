package device

import "context"

// Watched is a stream whose user may have to stop: with everything that it is
// given, it asks first whether to go on. That bounds how long a user lives on
// when the work comes in launches of bounded size, as that of all steps does
// that are given rows without bound.
type Watched struct {
	Stream
	// Ask is the question; its error is that of the call. nil: go on.
	Ask func() error
}

func (s *Watched) ask() error {
	if s.Ask == nil {
		return nil
	}
	return s.Ask()
}

// Upload implements Stream.
func (s *Watched) Upload(dst Ptr, src []byte) error {
	if err := s.ask(); err != nil {
		return err
	}
	return s.Stream.Upload(dst, src)
}

// Download implements Stream.
func (s *Watched) Download(dst []byte, src Ptr) error {
	if err := s.ask(); err != nil {
		return err
	}
	return s.Stream.Download(dst, src)
}

// Submit implements Stream.
func (s *Watched) Submit(w Work) error {
	if err := s.ask(); err != nil {
		return err
	}
	return s.Stream.Submit(w)
}

// Wait implements Stream.
func (s *Watched) Wait(ctx context.Context) error {
	if err := s.ask(); err != nil {
		return err
	}
	return s.Stream.Wait(ctx)
}
