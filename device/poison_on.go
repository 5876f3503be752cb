//go:build invariants

package device

// poison: released memory is overwritten.
const poison = true
