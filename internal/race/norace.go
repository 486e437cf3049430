//go:build !race

// Package race tells tests whether they run under the race detector.
package race

// Enabled is whether the race detector is on.
const Enabled = false
