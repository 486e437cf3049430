//go:build race

// Package race reports whether the race detector is on. The detector allocates,
// and is slow.
package race

// Enabled reports whether the race detector is on.
const Enabled = true
