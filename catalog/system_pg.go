package catalog

import (
	"slices"
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// firstOID is the number of the first schema; those of tables and indexes are
// their IDs, far above those of PostgreSQL's own.
const (
	firstOID  = 2200
	tableOIDs = 1 << 20
	indexOIDs = 1 << 24
)

func (c *Contents) schemaOID(schema string) int { return firstOID + slices.Index(c.Schemas, schema) }

func pgTables() []systemTable {
	return []systemTable{
		{"pg_namespace", "oid# nspname", func(s *systemRows) {
			s.add(11, "pg_catalog")
			for _, name := range s.contents.Schemas {
				s.add(s.contents.schemaOID(name), name)
			}
		}},
		{"pg_database", "oid# datname encoding#", func(s *systemRows) { s.add(1, Database, 6) }},
		{"pg_tables", "schemaname tablename tableowner hasindexes?", func(s *systemRows) {
			for _, t := range s.contents.Tables {
				s.add(t.Schema, t.Name, Database, len(t.Indexes) > 0)
			}
		}},
		{"pg_views", "schemaname viewname viewowner definition", func(s *systemRows) {
			for _, v := range s.contents.Views {
				s.add(v.Schema, v.Name, Database, v.Text)
			}
		}},
		{"pg_indexes", "schemaname tablename indexname indexdef", func(s *systemRows) {
			for _, t := range s.contents.Tables {
				for _, x := range t.Indexes {
					s.add(t.Schema, t.Name, x.Name, indexText(t, x))
				}
			}
		}},
		{"pg_sequences", "schemaname sequencename data_type start_value# min_value# max_value# increment_by# cycle?", func(s *systemRows) {
			for _, q := range s.contents.Sequences {
				s.add(q.Schema, q.Name, pgName(q.Type), q.Start, q.Min, q.Max, q.Increment, q.Cycle)
			}
		}},
		{"pg_class", "oid# relname relnamespace# relkind relnatts# relhasindex? relpersistence", pgClass},
		{"pg_attribute", "attrelid# attname atttypid# attnum# attnotnull? atthasdef? attidentity attgenerated attisdropped?", func(s *systemRows) {
			for _, t := range s.contents.Tables {
				for i, c := range t.Columns {
					identity, generated := "", ""
					if c.Identity {
						if identity = "d"; c.Always {
							identity = "a"
						}
					}
					if c.Generated != "" {
						generated = "s"
					}
					s.add(tableOIDs+int(t.ID), c.Name, s.typeOID(c.Type), i+1, c.NotNull, c.Default != "" || c.Generated != "", identity, generated, false)
				}
			}
		}},
		{"pg_index", "indexrelid# indrelid# indnatts# indisunique? indisprimary? indkey", func(s *systemRows) {
			for _, t := range s.contents.Tables {
				for _, x := range t.Indexes {
					var keys []string
					for _, k := range x.Keys {
						keys = append(keys, sqltype.NewInt64(int64(k.Column+1)).String())
					}
					s.add(indexOIDs+int(x.ID), tableOIDs+int(t.ID), len(x.Keys), x.Unique, x.Primary, strings.Join(keys, " "))
				}
			}
		}},
		{"pg_constraint", "conname connamespace# contype conrelid# confrelid#", func(s *systemRows) {
			letters := map[string]string{"PRIMARY KEY": "p", "UNIQUE": "u", "FOREIGN KEY": "f", "CHECK": "c"}
			s.contents.constraints(func(k constraint) {
				parent := 0
				if k.foreign != nil {
					parent = tableOIDs + int(k.foreign.Parent)
				}
				s.add(k.name, s.contents.schemaOID(k.table.Schema), letters[k.kind], tableOIDs+int(k.table.ID), parent)
			})
		}},
		{"pg_type", "oid# typname typnamespace# typtype", func(s *systemRows) {
			for k := sqltype.KindBool; k < sqltype.KindEnum; k++ {
				_, short, oid := pgType(sqltype.Type{Kind: k})
				s.add(oid, short, 11, "b")
			}
			for _, t := range s.contents.Types {
				if t.Type.Kind == sqltype.KindEnum {
					s.add(s.typeOID(t.Type), t.Name, s.contents.schemaOID(t.Schema), "e")
				}
			}
		}},
		{"pg_enum", "enumtypid# enumsortorder# enumlabel", func(s *systemRows) {
			for _, t := range s.contents.Types {
				if t.Type.Kind != sqltype.KindEnum {
					continue
				}
				for i, l := range t.Type.Enum.Labels() {
					s.add(s.typeOID(t.Type), i+1, l)
				}
			}
		}},
		{"pg_proc", "proname pronamespace# pronargs# prosrc", func(s *systemRows) {
			for _, f := range s.contents.Functions {
				s.add(f.Name, s.contents.schemaOID(f.Schema), len(f.Params), f.Body)
			}
		}},
	}
}

// typeOID is the number of a type, also of one that was created.
func (s *systemRows) typeOID(t sqltype.Type) int {
	if t.Kind == sqltype.KindEnum {
		return 200000 + slices.IndexFunc(s.contents.Types, func(u *UserType) bool { return u.Type == t })
	}
	_, _, oid := pgType(t)
	return oid
}

func pgClass(s *systemRows) {
	persistence := func(temp bool) string {
		if temp {
			return "t"
		}
		return "p"
	}
	for _, t := range s.contents.Tables {
		schema := s.contents.schemaOID(t.Schema)
		s.add(tableOIDs+int(t.ID), t.Name, schema, "r", len(t.Columns), len(t.Indexes) > 0, persistence(t.Temp))
		for _, x := range t.Indexes {
			s.add(indexOIDs+int(x.ID), x.Name, schema, "i", len(x.Keys), false, persistence(t.Temp))
		}
	}
	for i, v := range s.contents.Views {
		s.add(2*indexOIDs+i, v.Name, s.contents.schemaOID(v.Schema), "v", len(v.Columns), false, persistence(v.Temp))
	}
	for _, q := range s.contents.Sequences {
		s.add(3*indexOIDs+int(q.ID), q.Name, s.contents.schemaOID(q.Schema), "S", 3, false, persistence(q.Temp))
	}
}

// indexText is the CREATE INDEX that would make an index.
func indexText(t *Table, x *Index) string {
	var keys []string
	for _, k := range x.Keys {
		key := t.Columns[k.Column].Name
		if k.Desc {
			key += " DESC"
		}
		keys = append(keys, key)
	}
	unique := ""
	if x.Unique {
		unique = "UNIQUE "
	}
	with := ""
	if x.Device != "" {
		with = " WITH (device = '" + x.Device + "')"
	}
	return "CREATE " + unique + "INDEX " + x.Name + " ON " + t.Schema + "." + t.Name + " USING " + x.Kind + " (" + strings.Join(keys, ", ") + ")" + with
}
