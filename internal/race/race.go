//go:build race

// Package race tells tests whether they run under the race detector, which allocates and is slow.
package race

// Enabled is whether the race detector is on.
const Enabled = true
