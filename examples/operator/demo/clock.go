package main

import (
	"sync/atomic"
	"time"
)

// clock is the clock of the cloud. The story holds it while a slow machine could
// otherwise change the order of the lines. The zero clock shows the time.
type clock struct {
	read atomic.Pointer[func() time.Time]
}

func (c *clock) now() time.Time {
	if read := c.read.Load(); read != nil {
		return (*read)()
	}
	return time.Now()
}

// hold stops the clock at a time.
func (c *clock) hold(at time.Time) {
	held := func() time.Time { return at }
	c.read.Store(&held)
}

// release lets a stopped clock run on.
func (c *clock) release() {
	late := time.Since(c.now())
	runs := func() time.Time { return time.Now().Add(-late) }
	c.read.Store(&runs)
}
