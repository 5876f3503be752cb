package metamorphic

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Type is a family of values that all engines treat alike.
type Type uint8

// The types. Int is 64-bit, Real holds quarters (sums of them are exact).
const (
	Int Type = iota
	Text
	Bool
	Real
	Dec
	Date
	Stamp
	List // of Ints
	numTypes
)

var typeNames = [numTypes]string{"BIGINT", "VARCHAR", "BOOLEAN", "DOUBLE", "DECIMAL(10,2)", "DATE", "TIMESTAMP", "BIGINT[]"}

// Features are what the engines under comparison share.
type Features struct {
	Types      []Type
	Rows       bool // row values, quantified comparisons
	Full       bool // FULL and RIGHT joins
	SetAll     bool // INTERSECT ALL and EXCEPT ALL, nested set operations
	Rollup     bool // GROUPING SETS
	Windows    bool
	Recursive  bool
	Extended   bool // LATERAL, DISTINCT ON, QUALIFY, VALUES with names
	Functions  bool // those of PostgreSQL beyond the usual
	Savepoints bool
	Steady     bool // the subqueries of an UPDATE do not see what it has changed
	Big        bool // some tables of thousands of rows
	Small      bool // a few rows and shallow queries: many cases a second
}

// Everything is all that the generator knows.
func Everything() Features {
	return Features{Types: []Type{Int, Text, Bool, Real, Dec, Date, Stamp, List}, Rows: true, Full: true, SetAll: true, Rollup: true,
		Windows: true, Recursive: true, Extended: true, Functions: true, Savepoints: true, Steady: true, Big: true}
}

// Column is a column of a generated table.
type Column struct {
	Name    string
	Type    Type
	NotNull bool
}

// Table is a generated table: its rows are literals. Or it is a view.
type Table struct {
	Name    string
	Columns []Column
	Rows    [][]string
	Key     bool     // the first column is the primary key
	Indexes []string // what stands after the table's name
	View    *Query
}

// Database is what queries are asked of.
type Database struct {
	Tables []*Table
	Big    bool // tables of thousands of rows, joined by their first columns
}

// NewDatabase makes one to four small tables with NULLs, duplicates and skew,
// or one or two of some thousands of rows.
func NewDatabase(r *rand.Rand, f Features) *Database {
	d := &Database{Big: f.Big && r.IntN(12) == 0}
	most := 4
	if d.Big {
		most = 2
	}
	for i := range 1 + r.IntN(most) {
		rows := []int{0, 1, 3, 8, 20, 40}[r.IntN(6)]
		switch {
		case d.Big:
			rows = []int{1025, 2500, 5000}[r.IntN(3)]
		case f.Small:
			rows = []int{0, 1, 3, 5, 8, 12}[r.IntN(6)]
		}
		d.Tables = append(d.Tables, newTable(r, f, fmt.Sprintf("t%d", i), rows))
	}
	for i := range r.IntN(3) {
		if d.Big || !f.Full {
			break
		}
		g := NewGenerator(r, d, f)
		g.single = f.Small // a view of a join is large, and of views of joins huge
		types := g.types(1 + r.IntN(3))
		v := derived(fmt.Sprintf("v%d", i), types)
		v.View = g.query(&scope{}, types, g.depth()-1, false)
		d.Tables = append(d.Tables, v)
	}
	return d
}

func newTable(r *rand.Rand, f Features, name string, rows int) *Table {
	t := &Table{Name: name, Key: r.IntN(3) == 0}
	for c := range 2 + r.IntN(4) {
		col := Column{Name: fmt.Sprintf("c%d", c), Type: f.Types[r.IntN(len(f.Types))], NotNull: r.IntN(4) == 0}
		if c == 0 {
			col.Type = Int
			col.NotNull = t.Key || col.NotNull
		}
		t.Columns = append(t.Columns, col)
	}
	nulls := make([]int, len(t.Columns))
	for c := range nulls {
		nulls[c] = []int{0, 20, 20, 60, 95}[r.IntN(5)]
	}
	for n := range rows {
		row := make([]string, len(t.Columns))
		for c, col := range t.Columns {
			switch {
			case c == 0 && t.Key:
				row[c] = fmt.Sprint(n*3 - 20)
			case !col.NotNull && r.IntN(100) < nulls[c]:
				row[c] = "NULL"
			case c == 0 && rows > 1000:
				row[c] = fmt.Sprint(r.IntN(rows))
			default:
				row[c] = literal(r, col.Type)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	for range r.IntN(3) {
		key := t.Columns[r.IntN(len(t.Columns))]
		list, lists := key.Name, key.Type == List
		if r.IntN(3) == 0 {
			if other := t.Columns[r.IntN(len(t.Columns))]; other.Name != list {
				list += ", " + other.Name
				lists = lists || other.Type == List
			}
		}
		if lists {
			continue // some have no indexes of lists
		}
		t.Indexes = append(t.Indexes, []string{"", " USING btree", " USING lsm", " USING mvcc"}[r.IntN(4)]+"("+list+")")
	}
	return t
}

// Statements make the database. Each is alone in its string.
func (d *Database) Statements() []string {
	var out []string
	for _, t := range d.Tables {
		if t.View != nil {
			out = append(out, "CREATE VIEW "+t.Name+" AS "+t.View.SQL())
			continue
		}
		var cols []string
		for i, c := range t.Columns {
			def := c.Name + " " + typeNames[c.Type]
			if t.Key && i == 0 {
				def += " PRIMARY KEY"
			} else if c.NotNull {
				def += " NOT NULL"
			}
			cols = append(cols, def)
		}
		out = append(out, fmt.Sprintf("CREATE TABLE %s(%s)", t.Name, strings.Join(cols, ", ")))
		var rows []string
		for _, r := range t.Rows {
			rows = append(rows, "("+strings.Join(r, ", ")+")")
		}
		for some := range slices.Chunk(rows, 500) {
			out = append(out, fmt.Sprintf("INSERT INTO %s VALUES %s", t.Name, strings.Join(some, ", ")))
		}
		for i, index := range t.Indexes {
			out = append(out, fmt.Sprintf("CREATE INDEX i%d_%s ON %s%s", i, t.Name, t.Name, index))
		}
	}
	return out
}

var words = []string{"", "a", "b", "ab", "abc", "B", "Abc", "zz", "a b", "a%b", "x_y", "longer than twelve bytes", "longer than twelve byteZ"}

// literal is a value of a type, most often one of a few.
func literal(r *rand.Rand, t Type) string {
	switch t {
	case Int:
		switch r.IntN(4) {
		case 0:
			return fmt.Sprint(r.IntN(2001) - 1000)
		case 1:
			return fmt.Sprint(r.IntN(41) - 20)
		}
		return fmt.Sprint(r.IntN(6) - 1)
	case Text:
		return "'" + words[r.IntN(len(words))] + "'"
	case Bool:
		return []string{"TRUE", "FALSE"}[r.IntN(2)]
	case Real:
		return fmt.Sprintf("(CAST(%d AS DOUBLE) / 4)", r.IntN(81)-40)
	case Dec:
		return fmt.Sprintf("CAST('%d.%02d' AS DECIMAL(10,2))", r.IntN(41)-20, r.IntN(4)*25)
	case Date:
		return fmt.Sprintf("DATE '20%02d-%02d-%02d'", r.IntN(4)+20, 1+r.IntN(12), 1+r.IntN(28))
	case Stamp:
		return fmt.Sprintf("TIMESTAMP '20%02d-%02d-%02d %02d:%02d:%02d'", r.IntN(4)+20, 1+r.IntN(12), 1+r.IntN(28), 6*r.IntN(4), 15*r.IntN(4), 30*r.IntN(2))
	case List:
		var items []string
		for range r.IntN(4) {
			items = append(items, []string{"NULL", "0", "1", "2", "9"}[r.IntN(5)])
		}
		return "CAST([" + strings.Join(items, ", ") + "] AS BIGINT[])"
	}
	panic(fmt.Sprintf("metamorphic: no literal of type %d", t))
}
