package checkstest

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/windlass-go/windlass/internal/testing/patience"
)

// ending is the way in which a watched function ended.
type ending struct {
	how   end
	value any    // the value of a panic
	stack []byte // the stack of a panic
}

type end uint8

const (
	returned end = iota
	panicked
	exited // runtime.Goexit
	late   // it did not end in time
)

// fault returns the ending as a sentence, or "" if the function returned.
func (e ending) fault(within time.Duration) string {
	switch e.how {
	case panicked:
		return fmt.Sprintf("it panics: %v", e.value)
	case exited:
		return "it ends its goroutine (runtime.Goexit, as t.FailNow does)"
	case late:
		return fmt.Sprintf("it does not return within %s", within)
	}
	return ""
}

// watch runs functions that may not return.
type watch struct {
	within time.Duration
	steps  atomic.Int64
}

// step begins a step. The time-out is for each step.
func (w *watch) step() { w.steps.Add(1) }

// do runs a function of one or more steps in a new goroutine, and waits for it.
// A late function continues to run.
func (w *watch) do(run func()) ending {
	done, e := make(chan struct{}), ending{how: exited}
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				e = ending{panicked, p, debug.Stack()}
			}
		}()
		run()
		e = ending{how: returned}
	}()
	if !patience.Wait(done, w.within, &w.steps) {
		return ending{how: late}
	}
	return e
}
