package metamorphic

import "math/rand/v2"

// Soak is a run of many cases.
type Soak struct {
	Seed     uint64 // of the first database; the next is the next number
	Cases    int    // in all
	Each     int    // cases a database
	Features Features
	Oracles  []Oracle
	Open     Opener
	// MayRefuse is an engine that may refuse what the other answers.
	MayRefuse string
	// Found hears of each finding, made small; Progress of each finished database.
	Found    func(*Finding)
	Progress func(cases int)

	// Outcomes counts the cases, Queries the generated texts that were asked.
	Outcomes map[Outcome]int
	Queries  int
	// Refused are those that MayRefuse alone did not answer.
	Refused int
}

// Run asks them all and says how many it asked.
func (s *Soak) Run() (int, error) {
	done := 0
	s.Outcomes = map[Outcome]int{}
	for seed := s.Seed; done < s.Cases; seed++ {
		n, err := s.database(seed, min(s.Each, s.Cases-done))
		if err != nil {
			return done, err
		}
		done += n
		s.Progress(done)
	}
	return done, nil
}

// database asks n cases of one database.
func (s *Soak) database(seed uint64, n int) (int, error) {
	r := rand.New(rand.NewPCG(seed, 0))
	db := NewDatabase(r, s.Features)
	a, b, err := s.Open()
	if err != nil {
		return 0, err
	}
	defer a.Close()
	defer b.Close()
	for _, e := range []Engine{a, b} {
		if err := db.Load(e); err != nil {
			return 0, err
		}
	}
	g := NewGenerator(r, db, s.Features)
	if db.Big {
		n = min(n, 20)
	}
	for range n {
		o := s.Oracles[r.IntN(len(s.Oracles))]
		c := o.New(g)
		c.Oracle, c.DB = o, db
		f, outcome, err := s.check(c, a, b)
		if err != nil {
			return 0, err
		}
		s.Queries += c.Asked
		switch {
		case f != nil && f.Refused != nil && f.Refused.Name() == s.MayRefuse:
			s.Refused++
		case f != nil && f.cancelled:
			s.Found(f) // to make it small takes as long as it, many times
		case f != nil:
			s.Found(Reduce(f, s.Open, 400))
		}
		s.Outcomes[outcome]++
	}
	return n, nil
}

// check asks a case: one that changes the tables, of engines of its own.
func (s *Soak) check(c *Case, a, b Engine) (*Finding, Outcome, error) {
	if c.History == nil {
		f, outcome := c.Check(a, b)
		return f, outcome, nil
	}
	a, b, err := s.Open()
	if err != nil {
		return nil, Agreed, err
	}
	defer a.Close()
	defer b.Close()
	for _, e := range []Engine{a, b} {
		if err := c.DB.Load(e); err != nil {
			return nil, Agreed, err
		}
	}
	f, outcome := c.Check(a, b)
	return f, outcome, nil
}
