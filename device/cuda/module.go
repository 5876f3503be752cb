package cuda

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"github.com/gpusql/gpusql/device"
)

// modules are what was loaded: of each entry, at its first launch, the part of its
// module that it needs. The driver compiles PTX then, some 100 ms for most and two
// seconds for the interpreter of expressions, and keeps the outcome on disk: the
// next process that loads the same text on the same driver waits 0.1 ms.
type modules struct {
	mu     sync.Mutex
	loaded map[entry]*module

	making sync.Mutex
	made   map[string]*device.Code // by key; nil: nobody could make it
}

// madeMost is how many codes of expressions are kept: each takes some 30 KB.
const madeMost = 4096

// Made is code of expressions; see device.Maker.
func (d *Device) Made(key string, items int, instead *device.Code, make func() *device.Code) *device.Code {
	m := &d.code
	m.making.Lock()
	defer m.making.Unlock()
	c, ok := m.made[key]
	if ok || items < d.madeItems && !(d.madeSoon && m.lacks(instead)) || len(m.made) >= madeMost {
		return c
	}
	c = make()
	m.made[key] = c
	return c
}

// lacks reports code that has not been loaded.
func (m *modules) lacks(c *device.Code) bool {
	if c == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.loaded[entry{c.Module, c.Entry}] == nil
}

// entry names an entry of a module.
type entry struct {
	module *device.Module
	name   string
}

type module struct {
	handle   uintptr
	function uintptr
	shared   int // bytes of shared memory that the function may have
	took     time.Duration
}

// Load says how long the driver took for an entry.
type Load struct {
	Module, Entry string
	Took          time.Duration
}

// Loads are the entries loaded so far.
func (d *Device) Loads() []Load {
	d.code.mu.Lock()
	defer d.code.mu.Unlock()
	var all []Load
	for e, l := range d.code.loaded {
		all = append(all, Load{e.module.Name, e.name, l.took})
	}
	return all
}

// function is an entry's handle; it is loaded when it has not been. The context
// is entered.
func (d *Device) function(c *device.Code) (uintptr, error) {
	d.code.mu.Lock()
	defer d.code.mu.Unlock()
	key := entry{c.Module, c.Entry}
	m := d.code.loaded[key]
	if m == nil {
		var err error
		if m, err = d.compile(c); err != nil {
			return 0, err
		}
		d.code.loaded[key] = m
	}
	if c.Shared > d.shared {
		return 0, fmt.Errorf("module %s, entry %s: %d bytes of shared memory a block are more than the %d that %s has",
			c.Module.Name, c.Entry, c.Shared, d.shared, d.info.Name)
	}
	if c.Shared > m.shared {
		if r := d.drv.call(fnFuncSetAttribute, m.function, attrFuncShared, uintptr(c.Shared)); r != success {
			return 0, d.failed(fnFuncSetAttribute, r)
		}
		m.shared = c.Shared
	}
	return m.function, nil
}

// compile loads an entry.
func (d *Device) compile(c *device.Code) (*module, error) {
	start := time.Now()
	h, err := d.load(c.Module.Name, cut(c.Module.PTX, c.Entry))
	if err != nil {
		return nil, err
	}
	m := &module{handle: h, shared: sharedUnasked}
	name := append([]byte(c.Entry), 0)
	r := d.drv.ask(fnModuleGetFunction, uintptr(unsafe.Pointer(&m.function)), h, uintptr(unsafe.Pointer(&name[0])))
	if r != success {
		err = fmt.Errorf("module %s, entry %s: %w", c.Module.Name, c.Entry, d.failed(fnModuleGetFunction, r))
		d.drv.call(fnModuleUnload, h)
		return nil, err
	}
	m.took = time.Since(start)
	return m, nil
}

const (
	sharedUnasked  = 48 << 10 // shared memory that a block may have without asking
	attrFuncShared = 8

	jitErrorLog     = 5 // CU_JIT_ERROR_LOG_BUFFER
	jitErrorLogSize = 6
)

// load gives PTX to the driver. What its compiler says stands in the error.
func (d *Device) load(name, text string) (uintptr, error) {
	ptx := append([]byte(text), 0)
	log := make([]byte, 4096)
	var pin runtime.Pinner // the driver finds the log through values, which Go does not see
	pin.Pin(&log[0])
	defer pin.Unpin()
	options := []uint32{jitErrorLog, jitErrorLogSize}
	values := []uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
	var h uintptr
	r := d.drv.ask(fnModuleLoadDataEx, uintptr(unsafe.Pointer(&h)), uintptr(unsafe.Pointer(&ptx[0])), uintptr(len(options)),
		uintptr(unsafe.Pointer(&options[0])), uintptr(unsafe.Pointer(&values[0])))
	if r == success {
		return h, nil
	}
	err := fmt.Errorf("module %s does not load: %w", name, d.failed(fnModuleLoadDataEx, r))
	if said, _, _ := bytes.Cut(log, []byte{0}); len(said) > 0 {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(said))
	}
	return 0, err
}

func (m *modules) free(drv *driver) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.loaded {
		drv.call(fnModuleUnload, l.handle)
	}
	clear(m.loaded)
}
