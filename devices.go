package gpusql

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/cuda"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// devices are a database's processors: the CPU, in whose memory tables lie, and
// the GPUs, each opened when a session asks for it first.
type devices struct {
	cpu     device.Device
	library string // the driver's; "": the system's
	limit   int64  // of each GPU's memory in use; 0: what it has

	mu   sync.Mutex
	gpus map[int]*gpu
}

// gpu is one that was opened: its memory is counted for the database as a whole.
type gpu struct {
	*cuda.Device
	memory *device.Scope
}

// deviceOrdinal is which GPU a value of the setting names; none for the CPU.
func deviceOrdinal(name string) (ordinal int, isGPU bool) {
	if name == "cuda" {
		return 0, true
	}
	digits, found := strings.CutPrefix(name, "cuda:")
	n, err := strconv.Atoi(digits)
	return n, found && err == nil && n >= 0
}

// open is the GPU that a value of the setting device names, nil when that is
// none. A GPU is used when it has computed something small rightly.
func (d *devices) open(name string) (*gpu, error) {
	ordinal, ok := deviceOrdinal(name)
	if !ok {
		return nil, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.gpus[ordinal]; g != nil {
		return g, nil
	}
	dev, err := cuda.Open(cuda.Options{Library: d.library, Ordinal: ordinal, MemoryLimit: d.limit})
	if err != nil {
		return nil, noDevice(err)
	}
	if err := probe(dev); err != nil {
		return nil, noDevice(errors.Join(err, dev.Close()))
	}
	g := &gpu{dev, device.NewScope(dev, device.ScopeOptions{Name: "database", Tier: "GPU memory of " + dev.Name(),
		Limit: d.limit, Setting: "gpu_memory_limit"})}
	if d.gpus == nil {
		d.gpus = map[int]*gpu{}
	}
	d.gpus[ordinal] = g
	return g, nil
}

func probe(d device.Device) error {
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	return errors.Join(kernels.Probe(s), s.Close())
}

// noDevice is the error of who asks for a GPU that cannot be had.
func noDevice(cause error) error {
	e := sqltype.Errorf(sqltype.CodeDevice, "no CUDA device: %v", cause)
	e.Hint = "SHOW DEVICES lists what can be used"
	return e
}

// close ends the GPUs, and then the CPU. Queries have ended.
func (d *devices) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, g := range d.gpus {
		g.memory.Close()
		errs = append(errs, g.Close())
	}
	d.gpus = nil
	return errors.Join(append(errs, d.cpu.Close())...)
}

// place is where a query runs by the session's settings, and why there: the
// device, and what its memory is taken from.
func (d *devices) place(s *settings, memory *device.Scope) (device.Device, *device.Scope, error) {
	g, err := d.open(s.device)
	if err != nil {
		return nil, nil, err
	}
	if g != nil {
		return g.Device, g.memory, nil
	}
	if s.requireGPU {
		e := sqltype.Errorf(sqltype.CodeDevice, "require_gpu is on, and with device = %s the query runs on the CPU", s.device)
		e.Hint = "SET device = 'cuda', or SET require_gpu = off"
		return nil, nil, e
	}
	return d.cpu, memory, nil
}

// placement says where a statement runs, and why there, for EXPLAIN.
func (c *Conn) placement(s parser.Statement) string {
	name := c.settings.device
	_, isGPU := deviceOrdinal(name)
	_, isQuery := s.(*parser.Query)
	switch {
	case isGPU && isQuery:
		return name + " (asked for by SET device)"
	case isGPU:
		return "cpu (what changes tables runs where they lie)"
	case name == "cpu":
		return "cpu (asked for by SET device)"
	default:
		return "cpu (auto)"
	}
}

// showDevices lists what can compute, and why something cannot.
func (c *Conn) showDevices() (*Rows, error) {
	d := c.db.devices
	limit := func(n int64) string {
		if n == 0 {
			return "none"
		}
		return device.FormatBytes(n)
	}
	rows := [][]Value{textValues(d.cpu.Name(), "cpu", "ready", "", device.FormatBytes(c.db.memory.Used()),
		limit(c.db.settings.memoryLimit), "", traitsText(d.cpu.Traits()))}
	all, err := cuda.List(d.library)
	if err != nil {
		rows = append(rows, textValues("cuda", "gpu", "absent", "", "", "", "", err.Error()))
	}
	for i, info := range all {
		state, used, about := "ready", "", info.Model+", compute capability "+info.Compute
		if info.Reason != "" {
			state, about = "unusable", about+": "+info.Reason
		}
		if g := d.opened(i); g != nil {
			state, used = "open", device.FormatBytes(g.memory.Used())
			about += ", " + traitsText(g.Traits()) + loadsText(g.Loads())
			if err := g.Lost(); err != nil {
				state, about = "lost", err.Error()
			}
		}
		rows = append(rows, textValues(info.Name, "gpu", state, device.FormatBytes(info.Memory), used, limit(d.limit), info.Driver, about))
	}
	return c.valueRows(texts("name", "kind", "state", "memory", "memory_used", "memory_limit", "driver", "about"), rows)
}

// opened is a GPU that was opened, nil when it was not.
func (d *devices) opened(ordinal int) *gpu {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.gpus[ordinal]
}

func traitsText(t device.Traits) string {
	return fmt.Sprintf("%d streams, batches of %d rows", t.Streams, t.BatchRows)
}

// loadsText says what was compiled for a GPU in this process, and how long that took.
func loadsText(loads []cuda.Load) string {
	took := time.Duration(0)
	for _, l := range loads {
		took += l.Took
	}
	return fmt.Sprintf(", %d modules loaded in %v", len(loads), took.Round(100*time.Microsecond))
}
