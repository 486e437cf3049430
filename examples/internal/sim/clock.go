package sim

import (
	"fmt"
	"time"
)

// Clock is virtual time. It stands still until an [Engine] sets it, so a run that spans hours takes as long as its work
// does. The zero Clock is at the start.
type Clock struct{ elapsed time.Duration }

// Start is any day; that it is always the same keeps runs the same.
var Start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// Now is what time.Now would be.
func (c *Clock) Now() time.Time { return Start.Add(c.elapsed) }

// Elapsed is the time since Start.
func (c *Clock) Elapsed() time.Duration { return c.elapsed }

// Stamp prints a time of the run as 1:02, or as 1:02:03 from an hour on.
func Stamp(d time.Duration) string {
	s := int(d / time.Second)
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
