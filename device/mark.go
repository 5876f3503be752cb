package device

import "time"

// Mark is a moment in a stream: the end of all that was submitted before it. It
// is released before the stream is closed.
type Mark interface {
	// Since is how long the device took from earlier, a mark of the same
	// stream, to this one. A Download or Wait has come after both.
	Since(earlier Mark) (time.Duration, error)
	Release()
}

// Timer is a stream with a clock of its own.
type Timer interface {
	Mark() (Mark, error)
}

// NewMark marks this moment of s: by the device's clock, or by the host's where
// work is done when Submit returns.
func NewMark(s Stream) (Mark, error) {
	switch s := s.(type) {
	case Timer:
		return s.Mark()
	case *Watched:
		return NewMark(s.Stream)
	default:
		return hostMark(time.Now()), nil
	}
}

type hostMark time.Time

func (m hostMark) Since(earlier Mark) (time.Duration, error) {
	return time.Time(m).Sub(time.Time(earlier.(hostMark))), nil
}

func (hostMark) Release() {}
