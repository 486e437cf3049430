package patience

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// End describes how a function ended. The zero End means that it returned.
type End struct {
	Late   bool // it did not end in time, and continues to run
	Exited bool // it ended its goroutine
	Panic  any  // the value of its panic; nil: none
	Stack  []byte
}

// Run calls do in a new goroutine and waits for its end as [Wait] does.
func Run(d time.Duration, restart *atomic.Int64, do func()) End {
	done, end := make(chan struct{}), End{Exited: true}
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				end = End{Panic: v, Stack: debug.Stack()}
			}
		}()
		do()
		end = End{}
	}()
	if !Wait(done, d, restart) {
		return End{Late: true}
	}
	return end
}

// Fault returns the end as a sentence, or "" if the function returned.
func (e End) Fault(within time.Duration) string {
	switch {
	case e.Late:
		return fmt.Sprintf("it does not return within %s", within)
	case e.Panic != nil:
		return fmt.Sprintf("it panics: %v", e.Panic)
	case e.Exited:
		return "it ends its goroutine (runtime.Goexit, as t.FailNow does)"
	}
	return ""
}
