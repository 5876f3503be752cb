package catalog

import (
	"slices"
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// System is a table of information_schema or pg_catalog: what tools ask for about
// the rest; of "duckdb", what a function of DuckDB gives. An empty schema finds
// pg_catalog's. Its rows are those of now.
func System(c *Contents, schema, name string) (sqltype.Schema, [][]sqltype.Datum, bool) {
	schema, name = strings.ToLower(schema), strings.ToLower(name)
	var list []systemTable
	switch schema {
	case "information_schema":
		list = informationTables()
	case "pg_catalog", "":
		list = pgTables()
	case "duckdb":
		list = duckTables()
	}
	i := slices.IndexFunc(list, func(t systemTable) bool { return t.name == name })
	if i < 0 {
		return nil, nil, false
	}
	columns, rows := list[i].of(c)
	return columns, rows, true
}

// of is the columns and rows of a table.
func (t *systemTable) of(c *Contents) (sqltype.Schema, [][]sqltype.Datum) {
	s := &systemRows{contents: c}
	for _, col := range strings.Fields(t.columns) {
		col, typ := col, sqltype.Varchar
		switch {
		case strings.HasSuffix(col, "#"):
			typ = sqltype.Int64
		case strings.HasSuffix(col, "?"):
			typ = sqltype.Bool
		}
		s.schema = append(s.schema, sqltype.Column{Name: strings.TrimRight(col, "#?"), Type: typ})
	}
	t.fill(s)
	return s.schema, s.rows
}

// systemTable is a table's name, its columns (those that end in # are BIGINT, in
// ? BOOLEAN, all others VARCHAR), and what adds its rows.
type systemTable struct {
	name, columns string
	fill          func(*systemRows)
}

type systemRows struct {
	contents *Contents
	schema   sqltype.Schema
	rows     [][]sqltype.Datum
}

// add adds a row of strings, integers, booleans and nil for NULL.
func (s *systemRows) add(values ...any) {
	row := make([]sqltype.Datum, len(s.schema))
	for i := range row {
		row[i] = sqltype.NullOf(s.schema[i].Type)
		if i >= len(values) {
			continue
		}
		switch v := values[i].(type) {
		case string:
			row[i] = sqltype.NewString(v)
		case int:
			row[i] = sqltype.NewInt64(int64(v))
		case int64:
			row[i] = sqltype.NewInt64(v)
		case bool:
			row[i] = sqltype.NewBool(v)
		}
	}
	s.rows = append(s.rows, row)
}

// Database is the name of the one database that there is.
const Database = "gpusql"

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func informationTables() []systemTable {
	return []systemTable{
		{"schemata", "catalog_name schema_name schema_owner", func(s *systemRows) {
			for _, name := range append([]string{"information_schema", "pg_catalog"}, s.contents.Schemas...) {
				s.add(Database, name, Database)
			}
		}},
		{"tables", "table_catalog table_schema table_name table_type is_insertable_into", func(s *systemRows) {
			for _, t := range s.contents.Tables {
				kind := "BASE TABLE"
				if t.Temp {
					kind = "LOCAL TEMPORARY"
				}
				s.add(Database, t.Schema, t.Name, kind, "YES")
			}
			for _, v := range s.contents.Views {
				s.add(Database, v.Schema, v.Name, "VIEW", "NO")
			}
		}},
		{"views", "table_catalog table_schema table_name view_definition is_updatable", func(s *systemRows) {
			for _, v := range s.contents.Views {
				s.add(Database, v.Schema, v.Name, v.Text, "NO")
			}
		}},
		{"columns", "table_catalog table_schema table_name column_name ordinal_position# column_default is_nullable data_type " +
			"character_maximum_length# numeric_precision# numeric_scale# udt_name is_identity identity_generation is_generated generation_expression is_updatable", informationColumns},
		{"table_constraints", "constraint_catalog constraint_schema constraint_name table_catalog table_schema table_name constraint_type is_deferrable initially_deferred", func(s *systemRows) {
			s.contents.constraints(func(k constraint) {
				s.add(Database, k.table.Schema, k.name, Database, k.table.Schema, k.table.Name, k.kind, "NO", "NO")
			})
		}},
		{"key_column_usage", "constraint_catalog constraint_schema constraint_name table_catalog table_schema table_name column_name ordinal_position# position_in_unique_constraint#", func(s *systemRows) {
			s.contents.constraints(func(k constraint) {
				for i, col := range k.columns {
					var place any
					if k.foreign != nil {
						place = i + 1
					}
					s.add(Database, k.table.Schema, k.name, Database, k.table.Schema, k.table.Name, col, i+1, place)
				}
			})
		}},
		{"referential_constraints", "constraint_catalog constraint_schema constraint_name unique_constraint_schema unique_constraint_table match_option update_rule delete_rule", func(s *systemRows) {
			s.contents.constraints(func(k constraint) {
				if k.foreign != nil {
					parent := s.contents.table(k.foreign.Parent)
					s.add(Database, k.table.Schema, k.name, parent.Schema, parent.Name, "NONE", k.foreign.OnUpdate.String(), k.foreign.OnDelete.String())
				}
			})
		}},
		{"check_constraints", "constraint_catalog constraint_schema constraint_name check_clause", func(s *systemRows) {
			for _, t := range s.contents.Tables {
				for _, k := range t.Checks {
					s.add(Database, t.Schema, k.Name, k.Text)
				}
			}
		}},
		{"sequences", "sequence_catalog sequence_schema sequence_name data_type start_value minimum_value maximum_value increment cycle_option", func(s *systemRows) {
			for _, q := range s.contents.Sequences {
				n := func(v int64) string { return sqltype.NewInt64(v).String() }
				s.add(Database, q.Schema, q.Name, pgName(q.Type), n(q.Start), n(q.Min), n(q.Max), n(q.Increment), yesNo(q.Cycle))
			}
		}},
		{"routines", "routine_catalog routine_schema routine_name routine_type data_type routine_definition external_language", func(s *systemRows) {
			for _, f := range s.contents.Functions {
				kind := "FUNCTION"
				if f.Macro {
					kind = "MACRO"
				}
				s.add(Database, f.Schema, f.Name, kind, pgName(f.Result), f.Body, "SQL")
			}
		}},
	}
}

func informationColumns(s *systemRows) {
	for _, t := range s.contents.Tables {
		for i, c := range t.Columns {
			var length, precision, scale, identity, generated any
			switch {
			case c.Type.Length > 0:
				length = int(c.Type.Length)
			case c.Type.Kind == sqltype.KindDecimal:
				precision, scale = int(c.Type.Precision), int(c.Type.Scale)
			case c.Type.Kind.IsInteger():
				precision, scale = 8*c.Type.Phys().Width(), 0
			}
			if c.Identity {
				if identity = "BY DEFAULT"; c.Always {
					identity = "ALWAYS"
				}
			}
			never := "NEVER"
			if c.Generated != "" {
				never, generated = "ALWAYS", c.Generated
			}
			kind := pgName(c.Type)
			if c.Type.Kind == sqltype.KindEnum {
				kind = "USER-DEFINED"
			}
			def := orNil(c.Default)
			if c.Identity {
				def = nil
			}
			s.add(Database, t.Schema, t.Name, c.Name, i+1, def, yesNo(!c.NotNull), kind,
				length, precision, scale, udtName(c.Type), yesNo(c.Identity), identity, never, generated, yesNo(c.Generated == ""))
		}
	}
}

// constraint is a key or CHECK of a table.
type constraint struct {
	table   *Table
	name    string
	kind    string // as information_schema has it
	columns []string
	foreign *ForeignKey
}

func (c *Contents) constraints(visit func(constraint)) {
	for _, t := range c.Tables {
		for _, x := range t.Indexes {
			if !x.Unique {
				continue
			}
			k := constraint{table: t, name: x.Name, kind: "UNIQUE"}
			if x.Primary {
				k.kind = "PRIMARY KEY"
			}
			for _, key := range x.Keys {
				k.columns = append(k.columns, t.Columns[key.Column].Name)
			}
			visit(k)
		}
		for _, f := range t.Foreign {
			k := constraint{table: t, name: f.Name, kind: "FOREIGN KEY", foreign: f}
			for _, id := range f.Columns {
				for i := range t.Columns {
					if t.Columns[i].ID == id {
						k.columns = append(k.columns, t.Columns[i].Name)
					}
				}
			}
			visit(k)
		}
		for _, check := range t.Checks {
			visit(constraint{table: t, name: check.Name, kind: "CHECK"})
		}
	}
}

func (c *Contents) table(id TableID) *Table {
	for _, t := range c.Tables {
		if t.ID == id {
			return t
		}
	}
	return &Table{}
}

// pgType is PostgreSQL's name, short name and number of a type.
func pgType(t sqltype.Type) (name, short string, oid int) {
	switch t.Kind {
	case sqltype.KindBool:
		return "boolean", "bool", 16
	case sqltype.KindBlob:
		return "bytea", "bytea", 17
	case sqltype.KindInt64:
		return "bigint", "int8", 20
	case sqltype.KindInt16:
		return "smallint", "int2", 21
	case sqltype.KindInt32:
		return "integer", "int4", 23
	case sqltype.KindFloat32:
		return "real", "float4", 700
	case sqltype.KindFloat64:
		return "double precision", "float8", 701
	case sqltype.KindVarchar:
		if t.Length == 0 {
			return "text", "text", 25
		}
		return "character varying", "varchar", 1043
	case sqltype.KindDate:
		return "date", "date", 1082
	case sqltype.KindTime:
		return "time without time zone", "time", 1083
	case sqltype.KindTimestamp:
		return "timestamp without time zone", "timestamp", 1114
	case sqltype.KindTimestampTZ:
		return "timestamp with time zone", "timestamptz", 1184
	case sqltype.KindInterval:
		return "interval", "interval", 1186
	case sqltype.KindDecimal:
		return "numeric", "numeric", 1700
	case sqltype.KindTimeTZ:
		return "time with time zone", "timetz", 1266
	case sqltype.KindBit:
		return "bit varying", "varbit", 1562
	case sqltype.KindUUID:
		return "uuid", "uuid", 2950
	case sqltype.KindJSON:
		return "json", "json", 114
	}
	name = strings.ToLower(t.String()) // one that PostgreSQL does not have
	return name, name, 100000 + int(t.Kind)
}

func pgName(t sqltype.Type) string {
	name, _, _ := pgType(t)
	return name
}

func udtName(t sqltype.Type) string {
	_, short, _ := pgType(t)
	return short
}
