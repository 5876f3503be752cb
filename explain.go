package gpusql

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/exec"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// explain is EXPLAIN [ANALYZE]: the plan as rows of text.
func (c *Conn) explain(ctx context.Context, s *parser.Explain, text string, args []Value) (*Rows, error) {
	target := s.Statement
	if create, ok := target.(*parser.CreateTable); ok && create.As != nil && !s.Analyze {
		target = create.As
	}
	if !isPlanned(target) {
		return nil, sqltype.Errorf(sqltype.CodeNotSupported, "only queries and data changes have plans")
	}
	p := &prepared{parsed: parser.Parsed{Statement: target, Params: len(args)}, text: text, files: files{resolve: c.db.resolve}}
	o := planner.ExplainOptions{
		Reader: c.reader(),
	}
	if s.Analyze {
		var stats exec.Stats
		start := time.Now()
		rows, err := c.runPlanned(ctx, p, args, &stats)
		if err == nil {
			err = rows.drain()
		}
		if err != nil {
			return nil, err
		}
		o.Header = append(explainHeader(rows.placed, rows.version), "time: "+timeSplit(text, time.Since(start), &stats))
		if t := &stats.Device; t.Launches.Load() > 0 {
			o.Header = append(o.Header, traffic(t))
		}
		o.Actual = map[planner.Node]planner.NodeStats{}
		gather(&stats, p.plan.Root, o.Actual)
	} else {
		header, err := c.headerOf(ctx, p, o.Reader, args)
		if err != nil {
			return nil, err
		}
		o.Header = header
	}
	plan := planner.Explain(p.plan, o)
	var rows [][]Value
	for _, line := range strings.Split(strings.TrimRight(plan, "\n"), "\n") {
		rows = append(rows, []Value{sqltype.NewString(line)})
	}
	return c.valueRows(sqltype.Schema{{Name: "plan", Type: sqltype.Varchar, NotNull: true}}, rows)
}

// timeSplit says where the time of a statement went. The text, which has been parsed
// to come here, is parsed once more to see how long that takes.
func timeSplit(text string, took time.Duration, stats *exec.Stats) string {
	start := time.Now()
	parser.Parse(text) //nolint:errcheck // it was parsed before
	parse := time.Since(start)
	micros := func(d time.Duration) time.Duration { return d.Round(time.Microsecond) }
	parts := fmt.Sprintf("%s (parse %s, plan %s", micros(took+parse), micros(parse), micros(stats.Plan))
	rest := took - stats.Plan
	if t := &stats.Device; t.Launches.Load() > 0 {
		copies, kernels := time.Duration(t.Uploads.Time.Load()), time.Duration(t.Waiting.Load())
		rest -= copies + kernels
		parts += fmt.Sprintf(", copy %s, kernels %s", micros(copies), micros(kernels))
	}
	return parts + fmt.Sprintf(", host %s)", micros(max(rest, 0)))
}

// traffic says what a GPU was given. The time of kernels is that of waiting for
// them: what ran while the host did something else is not in it.
func traffic(t *device.Traffic) string {
	text := fmt.Sprintf("gpu: %d launches, %d uploads of %d bytes, %d downloads of %d bytes", t.Launches.Load(),
		t.Uploads.Count.Load(), t.Uploads.Bytes.Load(), t.Downloads.Count.Load(), t.Downloads.Bytes.Load())
	if n := t.Spilt.Load(); n > 0 {
		text += fmt.Sprintf(", %d bytes spilt to host memory", n)
	}
	return text
}

// headerOf says where a statement would run, and why there, and what it would see.
func (c *Conn) headerOf(ctx context.Context, p *prepared, r catalog.Reader, args []Value) ([]string, error) {
	params, err := c.planWith(ctx, p, r, args)
	if err != nil {
		return nil, err
	}
	e := c.newExecution(p.text)
	placed, err := c.place(p.plan, e.env(params))
	if err != nil {
		return nil, e.end(err)
	}
	header := explainHeader(placed, e.statement.Version())
	return header, e.end(nil)
}

func explainHeader(placed placement, version uint64) []string {
	return []string{"device: " + placed.String(), fmt.Sprintf("snapshot: version %d", version)}
}

// gather collects what the nodes of a plan did when it ran.
func gather(stats *exec.Stats, n planner.Node, into map[planner.Node]planner.NodeStats) {
	s := stats.Node(n)
	into[n] = planner.NodeStats{Rows: s.Rows.Load(), Time: s.Elapsed(), Bytes: s.Bytes.Load(), Spilled: s.Spilled.Load()}
	for _, in := range n.Inputs() {
		gather(stats, in, into)
	}
}
