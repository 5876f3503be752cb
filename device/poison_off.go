//go:build !invariants

package device

const poison = false
