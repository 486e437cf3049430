package stack

import (
	"bytes"
	"testing"
)

// caught returns the stack of a panic in f.
func caught(f func()) (stack []byte) {
	defer func() {
		_ = recover()
		stack = Panic()
	}()
	f()
	return nil
}

//go:noinline
func panics(depth int) {
	if depth > 0 {
		panics(depth - 1)
	}
	panic("on purpose")
}

// The stack has the function that panicked. That of a deep recursion is cut, and
// ends with the number of missing frames.
func TestPanic(t *testing.T) {
	for want, depth := range map[string]int{"internal/stack.panics(...)\n": 0, "more frames\n": 1000} {
		if got := caught(func() { panics(depth) }); bytes.Count(got, []byte(want)) != 1 {
			t.Errorf("want %q once in\n%s", want, got)
		}
	}
}
