package gpusql

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// reader is the catalogue as the session sees it now.
func (c *Conn) reader() catalog.Reader {
	if c.tx != nil {
		return c.tx.Reader()
	}
	return c.db.store.Reader(c.names)
}

// show is SHOW and DESCRIBE.
func (c *Conn) show(ctx context.Context, s *parser.Show) (*Rows, error) {
	switch s.What {
	case "TABLES":
		return c.showTables()
	case "INDEXES":
		return c.showIndexes(s)
	case "DEVICES":
		return c.showDevices()
	case "RESIDENT":
		return c.showResident()
	case "ALL", "SETTINGS":
		return c.showSettings()
	case "DESCRIBE", "COLUMNS":
		return c.describe(ctx, s)
	}
	name := s.What
	if len(s.Name.Parts) > 0 {
		_, name = split(s.Name)
	}
	f, err := findSetting(name)
	if err != nil && s.What == "SETTING" {
		if rows, found := c.describe(ctx, s); found == nil {
			return rows, nil
		}
	}
	if err != nil {
		return nil, positioned(err, s.Pos)
	}
	return c.valueRows(sqltype.Schema{{Name: f.name, Type: sqltype.Varchar, NotNull: true}},
		[][]Value{{sqltype.NewString(f.get(&c.settings))}})
}

// texts makes a schema of VARCHAR columns.
func texts(names ...string) sqltype.Schema {
	schema := make(sqltype.Schema, len(names))
	for i, n := range names {
		schema[i] = sqltype.Column{Name: n, Type: sqltype.Varchar}
	}
	return schema
}

func textValues(values ...string) []Value {
	row := make([]Value, len(values))
	for i, v := range values {
		row[i] = sqltype.NewString(v)
	}
	return row
}

func (c *Conn) showTables() (*Rows, error) {
	r := c.reader()
	schema := append(texts("name", "kind"), sqltype.Column{Name: "rows", Type: sqltype.Int64}, sqltype.Column{Name: "columns", Type: sqltype.Int64})
	var rows [][]Value
	for _, name := range r.Names() {
		if t, ok := r.Table("", name); ok {
			rows = append(rows, append(textValues(t.Name, "table"),
				sqltype.NewInt64(int64(r.Stats(t.ID).Rows)), sqltype.NewInt64(int64(len(t.Columns)))))
			continue
		}
		rows = append(rows, append(textValues(name, "view"), sqltype.NullOf(sqltype.Int64), sqltype.NullOf(sqltype.Int64)))
	}
	slices.SortFunc(rows, func(a, b []Value) int { return strings.Compare(a[0].S, b[0].S) })
	return c.valueRows(schema, rows)
}

func (c *Conn) showIndexes(s *parser.Show) (*Rows, error) {
	r := c.reader()
	names := r.Names()
	if len(s.Name.Parts) > 0 {
		t, err := findTable(r, s.Name)
		if err != nil {
			return nil, err
		}
		names = []string{t.Name}
	}
	slices.Sort(names)
	var rows [][]Value
	for _, name := range names {
		t, ok := r.Table("", name)
		if !ok {
			continue
		}
		for _, x := range t.Indexes {
			keys := make([]string, len(x.Keys))
			for i, k := range x.Keys {
				keys[i] = t.Columns[k.Column].Name
				if k.Desc {
					keys[i] += " DESC"
				}
			}
			kind := "index"
			if x.Unique {
				kind = "unique"
			}
			if x.Primary {
				kind = "primary key"
			}
			include := make([]string, len(x.Include))
			for i, k := range x.Include {
				include[i] = t.Columns[k].Name
			}
			rows = append(rows, textValues(t.Name, x.Name, kind, x.Kind, strings.Join(keys, ", "), strings.Join(include, ", "), cmp.Or(x.Device, c.db.device.Name())))
		}
	}
	return c.valueRows(texts("table", "name", "constraint", "kind", "columns", "include", "device"), rows)
}

func (c *Conn) showSettings() (*Rows, error) {
	var rows [][]Value
	for _, f := range settingList() {
		rows = append(rows, textValues(f.name, f.get(&c.settings), f.about))
	}
	return c.valueRows(texts("name", "value", "about"), rows)
}

// describe lists the columns of a table or view.
func (c *Conn) describe(ctx context.Context, s *parser.Show) (*Rows, error) {
	r := c.reader()
	var rows [][]Value
	columns := texts("column", "type", "null", "key", "default")
	if s.Query != nil {
		p, err := c.bind(ctx, r, s.Query)
		if err != nil {
			return nil, err
		}
		for _, col := range p.Columns {
			rows = append(rows, textValues(col.Name, col.Type.String(), "YES", "", ""))
		}
		return c.valueRows(columns, rows)
	}
	schema, name := split(s.Name)
	if v, ok := r.View(schema, name); ok {
		q, err := parser.Parse(v.Text)
		if err != nil {
			return nil, err
		}
		p, err := c.bind(ctx, r, q[0].Statement)
		if err != nil {
			return nil, err
		}
		for i, col := range p.Columns {
			if i < len(v.Columns) {
				col.Name = v.Columns[i]
			}
			rows = append(rows, textValues(col.Name, col.Type.String(), "YES", "", ""))
		}
	} else {
		t, err := findTable(r, s.Name)
		if err != nil {
			return nil, err
		}
		for i, col := range t.Columns {
			null := "YES"
			if col.NotNull {
				null = "NO"
			}
			rows = append(rows, textValues(col.Name, col.Type.String(), null, keyOf(t, i), col.Default))
		}
	}
	return c.valueRows(columns, rows)
}

// keyOf says in what kind of key a column stands first.
func keyOf(t *catalog.Table, column int) string {
	key := ""
	for _, x := range t.Indexes {
		switch {
		case x.Primary && slices.ContainsFunc(x.Keys, func(k catalog.IndexKey) bool { return k.Column == column }):
			return "primary"
		case x.Keys[0].Column != column:
		case x.Unique && len(x.Keys) == 1:
			key = "unique"
		case key == "":
			key = "index"
		}
	}
	return key
}
