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

	"github.com/windlass-go/windlass/internal/patience"
)

// Goroutines inherit the labels of the one that starts them. So those that a check has started can be told from all others that
// run in a test, however many tests run beside it.

const label = "checkstest"

var labels atomic.Int64

// herd is the goroutines that calls with a context have started.
type herd struct {
	ctx    context.Context
	mark   string // how a profile shows the label
	before int    // how many goroutines there were at all
}

func newHerd() *herd {
	value := strconv.FormatInt(labels.Add(1), 10)
	ctx := pprof.WithLabels(context.Background(), pprof.Labels(label, value))
	return &herd{ctx, `"` + label + `":"` + value + `"`, runtime.NumGoroutine()}
}

// grown tells whether it is worth looking for what is left: a look stops the world, and the one that was watched may be about to
// end. What goes unnoticed here, since others ended meanwhile, is found by the look at the end of all.
func (h *herd) grown() bool { return runtime.NumGoroutine() > h.before+1 }

// left gives the stack of one that does not end within a time; empty: there is none.
func (h *herd) left(within time.Duration) (stack string) {
	patience.Until(within, func() bool {
		stack = h.running()
		return stack == ""
	})
	return stack
}

// running gives the stack of one, as it is now.
func (h *herd) running() (stack string) {
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
