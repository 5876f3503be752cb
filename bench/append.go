package main

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/gpusql/gpusql"
)

// append times the Appender: Arrow records into a table of this engine.
func (c *config) append(ctx context.Context) error {
	const rows = 65536
	for _, s := range []struct {
		name, ddl string
		fields    []arrow.Field
	}{
		{"two integers", "a BIGINT, b INTEGER", fieldsOf(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32)},
		{"integer, double, date, text", "a BIGINT, b DOUBLE, c DATE, d VARCHAR",
			fieldsOf(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Date32, arrow.BinaryTypes.String)},
	} {
		rec := records(arrow.NewSchema(s.fields, nil), rows)
		n := int(c.rows) / rows
		var wall, cores time.Duration // the least of the runs
		for range c.runs {
			used := processorTime()
			took, err := appendOnce(ctx, s.ddl, rec, n)
			if err != nil {
				return err
			}
			used = processorTime() - used
			if wall == 0 || took < wall {
				wall = took
			}
			if cores == 0 || used < cores {
				cores = used
			}
		}
		rec.Release()
		millions := float64(n*rows) / 1e6
		fmt.Printf("%-30s %d rows in %s: %.1f million a second, %.1f million a second of a core\n",
			s.name, n*rows, wall.Round(time.Millisecond), millions/wall.Seconds(), millions/cores.Seconds())
	}
	return nil
}

func appendOnce(ctx context.Context, ddl string, rec arrow.RecordBatch, n int) (time.Duration, error) {
	db, err := gpusql.Open(":memory:")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if _, err := conn.Exec(ctx, "CREATE TABLE t ("+ddl+")"); err != nil {
		return 0, err
	}
	start := time.Now()
	a, err := conn.Appender("t")
	if err != nil {
		return 0, err
	}
	defer a.Close()
	for range n {
		if err := a.AppendRecord(rec); err != nil {
			return 0, err
		}
	}
	got, err := a.Flush(ctx)
	if err == nil && got != int64(n)*rec.NumRows() {
		err = fmt.Errorf("%d rows of %d", got, int64(n)*rec.NumRows())
	}
	return time.Since(start), err
}

func fieldsOf(types ...arrow.DataType) (out []arrow.Field) {
	for i, t := range types {
		out = append(out, arrow.Field{Name: string(rune('a' + i)), Type: t, Nullable: true})
	}
	return out
}

// records is a record of values that differ.
func records(s *arrow.Schema, n int) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for i := range n {
		for _, f := range b.Fields() {
			switch f := f.(type) {
			case *array.Int64Builder:
				f.Append(int64(i) * 7919)
			case *array.Int32Builder:
				f.Append(int32(i % 1000))
			case *array.Float64Builder:
				f.Append(float64(i) / 3)
			case *array.Date32Builder:
				f.Append(arrow.Date32(i % 10000))
			case *array.StringBuilder:
				f.Append(fmt.Sprint("customer number ", i))
			}
		}
	}
	return b.NewRecordBatch()
}
