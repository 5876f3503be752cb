// Gen makes what lies between the kernels' Go and CUDA halves. go generate runs
// it in package kernels:
//
//	*.go  ── types marked //gpu:layout ──▶ layout.cuh   structs, constants, static_asserts
//	*.cu  ── clang-19 ──▶ *.ptx                         committed, embedded
//	*.cu  ── KERNEL(...) ──▶ modules.go                 a device.Code for each kernel
//
// Its output depends on its input and on clang's version alone: CI runs it and
// compares.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// generate works in the current directory, that of package kernels.
func generate() error {
	header, err := layout(".")
	if err != nil {
		return err
	}
	if err := replace("layout.cuh", header); err != nil {
		return err
	}
	sources, err := filepath.Glob("*.cu")
	if err != nil {
		return err
	}
	modules, err := compile(sources)
	if err != nil {
		return err
	}
	return replace("modules.go", goModules(modules))
}

// replace writes a file unless that is its content, so that builds that look at
// times have nothing to do.
func replace(path string, content []byte) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == string(content) {
		return nil
	}
	return os.WriteFile(path, content, 0o644)
}
