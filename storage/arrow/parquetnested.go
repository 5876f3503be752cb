package arrow

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
)

// nestedColumn reads a column of lists or structs: the leaves below it are read
// side by side, and their levels say where lists begin and what is missing.
//
//	list ── struct ─┬─ leaf   levels │ values
//	                └─ leaf   levels │ values
//
// A value takes a slot of levels in every leaf below it, a list one for each of
// its elements, and one when it has none.
type nestedColumn struct {
	root  *nestedNode
	im    *Importer
	bytes importColumn
	ends  []int64
}

// nestedNode is a type within a nested column.
type nestedNode struct {
	typ      sqltype.Type
	def, rep int  // the levels from which on there is a value (of a list: an element)
	nullable bool // a level below def, and of a list below an empty one, is NULL
	parts    []*nestedNode
	leaves   []*slots // of all leaves below; of a leaf itself
}

// slots is a leaf below a nested column, slot by slot.
type slots struct {
	leaf  leaf
	pages *pages
	left  int64 // of the chunk, those in batch left out
	page  int   // of them, in the page
	batch int
	at    int // within batch
	reps  [slotBatch]uint32
	defs  [slotBatch]uint32

	present int // values of the page that are not in col
	col     Column
	value   int // the next one of col
	values  int
}

// slotBatch is how many levels and values are decoded at a time.
const slotBatch = 1024

var errLevels = errors.New("the levels of its parts do not agree")

// openNested makes the reader of a field with parts.
func (p *parquetFile) openNested(part, c int, im *Importer) (leaf, error) {
	if !im.s.Device().Traits().HostBytes {
		return nil, sqltype.Errorf(sqltype.CodeNotSupported, "lists and structs of files are read on the host")
	}
	n := &nestedColumn{im: im}
	root, err := p.openNode(part, p.fields[c].nested, p.schema[c].Type, im)
	n.root = root
	if err != nil {
		n.Close() //nolint:errcheck // the first error counts
		return nil, err
	}
	return n, nil
}

func (p *parquetFile) openNode(part int, f *pqarrow.SchemaField, t sqltype.Type, im *Importer) (*nestedNode, error) {
	n := &nestedNode{typ: t, def: int(f.LevelInfo.DefLevel), rep: int(f.LevelInfo.RepLevel), nullable: f.Field.Nullable}
	if f.IsLeaf() {
		s := &slots{}
		n.leaves = []*slots{s}
		var err error
		if s.leaf, s.pages, err = p.openLeaf(part, f.ColIndex, f.Field.Type, t, slotBatch, im); err == nil {
			s.left, err = p.slotsOf(part, f.ColIndex)
		}
		return n, err
	}
	types := []sqltype.Type{t}
	if t.Kind != sqltype.KindStruct {
		types[0] = t.Elem()
	} else {
		types = types[:0]
		for _, field := range t.Fields() {
			types = append(types, field.Type)
		}
	}
	if len(types) != len(f.Children) {
		return n, errLevels
	}
	for i := range f.Children {
		kid, err := p.openNode(part, &f.Children[i], types[i], im)
		n.parts, n.leaves = append(n.parts, kid), append(n.leaves, kid.leaves...)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func (p *parquetFile) slotsOf(part, leaf int) (int64, error) {
	chunk, err := p.pf.MetaData().RowGroup(part).ColumnChunk(leaf)
	if err != nil {
		return 0, err
	}
	return chunk.NumValues(), nil
}

// read implements leaf.
func (n *nestedColumn) read(rows int) (Column, error) {
	col := Column{Type: n.root.typ}
	c := &n.bytes
	c.host = c.host[:0]
	c.valid = grow(c.valid, kernels.BitmapBytes(rows))
	clear(c.valid)
	n.ends = append(n.ends[:0], 0)
	nulls := false
	for i := range rows {
		for _, s := range n.root.leaves {
			if rep, _, err := s.peek(); err != nil {
				return col, err
			} else if rep != 0 || s.ended() {
				return col, errLevels
			}
		}
		out, some, err := n.root.value(c.host)
		if err != nil {
			return col, err
		}
		if c.host = out; some {
			c.valid[i/8] |= 1 << (i % 8)
		}
		nulls = nulls || !some
		n.ends = append(n.ends, int64(len(out)))
	}
	err := importStrings(n.im, c, &col, n.ends, c.host)
	if err == nil && nulls {
		col.Vec.Valid, err = n.im.place(&c.mask, c.valid)
	}
	return col, err
}

// advance implements leaf: only leaves without parts have pages.
func (n *nestedColumn) advance() (int, error) { panic("arrow: a nested column has no pages") }

// Close implements leaf.
func (n *nestedColumn) Close() error {
	var first error
	for _, s := range n.root.leaves {
		if s.leaf == nil {
			continue
		}
		if err := s.leaf.Close(); first == nil {
			first = err
		}
	}
	n.bytes.data.Release()
	n.bytes.mask.Release()
	n.bytes.heap.Release()
	return first
}

// value adds the bytes of the next value, or nothing and false when it is NULL.
func (n *nestedNode) value(dst []byte) ([]byte, bool, error) {
	_, def, err := n.leaves[0].peek()
	if err != nil {
		return dst, false, err
	}
	if n.typ.Kind != sqltype.KindStruct {
		return n.list(dst, def)
	}
	if def < n.def {
		return dst, false, n.skip()
	}
	for _, part := range n.parts {
		if dst, err = part.element(dst); err != nil {
			return dst, false, err
		}
	}
	return append(dst, sqltype.EndOfElements), true, nil
}

// list adds the elements of a list that begins at level def.
func (n *nestedNode) list(dst []byte, def int) ([]byte, bool, error) {
	switch {
	case n.nullable && def < n.def-1:
		return dst, false, n.skip()
	case def < n.def:
		return append(dst, sqltype.EndOfElements), true, n.skip()
	}
	for {
		var err error
		if dst, err = n.parts[0].element(dst); err != nil {
			return dst, false, err
		}
		rep, _, err := n.leaves[0].peek()
		if err != nil {
			return dst, false, err
		}
		if rep != n.rep {
			return append(dst, sqltype.EndOfElements), true, nil
		}
	}
}

// element adds the next value with its mark.
func (n *nestedNode) element(dst []byte) ([]byte, error) {
	if len(n.parts) == 0 {
		return n.leaves[0].element(dst, n.def, n.typ)
	}
	at := len(dst)
	dst, some, err := n.value(sqltype.BeginElement(dst))
	if err == nil && !some {
		dst = sqltype.AppendElement(dst[:at], sqltype.NullOf(n.typ))
	}
	return dst, err
}

// skip passes over a value that has nothing below it.
func (n *nestedNode) skip() error {
	for _, s := range n.leaves {
		if _, _, err := s.peek(); err != nil {
			return err
		}
		s.at++
	}
	return nil
}

// ended reports that there is no further slot.
func (s *slots) ended() bool { return s.at == s.batch && s.left == 0 }

// peek gives the levels of the next slot; behind the last one they are 0.
func (s *slots) peek() (rep, def int, err error) {
	if s.at == s.batch {
		if s.left == 0 {
			return 0, 0, nil
		}
		if err := s.more(); err != nil {
			return 0, 0, err
		}
	}
	return int(s.reps[s.at]), int(s.defs[s.at]), nil
}

// more decodes the next levels.
func (s *slots) more() error {
	for s.page == 0 {
		if s.value < s.values || s.present > 0 {
			return errFewValues
		}
		var err error
		if s.present, err = s.leaf.advance(); err != nil {
			return err
		}
		s.page = s.pages.levels.slots
	}
	n := int(min(int64(s.page), s.left, slotBatch))
	if err := s.pages.levels.read(s.reps[:n], s.defs[:n]); err != nil {
		return err
	}
	s.at, s.batch = 0, n
	s.page -= n
	s.left -= int64(n)
	return nil
}

// element adds the value of the next slot, which is NULL below level def.
func (s *slots) element(dst []byte, def int, t sqltype.Type) ([]byte, error) {
	_, have, err := s.peek()
	switch {
	case err != nil:
		return dst, err
	case s.ended():
		return dst, errLevels
	}
	s.at++
	if have < def {
		return sqltype.AppendElement(dst, sqltype.NullOf(t)), nil
	}
	if s.value == s.values {
		if s.present == 0 {
			return dst, errFewValues
		}
		n := min(s.present, slotBatch)
		if s.col, err = s.leaf.read(n); err != nil {
			return dst, err
		}
		s.value, s.values = 0, n
		s.present -= n
	}
	s.value++
	return sqltype.AppendElement(dst, s.col.Datum(s.value-1)), nil
}

// levels are the repetition and definition levels of a leaf with repeated or
// optional parents, of the page that is read.
type levels struct {
	maxRep, maxDef int
	slots          int
	reps, defs     hybrid
}

// find finds the levels of a page of version 1.
func (l *levels) find(pg *page) (err error) {
	if pg.pageHeader.levels != parquet.Encodings.RLE {
		return fmt.Errorf("levels of lists and structs encoded as %s", pg.pageHeader.levels)
	}
	var reps, defs []byte
	if l.maxRep > 0 {
		if reps, err = pg.cutLevels(); err != nil {
			return err
		}
	}
	if l.maxDef > 0 {
		if defs, err = pg.cutLevels(); err != nil {
			return err
		}
	}
	return l.begin(pg, reps, defs)
}

// begin takes the levels of a page, which has as many values as they say.
func (l *levels) begin(pg *page, reps, defs []byte) (err error) {
	l.slots = pg.values
	l.reps = hybrid{src: reps, width: bits.Len(uint(l.maxRep))}
	l.defs = hybrid{src: defs, width: bits.Len(uint(l.maxDef))}
	if l.maxDef > 0 {
		all := l.defs
		pg.values, err = all.count(uint32(l.maxDef), l.slots)
	}
	return err
}

// read takes the next levels.
func (l *levels) read(reps, defs []uint32) error {
	if err := readLevels(&l.reps, reps, l.maxRep); err != nil {
		return err
	}
	return readLevels(&l.defs, defs, l.maxDef)
}

func readLevels(h *hybrid, dst []uint32, most int) error {
	if most == 0 {
		clear(dst)
		return nil
	}
	if err := h.read(dst); err != nil {
		return err
	}
	for _, v := range dst {
		if int(v) > most {
			return errors.New("a level is more than its type allows")
		}
	}
	return nil
}
