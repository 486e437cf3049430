package checkstest

import (
	"bytes"
	"context"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/windlass-go/windlass/internal/testing/patience"
)

// A goroutine inherits the labels of the goroutine that starts it. So the label
// identifies the goroutines that a check started.

const label = "checkstest"

var labels atomic.Int64

// goroutines are the goroutines that calls with a context have started.
type goroutines struct {
	ctx    context.Context
	mark   string // the label as a profile shows it
	before int    // the number of all goroutines before
}

func newGoroutines() *goroutines {
	value := strconv.FormatInt(labels.Add(1), 10)
	ctx := pprof.WithLabels(context.Background(), pprof.Labels(label, value))
	return &goroutines{ctx, `"` + label + `":"` + value + `"`, runtime.NumGoroutine()}
}

// grown reports whether there are more goroutines than before. A search stops
// the world, so it needs a reason. The watched goroutine may be about to end.
// The last search finds goroutines that grown missed because others ended.
func (h *goroutines) grown() bool { return runtime.NumGoroutine() > h.before+1 }

// left returns the stack of a goroutine that does not end in time, or "" if
// there is none.
func (h *goroutines) left(within time.Duration) (stack string) {
	patience.Until(within, func() bool {
		stack = h.running()
		return stack == ""
	})
	return stack
}

// running returns the current stack of one of the goroutines, or "" if none
// runs.
func (h *goroutines) running() (stack string) {
	var all bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		return ""
	}
	for group := range strings.SplitSeq(all.String(), "\n\n") {
		if _, rest, ok := strings.Cut(group, "# labels: {"); ok && strings.Contains(rest[:max(0, strings.IndexByte(rest, '\n'))], h.mark) {
			_, stack, _ = strings.Cut(rest, "\n")
			return stack
		}
	}
	return ""
}
