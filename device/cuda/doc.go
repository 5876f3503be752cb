// Package cuda is NVIDIA GPUs as devices, through the driver's library alone: no
// cgo, no toolkit.
package cuda
