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

// The stack has the function that panicked, and a bounded number of frames.
func TestPanic(t *testing.T) {
	cases := map[string]struct {
		reason string
		depth  int
		want   string
		count  int
	}{
		"Shallow": {"the function that panicked is in the stack", 0, "internal/stack.panics(...)\n", 1},
		"Deep":    {"the stack of a deep recursion is cut, and ends with the number of missing frames", 1000, "more frames\n", 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := caught(func() { panics(tc.depth) })
			if n := bytes.Count(got, []byte(tc.want)); n != tc.count {
				t.Errorf("%s: want %q %d times, got it %d times in\n%s", tc.reason, tc.want, tc.count, n, got)
			}
		})
	}
}
