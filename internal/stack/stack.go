// Package stack prints where a panic came from.
package stack

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
)

// frames is how many frames are printed, as many as debug.Stack does.
const frames = 100

// Panic prints the stack of a panic in the manner of debug.Stack. It is for deferred functions that have recovered it.
//
// Whoever watches links has to recover a panic to see it, and panics again with the same value. Each time puts its own
// frames on top of those of the first panic; debug.Stack, which leaves out the middle of a long stack, would soon lose
// the function that panicked. Here the frames of repanics are left out, so that the stack begins where it should.
func Panic() []byte {
	pcs := make([]uintptr, 256)
	n := runtime.Callers(2, pcs)
	for n == len(pcs) && n < 1<<14 {
		pcs = make([]uintptr, 2*n)
		n = runtime.Callers(2, pcs)
	}
	var b bytes.Buffer
	printed, panicking := 0, false
	for all := runtime.CallersFrames(pcs[:n]); ; {
		f, more := all.Next()
		if panicking && repanics(f.Function) {
			b.Reset()
			printed = 0
		} else if printed++; printed <= frames {
			fmt.Fprintf(&b, "%s(...)\n\t%s:%d\n", f.Function, f.File, f.Line)
		}
		panicking = f.Function == "runtime.gopanic"
		if !more {
			break
		}
	}
	if printed > frames {
		fmt.Fprintf(&b, "...%d more frames\n", printed-frames)
	}
	return b.Bytes()
}

// repanics tells the functions of the library that panic again: deferred closures of package chain.
func repanics(function string) bool {
	rest, ok := strings.CutPrefix(function, "github.com/windlass-go/windlass/chain.")
	return ok && (strings.HasPrefix(rest, "watch[...].func") || strings.HasPrefix(rest, "finally[...].func"))
}
