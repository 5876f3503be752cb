package metamorphic

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Soak is a run of many cases. Each database has a seed of its own, whoever of
// the workers takes it.
type Soak struct {
	Seed    uint64 // of the first database; the next is the next number
	Cases   int    // about in all; 0: until the context ends
	Each    int    // cases a database
	Workers int    // that ask at a time; 0: one
	// Setting is what the database of a seed is asked by.
	Setting func(seed uint64) *Setting
	// Found hears of each finding, made small, and of its seed; Progress of each
	// finished database. They are not called at the same time.
	Found    func(seed uint64, f *Finding)
	Progress func(c Counts)

	mu     sync.Mutex
	counts Counts
}

// Setting is two engines, and what may be asked of them.
type Setting struct {
	Features Features
	Oracles  []Oracle
	Open     Opener
	// MayRefuse is an engine that may refuse what the other answers.
	MayRefuse string
}

// Counts is what was asked.
type Counts struct {
	Databases, Cases int
	Queries          int // generated texts that were asked
	Findings         int
	Outcomes         map[Outcome]int
	Refused          int            // by MayRefuse alone
	Oracles          map[string]int // queries by oracle
}

func newCounts() Counts { return Counts{Outcomes: map[Outcome]int{}, Oracles: map[string]int{}} }

func (c *Counts) add(o *Counts) {
	c.Databases += o.Databases
	c.Cases += o.Cases
	c.Queries += o.Queries
	c.Findings += o.Findings
	c.Refused += o.Refused
	for k, n := range o.Outcomes {
		c.Outcomes[k] += n
	}
	for k, n := range o.Oracles {
		c.Oracles[k] += n
	}
}

// Run asks them all, or until ctx ends, and says what it asked.
func (s *Soak) Run(ctx context.Context) (Counts, error) {
	s.counts = newCounts()
	var next atomic.Uint64
	g, ctx := errgroup.WithContext(ctx)
	for range max(s.Workers, 1) {
		g.Go(func() error {
			for ctx.Err() == nil {
				n := next.Add(1) - 1
				if s.Cases > 0 && n*uint64(s.Each) >= uint64(s.Cases) {
					break
				}
				c, err := s.database(ctx, s.Seed+n)
				if err != nil {
					return err
				}
				s.mu.Lock()
				s.counts.add(c)
				s.Progress(s.counts)
				s.mu.Unlock()
			}
			return nil
		})
	}
	err := g.Wait()
	return s.counts, err
}

// database asks the cases of one database.
func (s *Soak) database(ctx context.Context, seed uint64) (*Counts, error) {
	set, counts := s.Setting(seed), newCounts()
	counts.Databases = 1
	r := rand.New(rand.NewPCG(seed, 0))
	db := NewDatabase(r, set.Features)
	a, b, err := set.Open()
	if err != nil {
		return nil, err
	}
	defer a.Close()
	defer b.Close()
	if f := db.refused(a, b); f != nil {
		if f.Refused.Name() == set.MayRefuse {
			counts.Refused++
		} else {
			counts.Findings++
			s.tell(seed, f)
		}
		return &counts, nil
	}
	g := NewGenerator(r, db, set.Features)
	n := s.Each
	if db.Big {
		n = min(n, 20)
	}
	for range n {
		if ctx.Err() != nil {
			break
		}
		o := set.Oracles[r.IntN(len(set.Oracles))]
		c := o.New(g)
		c.Oracle, c.DB = o, db
		f, outcome, err := set.check(c, a, b)
		if err != nil {
			return nil, err
		}
		counts.Cases++
		counts.Queries += c.Asked
		counts.Oracles[o.Name] += c.Asked
		counts.Outcomes[outcome]++
		switch {
		case f == nil:
		case f.Refused != nil && f.Refused.Name() == set.MayRefuse:
			counts.Refused++
		default:
			counts.Findings++
			if !f.cancelled { // to make it small takes as long as it, many times
				before := f.Left
				f = Reduce(f, set.Open, 400)
				f.Before = before
			}
			s.tell(seed, f)
		}
	}
	return &counts, nil
}

func (s *Soak) tell(seed uint64, f *Finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Found(seed, f)
}

// check asks a case: one that changes the tables, of engines of its own.
func (s *Setting) check(c *Case, a, b Engine) (*Finding, Outcome, error) {
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
	if f := c.DB.refused(a, b); f != nil {
		return f, Found, nil
	}
	f, outcome := c.Check(a, b)
	return f, outcome, nil
}

// refused loads the database into both; nil: they took it.
func (d *Database) refused(a, b Engine) *Finding {
	for _, e := range []Engine{a, b} {
		if err := d.Load(e); err != nil {
			return &Finding{Case: &Case{DB: d, Oracle: Oracle{Name: "load"}}, Kind: e.Name() + " refuses the database", Refused: e,
				cancelled: true, Detail: err.Error()}
		}
	}
	return nil
}
