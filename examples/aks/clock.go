package main

import (
	"fmt"
	"time"
)

// Clock is virtual time. It stands still until it is set, so a run that spans hours takes as long as its work does.
type Clock struct{ elapsed time.Duration }

// start is any day; that it is always the same keeps runs the same.
var start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// Now is what time.Now would be.
func (c *Clock) Now() time.Time { return start.Add(c.elapsed) }

// stamp prints a time of the run as 1:02, or as 1:02:03 from an hour on.
func stamp(d time.Duration) string {
	s := int(d / time.Second)
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
