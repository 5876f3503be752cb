package page_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/device/faulty"
	"github.com/gpusql/gpusql/index/page"
)

// held is a page that a test has, full of a word of its own.
type held struct {
	n     page.Number
	words int
	mark  uint64
}

func (h held) words64(s *page.Store) []uint64 {
	return device.View[uint64](page.At(page.Slots(s.Table()), h.n), h.words)
}

func (h held) check(t *testing.T, s *page.Store) {
	for _, w := range h.words64(s) {
		if w != h.mark {
			require.Equal(t, h.mark, w)
		}
	}
}

func TestPagesDoNotOverlap(t *testing.T) {
	d := devicetest.CPU(t)
	st := devicetest.Stream(t, d)
	s := page.New(d)
	defer s.Close()
	rnd := rand.New(rand.NewPCG(1, 2))
	sizes := []int32{1, 64, 100, 128, 129, 512, 700, 1024, 2000, 4096, 8191, 8192, 8193, 100_000, 131_072, 131_073, 500_000}
	var all []held
	var numbers [4]page.Number
	for round := range 1500 {
		switch round % 200 {
		case 100:
			s.Leave()
		case 130:
			s.Return()
		}
		if len(all) > 0 && rnd.IntN(100) < 20+40*(round/750) {
			i := rnd.IntN(len(all))
			all[i].check(t, s)
			s.Give([]page.Number{all[i].n})
			all[i] = all[len(all)-1]
			all = all[:len(all)-1]
			continue
		}
		n := sizes[rnd.IntN(12+round%100/20)]
		require.NoError(t, s.Take(st, []int32{n, n, 64, n}, numbers[:]))
		for i, p := range numbers {
			require.NotZero(t, p)
			h := held{p, int(n) / 8, uint64(round*4 + i)}
			if i == 2 {
				h.words = 8
			}
			for j := range h.words64(s) {
				h.words64(s)[j] = h.mark
			}
			all = append(all, h)
		}
	}
	for _, h := range all {
		h.check(t, s)
		s.Give([]page.Number{h.n})
	}
	held, inUse := s.Bytes()
	require.Zero(t, inUse)
	require.Less(t, held, int64(256<<10), "only the tables are left")
}

func TestTakeIsAllOrNothing(t *testing.T) {
	d := devicetest.CPU(t)
	sizes := make([]int32, 3000)
	for i := range sizes {
		sizes[i] = int32(i * 100)
	}
	pages := make([]page.Number, len(sizes))
	st := devicetest.Stream(t, d)
	scope := device.NewScope(d, device.ScopeOptions{})
	defer scope.Close()
	for limit := int64(1 << 20); ; limit *= 4 {
		scope.SetLimit(limit)
		s := page.New(scope)
		err := s.Take(st, sizes, pages)
		_, inUse := s.Bytes()
		if err == nil {
			require.Positive(t, inUse)
			s.Close()
			break
		}
		require.ErrorIs(t, err, device.ErrNoMemory)
		require.Zero(t, inUse)
		s.Close()
		require.Zero(t, scope.Used())
	}
}

func TestFaults(t *testing.T) {
	d := devicetest.CPU(t)
	faulty.Sweep(t, d, func(d device.Device) error {
		st, err := d.NewStream()
		if err != nil {
			return err
		}
		defer st.Close()
		s := page.New(d)
		defer s.Close()
		var pages [40]page.Number
		for range 20 {
			if err := s.Take(st, make([]int32, 40), pages[:]); err != nil {
				return err
			}
			if err := s.Take(st, []int32{300_000}, pages[:1]); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}
