package main

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// scan times queries that read a Parquet file whole, one column and all of them.
func (c *config) scan(ctx context.Context) error {
	paths, err := tpchSuite(1).parquet(c.scale)
	if err != nil {
		return err
	}
	var engines []*engine
	for _, e := range c.engines {
		if e.name != "sqlite" { // it reads no Parquet
			engines = append(engines, e)
		}
	}
	c.engines = engines
	dbs := make([]*sql.DB, len(engines))
	for i, e := range engines {
		if dbs[i], err = sql.Open(e.driver, e.dsn); err != nil {
			return err
		}
		defer dbs[i].Close()
		dbs[i].SetMaxOpenConns(1)
	}
	stop, err := c.startProfile()
	if err != nil {
		return err
	}
	defer stop()
	for i, q := range []struct{ name, text string }{
		{"one integer column", "SELECT sum(l_partkey) FROM '%s'"},
		{"four decimal columns", "SELECT sum(l_quantity), sum(l_extendedprice), sum(l_discount), sum(l_tax) FROM '%s'"},
		{"one text column", "SELECT max(l_comment), min(l_comment) FROM '%s'"},
		{"all columns", "SELECT max(l_orderkey), max(l_partkey), max(l_suppkey), max(l_linenumber), max(l_quantity), " +
			"max(l_extendedprice), max(l_discount), max(l_tax), max(l_returnflag), max(l_linestatus), max(l_shipdate), " +
			"max(l_commitdate), max(l_receiptdate), max(l_shipinstruct), max(l_shipmode), max(l_comment) FROM '%s'"},
	} {
		if len(c.only) > 0 && !slices.Contains(c.only, strconv.Itoa(i+1)) {
			continue
		}
		times, err := c.compare(ctx, dbs, fmt.Sprintf(q.text, paths["lineitem"][0]), query)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		line := fmt.Sprintf("%-22s", q.name)
		for i, t := range times {
			line += fmt.Sprintf("  %s %s", engines[i].name, t.Round(time.Millisecond))
		}
		for i := 1; i < len(times); i++ {
			line += fmt.Sprintf("  rate/%s %.2f", engines[i].name, times[i].Seconds()/times[0].Seconds())
		}
		fmt.Println(line)
	}
	return nil
}
