package kernels

import "github.com/gpusql/gpusql/device"

// collidingKeys is how many keys of a table have the hash 0 where a test asks
// for that: every look-up passes them all.
const collidingKeys = 1024

// collisions says whether a table's keys have the hash 0: they do at first, and
// no longer when they are so many that look-ups would take seconds.
type collisions struct{ first, now bool }

// end reports that a table of n keys is to have hashes from now on.
func (c *collisions) end(n int) bool { return c.now && n > collidingKeys }

// disperse gives the groups that collided the hashes that their keys have, with
// room for need of them, and moves all to new slots. When it fails nothing has changed.
func (g *Groups) disperse(s device.Stream, need, slots int) error {
	var hashes Array
	if err := hashes.Extend(g.mem, s, 0, 8*need); err != nil {
		return err
	}
	err := g.rehashKeys(s, hashes.Ptr())
	if err == nil {
		hashes, g.hashes = g.hashes, hashes
		if err = g.rehash(s, slots); err != nil {
			hashes, g.hashes = g.hashes, hashes
		}
	}
	hashes.Release()
	g.zero.now = err != nil
	return err
}

// rehashKeys writes the hashes of all groups to out.
func (g *Groups) rehashKeys(s device.Stream, out device.Ptr) error {
	var scratch Array
	defer scratch.Release()
	form := g.layout.Form
	return Pieces(s, g.n, func(lo, hi int) error {
		out, n := out+device.Ptr(8*lo), hi-lo
		if form == KeyWord || form == KeyPair {
			return g.layout.Hash(s, nil, g.packed.Ptr()+device.Ptr(lo*g.layout.Width()), n, out, false)
		}
		cols, size := make([]Vec, len(g.layout.Phys)), 0
		for i, p := range g.layout.Phys {
			cols[i].Data = device.Ptr(size)
			cols[i].Valid = device.Ptr(size + (p.Width()*n+63)&^63)
			size = int(cols[i].Valid) + (BitmapBytes(n)+63)&^63
		}
		if err := scratch.Extend(g.mem, s, 0, size); err != nil {
			return err
		}
		for i := range cols {
			cols[i].Data += scratch.Ptr()
			cols[i].Valid += scratch.Ptr()
			if err := g.Key(s, i, lo, hi, cols[i]); err != nil {
				return err
			}
		}
		return g.layout.Hash(s, cols, 0, n, out, false)
	})
}
