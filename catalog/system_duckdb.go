package catalog

import (
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// duckTables are what DuckDB has functions for, as duckdb_tables(): without the
// numbers that stand for names there.
func duckTables() []systemTable {
	return []systemTable{
		{"duckdb_databases", "database_name internal? type readonly?", func(s *systemRows) { s.add(Database, false, "gpusql", false) }},
		{"duckdb_schemas", "database_name schema_name internal?", func(s *systemRows) {
			for _, name := range s.contents.Schemas {
				s.add(Database, name, name == "main")
			}
			for _, name := range []string{"information_schema", "pg_catalog"} {
				s.add(Database, name, true)
			}
		}},
		{"duckdb_tables", "database_name schema_name table_name internal? temporary? has_primary_key? column_count# index_count# check_constraint_count# comment", func(s *systemRows) {
			for _, t := range s.contents.Tables {
				primary := false
				for _, x := range t.Indexes {
					primary = primary || x.Primary
				}
				s.add(Database, t.Schema, t.Name, false, t.Temp, primary, len(t.Columns), len(t.Indexes), len(t.Checks), orNil(t.Comment))
			}
		}},
		{"duckdb_columns", "database_name schema_name table_name column_name column_index# internal? column_default is_nullable? data_type numeric_precision# numeric_scale# comment", func(s *systemRows) {
			for _, t := range s.contents.Tables {
				for i, c := range t.Columns {
					var precision, scale any
					if c.Type.Precision > 0 {
						precision, scale = int(c.Type.Precision), int(c.Type.Scale)
					}
					s.add(Database, t.Schema, t.Name, c.Name, i+1, false, orNil(c.Default), !c.NotNull, c.Type.String(), precision, scale, orNil(c.Comment))
				}
			}
		}},
		{"duckdb_views", "database_name schema_name view_name internal? temporary? sql comment", func(s *systemRows) {
			for _, v := range s.contents.Views {
				s.add(Database, v.Schema, v.Name, false, v.Temp, v.Text, orNil(v.Comment))
			}
		}},
		{"duckdb_indexes", "database_name schema_name table_name index_name is_unique? is_primary? expressions comment", func(s *systemRows) {
			for _, t := range s.contents.Tables {
				for _, x := range t.Indexes {
					keys := make([]string, len(x.Keys))
					for i, k := range x.Keys {
						keys[i] = t.Columns[k.Column].Name
					}
					s.add(Database, t.Schema, t.Name, x.Name, x.Unique, x.Primary, "["+strings.Join(keys, ", ")+"]", orNil(x.Comment))
				}
			}
		}},
		{"duckdb_constraints", "database_name schema_name table_name constraint_name constraint_type constraint_column_names", func(s *systemRows) {
			s.contents.constraints(func(k constraint) {
				s.add(Database, k.table.Schema, k.table.Name, k.name, k.kind, "["+strings.Join(k.columns, ", ")+"]")
			})
		}},
		{"duckdb_types", "database_name schema_name type_name logical_type", func(s *systemRows) {
			for _, t := range s.contents.Types {
				s.add(Database, t.Schema, t.Name, t.Type.String())
			}
		}},
		{"duckdb_sequences", "database_name schema_name sequence_name temporary? start_value# min_value# max_value# increment_by# cycle?", func(s *systemRows) {
			for _, q := range s.contents.Sequences {
				s.add(Database, q.Schema, q.Name, q.Temp, q.Start, q.Min, q.Max, q.Increment, q.Cycle)
			}
		}},
	}
}

// TableInfo is what PRAGMA table_info says of a table's columns.
func TableInfo(t *Table) (sqltype.Schema, [][]sqltype.Datum) {
	return infoTable.of(&Contents{Tables: []*Table{t}})
}

// infoTable is PRAGMA table_info, of the only table of the contents.
var infoTable = systemTable{"pragma_table_info", "cid# name type notnull? dflt_value pk?", func(s *systemRows) {
	t := s.contents.Tables[0]
	for i, c := range t.Columns {
		primary := false
		for _, x := range t.Indexes {
			for _, k := range x.Keys {
				primary = primary || x.Primary && k.Column == i
			}
		}
		s.add(i, c.Name, c.Type.String(), c.NotNull, orNil(c.Default), primary)
	}
}}
