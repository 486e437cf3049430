package main

import (
	"sync"
	"time"
)

// clock is the clock of the cloud. The story holds it while a slow machine could
// otherwise change the order of the lines. The zero clock shows the time.
type clock struct {
	mu    sync.Mutex
	stood time.Duration // in all
	held  time.Time     // zero: it runs
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.held.IsZero() {
		return c.held
	}
	return time.Now().Add(-c.stood)
}

// hold stops the clock.
func (c *clock) hold() {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = now
}

// forward moves the stopped clock.
func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = c.held.Add(d)
}

// release lets the clock run on.
func (c *clock) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stood, c.held = time.Since(c.held), time.Time{}
}
