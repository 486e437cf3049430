// Package stack prints the stack of a panic.
package stack

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
)

// frames is the maximum number of printed frames, as in debug.Stack.
const frames = 100

// Panic prints the stack of a panic in the format of debug.Stack. Only a
// deferred function that has just recovered the panic may call it.
//
// Code that watches links must recover a panic to see it, and then panics again
// with the same value. Each repeated panic adds its own frames on top of the
// frames of the first panic. debug.Stack leaves out the middle of a long stack,
// so it would soon lose the function that panicked. Panic leaves out the frames
// of repeated panics, so that the stack begins at the first one.
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

// repanics reports whether function panics again with a value that it has
// recovered.
func repanics(function string) bool {
	return strings.HasPrefix(function, "github.com/windlass-go/windlass/internal/run.Call[...].func")
}
