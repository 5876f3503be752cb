package simt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// ErrNoCompiler: there is no C++ compiler to build the emulator with.
var ErrNoCompiler = errors.New("simt: no C++ compiler (set CXX, or install g++)")

// Build returns the path of the emulator's library, which it builds in the
// user's cache when that of these sources is not there. It looks for the
// sources from the working directory upwards.
//
// With GPUSQL_SIMT_RACES in the environment it is one that looks for races, and
// is some ten times slower.
func Build() (string, error) {
	var checks []string
	if os.Getenv("GPUSQL_SIMT_RACES") != "" {
		checks = append(checks, checkRaces)
	}
	return build(checks, "*.cu")
}

// checkRaces has every access of a kernel call the scheduler.
const checkRaces = "-fsanitize=thread"

// build is Build for kernels in files of some pattern, compiled with more checks.
func build(checks []string, kernels string) (string, error) {
	cxx, err := compiler()
	if err != nil {
		return "", err
	}
	dir, err := sourceDir()
	if err != nil {
		return "", err
	}
	b := &library{cxx: cxx, dir: dir, checks: checks, flags: []string{"-std=c++17", "-O1", "-g", "-fPIC", "-fvisibility=hidden",
		"-fno-exceptions", "-fno-strict-aliasing", "-Wall", "-Wno-unused-function", "-Wno-unknown-pragmas",
		// What a GPU traps on, or C++ leaves open, traps.
		"-fsanitize=alignment,bounds,shift,integer-divide-by-zero,null,unreachable", "-fsanitize-undefined-trap-on-error"}}
	if err := b.scan(kernels, "*.cuh", "simt/host/*"); err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	b.cache = filepath.Join(cache, "gpusql-simt")
	if err := os.MkdirAll(b.cache, 0o755); err != nil {
		return "", err
	}
	return b.make()
}

// compiler is the C++ compiler's command.
func compiler() (string, error) {
	for _, name := range []string{os.Getenv("CXX"), "g++", "clang++-19", "clang++"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNoCompiler
}

// sourceDir is package kernels' directory.
func sourceDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(mod, []byte("module github.com/gpusql/gpusql\n")) {
			return filepath.Join(dir, "kernels"), nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("simt: the sources are not above the working directory")
		}
		dir = up
	}
}

// library is one making of the library.
type library struct {
	cxx, dir, cache string
	flags           []string
	checks          []string // more flags, for .cu files
	units           []string // files to compile
	headers         [32]byte // what all of them depend on
}

func (b *library) scan(patterns ...string) error {
	h := sha256.New()
	fmt.Fprintln(h, b.cxx, runtime.GOARCH, b.flags, b.checks)
	if v, err := exec.Command(b.cxx, "--version").Output(); err == nil {
		h.Write(v)
	}
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(b.dir, pattern))
		if err != nil {
			return err
		}
		for _, f := range files {
			if ext := filepath.Ext(f); ext == ".cu" || ext == ".cpp" {
				b.units = append(b.units, f)
				continue
			}
			text, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			fmt.Fprintln(h, filepath.Base(f), len(text))
			h.Write(text)
		}
	}
	copy(b.headers[:], h.Sum(nil))
	return nil
}

// make compiles what is not in the cache, and links.
func (b *library) make() (string, error) {
	objects := make([]string, len(b.units))
	all := sha256.New()
	for i, u := range b.units {
		text, err := os.ReadFile(u)
		if err != nil {
			return "", err
		}
		key := sha256.Sum256(append(text, b.headers[:]...))
		objects[i] = filepath.Join(b.cache, name(u)+"-"+hex.EncodeToString(key[:8])+".o")
		all.Write(key[:])
	}
	lib := filepath.Join(b.cache, "libsimt-"+hex.EncodeToString(all.Sum(nil)[:8])+".so")
	if exists(lib) {
		return lib, nil
	}
	unlock, err := lock(filepath.Join(b.cache, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if exists(lib) {
		return lib, nil
	}
	if err := b.compileAll(objects); err != nil {
		return "", err
	}
	args := append([]string{"-shared", "-o"}, "")
	args = append(args, objects...)
	if err := b.run(lib, 2, append(args, "-lpthread")); err != nil {
		return "", err
	}
	b.clean()
	return lib, nil
}

func name(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (b *library) compileAll(objects []string) error {
	errs := make([]error, len(objects))
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i, o := range objects {
		if exists(o) {
			continue
		}
		wg.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			args := append([]string{"-x", "c++"}, b.flags...)
			if filepath.Ext(b.units[i]) == ".cu" {
				args = append(args, b.checks...)
			}
			args = append(args, "-c", b.units[i], "-o", "")
			errs[i] = b.run(o, len(args)-1, args)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// run runs the compiler, whose argument at is the output. That gets its name
// when it is complete.
func (b *library) run(out string, at int, args []string) error {
	args[at] = out + ".new"
	text, err := exec.Command(b.cxx, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("simt: %s: %w\n%s", strings.Join(args, " "), err, text)
	}
	return os.Rename(out+".new", out)
}

// clean removes what nobody has made or linked for a week.
func (b *library) clean() {
	entries, _ := os.ReadDir(b.cache)
	for _, e := range entries {
		if i, err := e.Info(); err == nil && time.Since(i.ModTime()) > 7*24*time.Hour {
			_ = os.Remove(filepath.Join(b.cache, e.Name()))
		}
	}
}
