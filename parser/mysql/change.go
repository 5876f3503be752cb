package mysql

import (
	"fmt"

	"github.com/xwb1989/sqlparser"

	"github.com/gpusql/gpusql/parser"
)

// insert converts INSERT, INSERT IGNORE, REPLACE and ON DUPLICATE KEY UPDATE.
func (c *converter) insert(s *sqlparser.Insert) *parser.Insert {
	if s.Partitions != nil {
		panic(refuse("PARTITION"))
	}
	out := &parser.Insert{Table: tableName(s.Table), Columns: columns(s.Columns),
		Replace: s.Action == sqlparser.ReplaceStr}
	switch rows := s.Rows.(type) {
	case sqlparser.Values:
		v := &parser.Values{}
		for _, row := range rows {
			if len(row) != len(rows[0]) {
				panic(refuse("VALUES lists of different lengths"))
			}
			v.Rows = append(v.Rows, c.values(sqlparser.Exprs(row)))
		}
		if len(rows[0]) == 0 { // VALUES (): every column has its default
			if len(rows) > 1 {
				panic(refuse("more than one empty row"))
			}
			break
		}
		out.Source = &parser.Query{Body: v}
	case sqlparser.SelectStatement:
		out.Source = c.query(rows)
	default:
		panic(fmt.Sprintf("mysql: no source for %T", rows))
	}
	switch {
	case s.Ignore != "":
		if s.OnDup != nil {
			panic(refuse("IGNORE with ON DUPLICATE KEY UPDATE"))
		}
		out.OnConflict = &parser.OnConflict{DoNothing: true}
	case s.OnDup != nil:
		out.OnConflict = &parser.OnConflict{Set: c.assignments(sqlparser.UpdateExprs(s.OnDup))}
	}
	return out
}

func (c *converter) assignments(list sqlparser.UpdateExprs) []parser.Assignment {
	var out []parser.Assignment
	for _, u := range list {
		// UPDATE and INSERT have one table here: its name says nothing.
		out = append(out, parser.Assignment{Column: ident(u.Name.Name.String()), Value: c.value(u.Expr)})
	}
	return out
}

// update converts UPDATE of one table.
func (c *converter) update(s *sqlparser.Update) *parser.Update {
	if s.OrderBy != nil || s.Limit != nil {
		panic(refuse("UPDATE with ORDER BY or LIMIT"))
	}
	ref := c.target(s.TableExprs, "UPDATE")
	return &parser.Update{Table: ref.Name, Alias: ref.Alias, Set: c.assignments(s.Exprs), Where: c.where(s.Where)}
}

// delete converts DELETE from one table.
func (c *converter) delete(s *sqlparser.Delete) *parser.Delete {
	switch {
	case s.OrderBy != nil || s.Limit != nil:
		panic(refuse("DELETE with ORDER BY or LIMIT"))
	case s.Targets != nil:
		panic(refuse("DELETE from several tables"))
	case s.Partitions != nil:
		panic(refuse("PARTITION"))
	}
	ref := c.target(s.TableExprs, "DELETE")
	return &parser.Delete{Table: ref.Name, Alias: ref.Alias, Where: c.where(s.Where)}
}

// target is the one table that a statement changes.
func (c *converter) target(list sqlparser.TableExprs, what string) *parser.TableRef {
	if len(list) == 1 {
		if ref, ok := c.table(list[0]).(*parser.TableRef); ok {
			return ref
		}
	}
	panic(refuse("%s of several tables", what))
}
