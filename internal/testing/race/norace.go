//go:build !race

// Package race reports whether the race detector is on.
package race

// Enabled reports whether the race detector is on.
const Enabled = false

// On is Enabled, except that bin/mutate sets Enabled so that tests of costs skip
// themselves. Slow tests of a rule skip themselves by On.
const On = false
