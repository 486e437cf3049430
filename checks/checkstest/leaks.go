package checkstest

import (
	"bytes"
	"context"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Goroutines inherit the labels of the one that starts them. So those that a check has started can be told from all others that
// run in a test, however many tests run beside it.

const label = "checkstest"

var labels atomic.Int64

// labelled gives a context with a label of its own.
func labelled(ctx context.Context) (labelledCtx context.Context, value string) {
	value = strconv.FormatInt(labels.Add(1), 10)
	return pprof.WithLabels(ctx, pprof.Labels(label, value)), value
}

// leaked gives the stack of a goroutine with a label that does not end within a time; empty: there is none.
func leaked(value string, within time.Duration) (stack string) {
	deadline := time.Now().Add(within)
	for pause := 50 * time.Microsecond; ; pause *= 2 {
		left := time.Until(deadline)
		if stack = running(value); stack == "" || left <= 0 {
			return stack
		}
		time.Sleep(min(pause, left))
	}
}

// running gives the stack of a goroutine with a label, as it is now.
func running(value string) (stack string) {
	var all bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		return ""
	}
	mark := `"` + label + `":"` + value + `"`
	for group := range strings.SplitSeq(all.String(), "\n\n") {
		if _, rest, ok := strings.Cut(group, "# labels: {"); ok && strings.Contains(rest[:max(0, strings.IndexByte(rest, '\n'))], mark) {
			_, stack, _ = strings.Cut(rest, "\n")
			return stack
		}
	}
	return ""
}
