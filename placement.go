package gpusql

import (
	"fmt"
	"time"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/exec"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// payingRows is how many rows a query reads from where a GPU pays: its launches
// take as long as a CPU's cores take for some hundred thousand rows.
const payingRows = 1 << 18

// placement is where a plan runs, and why there.
type placement struct {
	gpu     *gpu // nil: the CPU
	why     string
	rows    int64  // where why is empty: what decided, with payingRows
	warning string // a GPU was to be used, and is not
}

// String is for EXPLAIN.
func (p placement) String() string {
	name := "cpu"
	if p.gpu != nil {
		name = p.gpu.Name()
	}
	return name + " (" + p.reason() + ")"
}

func (p placement) reason() string {
	if p.why != "" {
		return p.why
	}
	return fmt.Sprintf("auto: %d rows are read, a GPU pays from %d", p.rows, payingRows)
}

// place decides where a plan runs by the session's settings: on a GPU if it can
// run there whole, and pays.
func (c *Conn) place(p *planner.Plan, env *exec.Env) (placement, error) {
	name := c.settings.device
	if !exec.Computes(p) {
		return placement{why: "it only changes a table, which lies there"}, nil
	}
	_, asked := deviceOrdinal(name)
	switch {
	case asked:
		return c.placeOn(name, p, env)
	case name == "cpu":
		return c.onCPU(placement{why: "asked for by SET device"})
	}
	rows, files := exec.RowsRead(env, p)
	if rows+files < payingRows {
		return c.onCPU(placement{rows: rows + files})
	}
	if files > rows {
		return c.onCPU(placement{why: fmt.Sprintf("auto: most rows, %d, are read from files, which takes the CPU longer than what is computed", files)})
	}
	g, err := c.db.devices.any()
	if err != nil {
		return c.onCPU(placement{why: "auto: " + firstLine(err)})
	}
	if err := g.Lost(); err != nil {
		return c.onCPU(warned("auto: " + firstLine(err)))
	}
	if err := exec.CheckDevice(env, p); err != nil {
		return c.onCPU(placement{why: "auto: " + firstLine(err)})
	}
	return placement{gpu: g, rows: rows}, nil
}

// placeOn is place for a GPU that was asked for.
func (c *Conn) placeOn(name string, p *planner.Plan, env *exec.Env) (placement, error) {
	g, err := c.db.devices.open(name)
	if err != nil {
		return placement{}, err
	}
	if err := g.Lost(); err != nil {
		return placement{}, lostDevice(err)
	}
	if err := exec.CheckDevice(env, p); err != nil {
		return c.onCPU(warned(firstLine(err)))
	}
	return placement{gpu: g, why: "asked for by SET device"}, nil
}

// onCPU is p, which is on the CPU, unless the session insists on a GPU.
func (c *Conn) onCPU(p placement) (placement, error) {
	if !c.settings.requireGPU {
		return p, nil
	}
	e := sqltype.Errorf(sqltype.CodeDevice, "require_gpu is on, and with device = %s the query runs on the CPU: %s", c.settings.device, p.reason())
	e.Hint = "SET device = 'cuda' has small queries run on the GPU too, SET require_gpu = off lets this one run on the CPU"
	return placement{}, e
}

// warned is the CPU where a GPU was to be used.
func warned(why string) placement {
	return placement{why: why, warning: "the query runs on the CPU: " + why}
}

// firstLine is an error for people who asked for something else.
func firstLine(err error) string {
	if e, ok := err.(*sqltype.Error); ok {
		return e.Msg
	}
	return err.Error()
}

// lostDevice is the error of a query whose GPU is gone.
func lostDevice(err error) error {
	e := sqltype.Errorf(sqltype.CodeDevice, "%v", err)
	e.Hint = "SET device = 'cpu', or 'auto', to go on without it"
	return &lostError{e, err}
}

// lostError is a *sqltype.Error that is still device.ErrLost.
type lostError struct {
	as    *sqltype.Error
	cause error
}

func (e *lostError) Error() string   { return e.as.Error() }
func (e *lostError) Unwrap() []error { return []error{e.as, e.cause} }

// env is what the plan of an execution may use: the host's memory and, where the
// plan is to run on a GPU, that besides.
func (e *execution) env(params []sqltype.Datum) *exec.Env {
	c := e.conn
	e.memory = device.NewScope(c.db.memory, device.ScopeOptions{Name: "query", Limit: c.settings.memoryLimit, Setting: "memory_limit"})
	return &exec.Env{
		Device: c.db.device, Memory: e.memory, Data: &data{e.statement, e.files},
		Params: params, Now: time.Now(), Version: e.statement.Version(), Zone: time.UTC,
		Workers: c.settings.threads, BatchRows: c.settings.morsel, HashZero: c.settings.hashZero,
		Stats: e.stats, Sequences: &sequences{c, e.tx}, Spill: e.spill(),
	}
}

// on is an environment on a GPU, with the host's beside it.
func (e *execution) on(g *gpu, host *exec.Env) *exec.Env {
	s := &e.conn.settings
	e.gpuMemory = device.NewScope(g.memory, device.ScopeOptions{Name: "query", Limit: s.gpuMemory, Setting: "gpu_memory_limit"})
	e.gpuSpilt = device.NewScope(g.spilt, device.ScopeOptions{Name: "query", Also: e.memory})
	memory := &device.Overflow{Memory: g.mirror.Over(e.gpuMemory), Next: e.gpuSpilt}
	if e.stats != nil {
		memory.Spilt = &e.stats.Device.Spilt
	}
	env := *host
	env.Device, env.Memory = g.Device, memory
	env.Workers, env.Stream = 0, nil
	env.Host, env.Mirror = host, g.mirror
	env.Spill = nil // files take what the host's memory has: Overflow is for this one's
	env.Canary = s.canary.run
	return &env
}

// canary is a kernel that is made to fail, to see that queries come to a GPU's
// kernels at all, and what they do when one fails.
type canary uint8

const (
	canaryNone canary = iota
	canaryFail        // it says so
	canaryLose        // it writes where nothing is, which ends the GPU's context
)

// String is for SHOW.
func (c canary) String() string {
	switch c {
	case canaryNone:
		return "none"
	case canaryFail:
		return "fail"
	case canaryLose:
		return "lose"
	default:
		panic(fmt.Sprintf("gpusql: no canary %d", uint8(c)))
	}
}

// run is what exec.Env has as Canary.
func (c canary) run(s device.Stream) error {
	switch c {
	case canaryNone:
		return nil
	case canaryFail:
		return device.Launch(s, kernels.ProbeFail, 1, kernels.ProbeArgs{Status: s.Status(), Code: device.StatusCanary})
	case canaryLose:
		return kernels.Fill(s, 64, 0, 64)
	default:
		panic(fmt.Sprintf("gpusql: no canary %d", uint8(c)))
	}
}
