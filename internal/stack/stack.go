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
// An observer recovers each panic, and then panics again with the same value.
// Each repeated panic adds its frames on top of the frames of the first panic.
// debug.Stack omits the middle of a long stack, and with it the function that
// panicked. Panic omits the frames of repeated panics, so that the stack starts
// at the first panic.
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

// repanics reports whether function repeats a panic that it recovered.
func repanics(function string) bool {
	return strings.HasPrefix(function, "github.com/windlass-go/windlass/internal/run.Call[...].func")
}
