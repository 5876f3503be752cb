package gpusql

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/cuda"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/mirror"
)

// devices are a database's processors: the CPU, in whose memory tables lie, and
// the GPUs, each opened when a session asks for it first.
type devices struct {
	cpu     device.Device
	library string // the driver's; "": the system's
	compile int    // see WithCompileRows
	limit   int64  // of each GPU's memory in use; 0: what it has

	mu   sync.Mutex
	gpus map[int]*gpu
	none error // why there is no GPU for those who leave the choice to us
}

// gpu is one that was opened: its memory is counted for the database as a whole,
// and has copies of tables' columns.
type gpu struct {
	*cuda.Device
	memory  *device.Scope
	mirror  *mirror.Mirror
	indexes *device.Scope // of indexes that name it
	spilt   *device.Scope // host memory that queries have because memory has no room
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
	dev, err := cuda.Open(cuda.Options{Library: d.library, Ordinal: ordinal, MemoryLimit: d.limit, MadeItems: d.compile})
	if err != nil {
		return nil, noDevice(err)
	}
	if err := probe(dev); err != nil {
		return nil, noDevice(errors.Join(err, dev.Close()))
	}
	memory := device.NewScope(dev, device.ScopeOptions{Name: "database", Tier: "GPU memory of " + dev.Name(),
		Limit: d.limit, Setting: "gpu_memory_limit"})
	g := &gpu{dev, memory, mirror.New(device.NewScope(memory, device.ScopeOptions{Name: "resident columns"})),
		device.NewScope(memory, device.ScopeOptions{Name: "indexes"}),
		device.NewScope(dev.Spare(), device.ScopeOptions{Name: "database", Tier: "pinned host memory for " + dev.Name()})}
	if d.gpus == nil {
		d.gpus = map[int]*gpu{}
	}
	d.gpus[ordinal] = g
	return g, nil
}

// any is a GPU for a query whose session leaves the choice to us. Where there is
// none it is looked for once.
func (d *devices) any() (*gpu, error) {
	d.mu.Lock()
	none := d.none
	d.mu.Unlock()
	if none != nil {
		return nil, none
	}
	g, err := d.open("cuda")
	if err != nil {
		d.mu.Lock()
		d.none = err
		d.mu.Unlock()
	}
	return g, err
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
		g.mirror.Close()
		g.memory.Close()
		g.spilt.Close()
		errs = append(errs, g.Close())
	}
	d.gpus = nil
	return errors.Join(append(errs, d.cpu.Close())...)
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
			if n := g.spilt.Used(); n > 0 {
				about += ", " + device.FormatBytes(n) + " spilt to pinned host memory"
			}
			if err := g.Lost(); err != nil {
				state, about = "lost", err.Error()
			}
		}
		rows = append(rows, textValues(info.Name, "gpu", state, device.FormatBytes(info.Memory), used, limit(d.limit), info.Driver, about))
	}
	return c.valueRows(texts("name", "kind", "state", "memory", "memory_used", "memory_limit", "driver", "about"), rows)
}

// showResident lists the columns of tables that lie in memory of GPUs, and what
// found no room there.
func (c *Conn) showResident() (*Rows, error) {
	d := c.db.devices
	schema := append(texts("device", "table", "segments", "column"), sqltype.Column{Name: "rows", Type: sqltype.Int64},
		sqltype.Column{Name: "bytes", Type: sqltype.Int64}, sqltype.Column{Name: "last_use", Type: sqltype.Timestamp},
		sqltype.Column{Name: "pinned", Type: sqltype.Bool})
	d.mu.Lock()
	gpus := slices.SortedFunc(maps.Values(d.gpus), func(a, b *gpu) int { return strings.Compare(a.Name(), b.Name()) })
	d.mu.Unlock()
	var rows [][]Value
	for _, g := range gpus {
		for _, r := range g.mirror.Residents() {
			segments := strconv.Itoa(int(r.First))
			if r.Last != r.First {
				segments += "-" + strconv.Itoa(int(r.Last))
			}
			rows = append(rows, append(textValues(g.Name(), r.Table, segments, r.Column), sqltype.NewInt64(int64(r.Rows)),
				sqltype.NewInt64(r.Bytes), sqltype.Datum{Type: sqltype.Timestamp, I: r.Used.UnixMicro()}, sqltype.NewBool(r.Pinned)))
		}
		if n := g.spilt.Used(); n > 0 { // of queries under way, in pinned memory of the host
			rows = append(rows, append(textValues(g.Name(), "spilt to host memory", "", ""), sqltype.Datum{Null: true, Type: sqltype.Int64},
				sqltype.NewInt64(n), sqltype.Datum{Type: sqltype.Timestamp, I: time.Now().UnixMicro()}, sqltype.NewBool(true)))
		}
	}
	return c.valueRows(schema, rows)
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
	return fmt.Sprintf(", %d kernels loaded in %v", len(loads), took.Round(100*time.Microsecond))
}
