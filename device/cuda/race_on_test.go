//go:build race

package cuda

// raceDetector: pools drop at random, so that allocations cannot be counted.
const raceDetector = true
