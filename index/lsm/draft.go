package lsm

import (
	"context"
	"slices"
	"sort"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index/page"
	"github.com/gpusql/gpusql/kernels"
)

// draft is the next state in the making. Until publish nobody sees it, and
// end takes back what did not become part of a state.
//
//	lists   0 active of level 0   1 draining of level 0   2 active of level 1 ...
//	        newest ────────────────────────────────────────────────▶ oldest
type draft struct {
	x     *Index
	s     device.Stream
	lists []sortedList
	fresh []*segment
	room  []*device.Buffer // that goes at the end
	work  int              // entries that were written

	published bool // all work is done
}

// sortedList is a run that may change.
type sortedList struct {
	segments []*segment
	n        int     // entries
	run      *sorted // nil when the segments are not the run's
}

func (x *Index) draft(s device.Stream) *draft {
	c := &draft{x: x, s: s, lists: make([]sortedList, 0, len(x.current.lists)+2)}
	for _, r := range x.current.lists {
		if r == nil {
			c.lists = append(c.lists, sortedList{})
		} else {
			c.lists = append(c.lists, sortedList{r.segments, int(r.run.Entries), r})
		}
	}
	return c
}

// end gives back memory that was for the draft alone, when all work that uses
// it is done. It returns the draft's error, or that of the work.
func (c *draft) end(err error) error {
	if !c.published {
		if lost := c.s.Wait(context.Background()); err == nil {
			err = lost
		}
	}
	for _, b := range c.room {
		b.Release()
	}
	for _, g := range c.fresh {
		if g.refs.Load() == 0 {
			c.x.giveSegment(g)
		}
	}
	return err
}

// take is n bytes until the draft's end.
func (c *draft) take(n int) (device.Ptr, error) {
	b, err := c.x.mem.Alloc(n)
	if err != nil {
		return 0, err
	}
	c.room = append(c.room, b)
	return b.Ptr(), nil
}

// release gives back what was taken after mark buffers were.
func (c *draft) release(mark int) {
	for _, b := range c.room[mark:] {
		b.Release()
	}
	c.room = c.room[:mark]
}

// set replaces segments from a to b of list i.
func (c *draft) set(i, a, b int, by []*segment) {
	l := &c.lists[i]
	if l.run != nil {
		l.segments, l.run = slices.Clone(l.segments), nil
	}
	l.n += countEntries(by) - countEntries(l.segments[a:b])
	l.segments = slices.Replace(l.segments, a, b, by...)
}

// move gives list from's segments to list to, which is empty.
func (c *draft) move(to, from int) {
	c.lists[to], c.lists[from] = c.lists[from], sortedList{}
}

// capacity is the most entries of a level, active and draining together.
func capacity(level int) int { return levelEntries << (growth * level) }

// growth is by what power of two a level is larger than the one before.
const growth = 3

// levelEntries is the capacity of level 0.
const levelEntries = 1 << 8

func (c *draft) size(level int) int {
	return c.lists[2*level].n + c.lists[2*level+1].n
}

// put adds n sorted entries, which are newer than all there are: with those of
// smaller levels, which they outweigh, to the first level that has room for them.
func (c *draft) put(all []part, n int) error {
	level := 0
	for capacity(level) < n {
		level++
	}
	for len(c.lists) <= 2*level {
		c.lists = append(c.lists, sortedList{}, sortedList{})
	}
	for i := range 2 * level {
		if older := c.lists[i].segments; len(older) > 0 {
			merged, err := c.merge(all, parts(older))
			if err != nil {
				return err
			}
			all = merged
			c.lists[i] = sortedList{}
		}
	}
	// Some at a time: memory in the making stays small.
	for len(all) > 0 {
		k, n := 0, int64(0)
		for k < len(all) && (k == 0 || n+all[k].N <= int64(putSegments*c.x.capacity)) {
			n += all[k].N
			k++
		}
		if err := c.into(2*level, all[:k]); err != nil {
			return err
		}
		all = all[k:]
	}
	return c.settle()
}

const (
	putSegments   = 16 // segments' worth of a large batch that is placed at once
	drainSegments = 2  // that go down a level at once, to some eight each below
	drainWindow   = 16 // the most that they are merged with
)

// over reports that a level must give entries away. What drains goes twice as
// fast as what is active comes: half of the time nothing drains, and there is a
// run less to look at.
func (c *draft) over(level int) bool {
	active, draining := c.lists[2*level].n, c.lists[2*level+1].n
	return active+draining > capacity(level) || draining > 0 && 2*active+draining > capacity(level)
}

// settle moves entries down until no level has too many (invariant 4).
func (c *draft) settle() error {
	for level := 0; 2*level < len(c.lists); level++ {
		for c.over(level) {
			if 2*level+2 == len(c.lists) {
				c.lists = append(c.lists, sortedList{}, sortedList{})
			}
			if len(c.lists[2*level+1].segments) == 0 {
				c.move(2*level+1, 2*level)
			}
			if err := c.drain(2*level+1, 2*level+2); err != nil {
				return err
			}
		}
	}
	return nil
}

// drain moves the first segments of a list to an older one.
func (c *draft) drain(from, to int) error {
	l := c.lists[from].segments
	n := min(drainSegments, len(l))
	if a, b := c.window(to, l[0].first, l[n-1].last); a == b {
		// Nothing lies between them: they go as they are.
		for n < len(l) && n < putSegments {
			if a2, b2 := c.window(to, l[0].first, l[n].last); a2 != b2 {
				break
			}
			n++
		}
		moved := slices.Clone(l[:n])
		c.set(from, 0, n, nil)
		c.set(to, a, a, moved)
		c.work += len(moved)
		return nil
	} else if b-a > drainWindow {
		return c.drainBelow(from, to, c.lists[to].segments[a+drainWindow])
	}
	all := parts(l[:n])
	c.set(from, 0, n, nil)
	return c.into(to, all)
}

// drainBelow moves what is below a segment of list to from list from to it: few
// entries may lie between all of an older run's, and are then merged with some of
// its segments at a time.
func (c *draft) drainBelow(from, to int, limit *segment) error {
	l := c.lists[from].segments
	k := sort.Search(len(l), func(i int) bool { return l[i].last.compare(limit.first) >= 0 })
	all := parts(l[:k])
	if k == len(l) {
		c.set(from, 0, k, nil)
		return c.into(to, all)
	}
	at, err := c.split(l[k], limit)
	if err != nil {
		return err
	}
	mark := len(c.room)
	rest, err := c.seal([]part{l[k].part}, at)
	if err != nil {
		return err
	}
	c.release(mark)
	if at > 0 {
		below := l[k].part
		below.N = at
		all = append(all, below)
	}
	c.set(from, 0, k+1, rest)
	return c.into(to, all)
}

// split is how many entries of a segment are below the first one of another.
func (c *draft) split(g, limit *segment) (int64, error) {
	ps, err := upload(c, []part{g.part, limit.part})
	if err != nil {
		return 0, err
	}
	at := make([]int64, 1)
	to, err := c.take(8)
	if err != nil {
		return 0, err
	}
	if err := device.Launch(c.s, c.x.steps.split, 1, splitArgs{c.x.shape, ps, to}); err != nil {
		return 0, err
	}
	err = c.s.Download(bytesOf(at), to)
	return at[0], err
}

// window is the segments of list i that overlap entries first to last, and small
// ones beside them.
func (c *draft) window(i int, first, last ending) (a, b int) {
	l := c.lists[i].segments
	a = sort.Search(len(l), func(j int) bool { return l[j].last.compare(first) >= 0 })
	b = a + sort.Search(len(l)-a, func(j int) bool { return l[a+j].first.compare(last) > 0 })
	if a > 0 && c.small(l[a-1]) {
		a--
	}
	if b < len(l) && c.small(l[b]) {
		b++
	}
	return a, b
}

// small segments are put together with their neighbours.
func (c *draft) small(g *segment) bool { return g.n() < c.x.capacity/2 }

// into merges parts into list i.
func (c *draft) into(i int, all []part) error {
	ends, err := c.ends([]part{all[0], all[len(all)-1]})
	if err != nil {
		return err
	}
	a, b := c.window(i, ends[0], ends[3])
	mark := len(c.room)
	if older := c.lists[i].segments[a:b]; len(older) > 0 {
		if all, err = c.merge(all, parts(older)); err != nil {
			return err
		}
	}
	made, err := c.seal(all, 0)
	if err != nil {
		return err
	}
	c.release(mark)
	c.set(i, a, b, made)
	return nil
}

// parts are those of segments.
func parts(gs []*segment) []part {
	out := make([]part, len(gs))
	for i, g := range gs {
		out[i] = g.part
	}
	return out
}

// number gives parts their places in the list that they make, and counts.
func number(ps []part) (entries, gone int64) {
	for i := range ps {
		ps[i].Start, ps[i].Before = entries, gone
		entries += ps[i].N
		gone += ps[i].Gone
	}
	return entries, gone
}

// upload brings values to the device, until the draft's end.
func upload[T any](c *draft, v []T) (device.Ptr, error) {
	p, err := c.take(max(8, len(bytesOf(v))))
	if err != nil {
		return 0, err
	}
	return p, c.s.Upload(p, bytesOf(v))
}

// merge makes one list of two, in memory of the draft.
func (c *draft) merge(newer, older []part) ([]part, error) {
	more, fewer := newer, older
	if len(fewer) > len(more) {
		more, fewer = fewer, more
	}
	n1, gone1 := number(more)
	n2, gone2 := number(fewer)
	n := n1 + n2
	a := mergeArgs{Shape: c.x.shape, NMore: int64(len(more)), NFewer: int64(len(fewer)), NEntries: n}
	var err error
	if a.More, err = upload(c, more); err != nil {
		return nil, err
	}
	if a.Fewer, err = upload(c, fewer); err != nil {
		return nil, err
	}
	made := make([]part, len(more))
	deadWords := int64(0)
	if gone1+gone2 > 0 {
		deadWords = n/64 + int64(len(more)) + 2
	}
	keys := (n*int64(c.x.shape.Size) + 7) &^ 7
	at, err := c.take(int(keys + 8*n + 8*deadWords + int64(len(bytesOf(made)))))
	if err != nil {
		return nil, err
	}
	a.Keys, a.Rows = at, at+device.Ptr(keys)
	a.To = a.Rows + device.Ptr(8*n)
	if deadWords > 0 {
		a.Dead = a.To + device.Ptr(len(bytesOf(made)))
		if err := kernels.Zero(c.s, a.Dead, int(8*deadWords)); err != nil {
			return nil, err
		}
	}
	if err := device.Launch(c.s, c.x.steps.merge, lanes*len(more), a); err != nil {
		return nil, err
	}
	if err := c.s.Download(bytesOf(made), a.To); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(made, func(p part) bool { return p.N == 0 }), nil
}

// seal makes segments of the entries of parts from entry skip on, as few as can
// be and of like size.
func (c *draft) seal(all []part, skip int64) ([]*segment, error) {
	n, gone := number(all)
	if n -= skip; n == 0 {
		return nil, nil
	}
	c.work += int(n)
	count := (int(n) + c.x.capacity - 1) / c.x.capacity
	a := sealArgs{Shape: c.x.shape, NFrom: int64(len(all)), NTo: int64(count)}
	var err error
	if a.From, err = upload(c, all); err != nil {
		return nil, err
	}
	made := make([]*segment, count)
	to, sizes := make([]part, count), make([]int32, count)
	for i := range made {
		from, end := int64(i)*n/int64(count), int64(i+1)*n/int64(count)
		p, size := c.x.layout(int(end-from), gone > 0)
		p.Start = skip + from
		to[i], sizes[i] = p, int32(size)
	}
	if err := c.pages(made, sizes); err != nil {
		return nil, err
	}
	for i, g := range made {
		to[i].move(c.x.store.Address(g.pages[0]))
	}
	if a.To, err = upload(c, to); err != nil {
		return nil, err
	}
	if c.x.shape.Long != 0 {
		if err := c.tails(&a, made); err != nil {
			return nil, err
		}
	}
	if err := device.Launch(c.s, c.x.steps.seal, lanes*count, a); err != nil {
		return nil, err
	}
	if err := c.s.Download(bytesOf(to), a.To); err != nil {
		return nil, err
	}
	ends, err := c.ends(to)
	if err != nil {
		return nil, err
	}
	for i, g := range made {
		g.part, g.first, g.last = to[i], ends[2*i], ends[2*i+1]
	}
	return made, nil
}

// move makes a layout that of a page at base.
func (p *part) move(base device.Ptr) {
	p.Keys += base
	p.Rows += base
	if p.Dead != 0 {
		p.Dead += base
	}
	p.Fences += base
	p.Filter += base
}

// pages takes a page for each of some new segments.
func (c *draft) pages(made []*segment, sizes []int32) error {
	numbers := make([]page.Number, len(sizes))
	if err := c.x.store.Take(c.s, sizes, numbers); err != nil {
		return err
	}
	for i := range made {
		if made[i] == nil {
			made[i] = &segment{}
			c.fresh = append(c.fresh, made[i])
		}
		made[i].pages = append(made[i].pages, numbers[i])
	}
	return nil
}

// tails takes memory for the tails of new segments' keys.
func (c *draft) tails(a *sealArgs, made []*segment) (err error) {
	counts := make([]int64, len(made))
	if a.Sizes, err = upload(c, counts); err != nil {
		return err
	}
	if err := device.Launch(c.s, c.x.steps.tails, lanes*len(made), *a); err != nil {
		return err
	}
	if err := c.s.Download(bytesOf(counts), a.Sizes); err != nil {
		return err
	}
	at := make([]device.Ptr, len(made))
	for i, g := range made {
		if counts[i] == 0 {
			continue
		}
		if err := c.pages([]*segment{g}, []int32{int32(counts[i])}); err != nil {
			return err
		}
		at[i] = c.x.store.Address(g.pages[1])
	}
	a.Tails, err = upload(c, at)
	return err
}

// ends are the first and the last entry of each part, in turn.
func (c *draft) ends(ps []part) ([]ending, error) {
	sh := &c.x.shape
	size := endBytes(sh)
	from, err := upload(c, ps)
	if err != nil {
		return nil, err
	}
	to, err := c.take(2 * size * len(ps))
	if err != nil {
		return nil, err
	}
	if err := device.Launch(c.s, c.x.steps.ends, len(ps), endsArgs{Shape: *sh, Parts: from, To: to, N: int64(len(ps))}); err != nil {
		return nil, err
	}
	words := make([]uint64, 2*len(ps)*size/8)
	if err := c.s.Download(bytesOf(words), to); err != nil {
		return nil, err
	}
	out := make([]ending, 2*len(ps))
	for i := range out {
		w := words[i*size/8 : (i+1)*size/8]
		e := &out[i]
		e.key, e.row = w[:sh.Words:sh.Words], w[len(w)-1]
		if c.x.steps.lead == 4 {
			e.key[0] = uint64(*lowHalf(&e.key[0]))
		}
		if sh.Long != 0 && w[sh.Words] != 0 {
			tail, err := c.tail(device.Ptr(w[sh.Words]))
			if err != nil {
				return nil, err
			}
			e.key = append(e.key, tail...)
		}
	}
	return out, nil
}

// tail reads the words of a tail.
func (c *draft) tail(at device.Ptr) ([]uint64, error) {
	n := make([]uint64, 1)
	if err := c.s.Download(bytesOf(n), at); err != nil {
		return nil, err
	}
	tail := make([]uint64, n[0])
	return tail, c.s.Download(bytesOf(tail), at+8)
}
