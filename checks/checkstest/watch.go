package checkstest

import (
	"context"
	"fmt"
	"runtime/debug"
	"runtime/pprof"
	"sync/atomic"
	"time"
)

// ending is how something ended that was not trusted to end.
type ending struct {
	how   end
	value any    // of a panic
	stack []byte // of a panic
}

type end uint8

const (
	returned end = iota
	panicked
	exited // runtime.Goexit
	late   // not at all
)

// fault says how it ended, in words that follow a name; "" if it returned.
func (e ending) fault(within time.Duration) string {
	switch e.how {
	case panicked:
		return fmt.Sprintf("it panics: %v", e.value)
	case exited:
		return "it ends its goroutine (runtime.Goexit, as t.FailNow does)"
	case late:
		return fmt.Sprintf("it does not answer within %s", within)
	}
	return ""
}

// watch watches something that may not end, or not return.
type watch struct {
	within time.Duration
	began  atomic.Int64 // when the step under way began, counted from start
	start  time.Time
}

// step begins a step, which has its own time.
func (w *watch) step() { w.began.Store(int64(time.Since(w.start))) }

// do runs something of one or more steps in a goroutine of its own, with the labels of ctx, and waits for it. If it is late it
// is still running.
func (w *watch) do(ctx context.Context, run func()) ending {
	w.start = time.Now()
	w.step()
	done := make(chan ending, 1)
	go func() {
		pprof.SetGoroutineLabels(ctx)
		e := ending{how: exited}
		defer func() {
			if p := recover(); p != nil {
				e = ending{panicked, p, debug.Stack()}
			}
			done <- e
		}()
		run()
		e = ending{how: returned}
	}()
	timer := time.NewTimer(w.within)
	defer timer.Stop()
	for {
		select {
		case e := <-done:
			return e
		case <-timer.C:
			left := w.within - (time.Since(w.start) - time.Duration(w.began.Load()))
			if left <= 0 {
				return ending{how: late}
			}
			timer.Reset(left)
		}
	}
}
