//go:build race

// Package race reports whether the race detector is on. The detector allocates
// and is slow, so tests of costs skip themselves.
package race

// Enabled reports whether the race detector is on.
const Enabled = true

// On is Enabled, except that bin/mutate sets Enabled so that tests of costs skip
// themselves. Slow tests of a rule skip themselves by On.
const On = true
