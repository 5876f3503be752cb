package storage

import (
	"context"
	"slices"
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// AddCheck adds a CHECK constraint, which the rows that are there have passed.
func (x *Tx) AddCheck(ctx context.Context, t *catalog.Table, k catalog.Check) (*catalog.Table, error) {
	return x.alter(ctx, t, func(_ *version, _ *entry, def *catalog.Table) error {
		if hasConstraint(def, k.Name) {
			return errConstraintExists(def, k.Name)
		}
		def.Checks = append(slices.Clone(def.Checks), k)
		return nil
	})
}

// AddForeignKey adds a foreign key and checks the rows that are there. Its
// columns get an index unless they have one.
func (x *Tx) AddForeignKey(ctx context.Context, t *catalog.Table, k catalog.ForeignKey) (*catalog.Table, error) {
	made, err := x.alter(ctx, t, func(_ *version, _ *entry, def *catalog.Table) error {
		if hasConstraint(def, k.Name) {
			return errConstraintExists(def, k.Name)
		}
		def.Foreign = append(slices.Clone(def.Foreign), &k)
		return nil
	})
	if err != nil {
		return nil, err
	}
	e := x.version.byID[t.ID]
	if ix, _ := indexOver(e.data, k.Columns); ix == nil {
		d := catalog.Index{Name: k.Name}
		for _, id := range k.Columns {
			d.Keys = append(d.Keys, catalog.IndexKey{Column: columnAt(made, id)})
		}
		if _, err := x.CreateIndex(ctx, made, d); err != nil {
			return nil, err
		}
		e = x.version.byID[t.ID]
	}
	all := addedKeys{data: e.data, def: e.def}
	for _, g := range e.data.rows.Segments() {
		all.spans = append(all.spans, arrow.Span{Segment: g, Lo: 0, Hi: g.Rows()})
	}
	open := x.open
	s := x.Statement()
	x.open = open
	return e.def, s.checkAdded(ctx, &all, &k)
}

// DropConstraint drops a constraint by name, false when there is none. A key
// that foreign keys name is dropped with them only.
func (x *Tx) DropConstraint(ctx context.Context, t *catalog.Table, constraint string, how OnDependents) (bool, error) {
	if slices.ContainsFunc(t.Checks, func(k catalog.Check) bool { return strings.EqualFold(k.Name, constraint) }) {
		_, err := x.alter(ctx, t, func(_ *version, _ *entry, def *catalog.Table) error {
			def.Checks = slices.DeleteFunc(slices.Clone(def.Checks), func(k catalog.Check) bool { return strings.EqualFold(k.Name, constraint) })
			return nil
		})
		return true, err
	}
	if slices.ContainsFunc(t.Foreign, func(k *catalog.ForeignKey) bool { return strings.EqualFold(k.Name, constraint) }) {
		made, err := x.alter(ctx, t, func(_ *version, _ *entry, def *catalog.Table) error {
			def.Foreign = slices.DeleteFunc(slices.Clone(def.Foreign), func(k *catalog.ForeignKey) bool { return strings.EqualFold(k.Name, constraint) })
			return nil
		})
		if err == nil {
			err = x.dropIndexes(ctx, made, KeepThem, func(d *catalog.Index) bool { return strings.EqualFold(d.Name, constraint) })
		}
		return true, err
	}
	found := false
	err := x.dropIndexes(ctx, t, how, func(d *catalog.Index) bool {
		hit := d.Unique && strings.EqualFold(d.Name, constraint)
		found = found || hit
		return hit
	})
	return found, err
}

// RenameConstraint gives a constraint another name, false when there is none.
func (x *Tx) RenameConstraint(ctx context.Context, t *catalog.Table, from, to string) (bool, error) {
	found := false
	_, err := x.alter(ctx, t, func(_ *version, _ *entry, def *catalog.Table) error {
		if hasConstraint(def, to) {
			return errConstraintExists(def, to)
		}
		def.Checks, def.Foreign = slices.Clone(def.Checks), slices.Clone(def.Foreign)
		for i := range def.Checks {
			if strings.EqualFold(def.Checks[i].Name, from) {
				def.Checks[i].Name, found = to, true
			}
		}
		for i, k := range def.Foreign {
			if strings.EqualFold(k.Name, from) {
				renamed := *k
				renamed.Name, found = to, true
				def.Foreign[i] = &renamed
			}
		}
		for i, d := range def.Indexes {
			if strings.EqualFold(d.Name, from) {
				renamed := *d
				renamed.Name, found = to, true
				def.Indexes[i] = &renamed
			}
		}
		return nil
	})
	return found, err
}

// dropIndexes drops the indexes of t that are meant. One that is the key of
// foreign keys is dropped with them, or not at all.
func (x *Tx) dropIndexes(ctx context.Context, t *catalog.Table, how OnDependents, meant func(*catalog.Index) bool) error {
	for _, d := range t.Indexes {
		if !meant(d) {
			continue
		}
		for _, ref := range x.version.references(t.ID) {
			if !d.Unique || !isKeyOf(t, d, ref.key) {
				continue
			}
			if how != DropThem {
				e := sqltype.Errorf("2BP01", "cannot drop constraint \"%s\" of table \"%s\": constraint \"%s\" of table \"%s\" needs it",
					d.Name, t.Name, ref.key.Name, ref.child.def.Name)
				e.Hint = "CASCADE drops that constraint too"
				return e
			}
			if _, err := x.DropConstraint(ctx, ref.child.def, ref.key.Name, how); err != nil {
				return err
			}
		}
		if _, err := x.alter(ctx, t, func(_ *version, e *entry, def *catalog.Table) error {
			def.Indexes = slices.DeleteFunc(def.Indexes, func(o *catalog.Index) bool { return o.ID == d.ID })
			x.tx.Log(unindexed{x, indexed{e.data, d.ID}})
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// isKeyOf reports the index that a foreign key's parent columns are.
func isKeyOf(parent *catalog.Table, d *catalog.Index, k *catalog.ForeignKey) bool {
	return len(d.Keys) == len(k.ParentColumns) && !slices.ContainsFunc(d.Keys, func(key catalog.IndexKey) bool {
		return !slices.Contains(k.ParentColumns, parent.Columns[key.Column].ID)
	})
}

func hasConstraint(t *catalog.Table, constraint string) bool {
	return slices.ContainsFunc(t.Checks, func(k catalog.Check) bool { return strings.EqualFold(k.Name, constraint) }) ||
		slices.ContainsFunc(t.Foreign, func(k *catalog.ForeignKey) bool { return strings.EqualFold(k.Name, constraint) }) ||
		slices.ContainsFunc(t.Indexes, func(d *catalog.Index) bool { return strings.EqualFold(d.Name, constraint) })
}

func errConstraintExists(t *catalog.Table, constraint string) error {
	return sqltype.Errorf(sqltype.CodeDuplicateObject, "constraint \"%s\" of relation \"%s\" already exists", constraint, t.Name)
}
