package errtree_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/errtree"
	"github.com/windlass-go/windlass/internal/testing/race"
)

type text string

func (t text) Error() string { return string(t) }

type wrap struct{ err error }

func (wrap) Error() string   { return "wrap" }
func (w wrap) Unwrap() error { return w.err }

type join []error

func (join) Error() string     { return "join" }
func (j join) Unwrap() []error { return j }

// self unwraps to itself.
type self struct{}

func (*self) Error() string   { return "self" }
func (s *self) Unwrap() error { return s }

// panicking panics when it is unwrapped.
type panicking struct{}

func (panicking) Error() string { return "panicking" }
func (panicking) Unwrap() error { panic("no cause") }

// Walk visits outer errors first, and reports what it could not read.
func TestWalk(t *testing.T) {
	type result struct {
		Visits            []string
		Stopped, Readable bool
	}
	cases := map[string]struct {
		reason string
		err    error
		want   result
	}{
		"Nil":       {"no error is visited", nil, result{Readable: true}},
		"Wrapped":   {"an outer error is visited before its inner error", wrap{wrap{text("a")}}, result{[]string{"wrap 0", "wrap 0", "a 0"}, false, true}},
		"Joined":    {"branch is the number of joins around an error that is directly inside a join", join{text("a"), wrap{join{text("b"), nil, wrap{text("c")}}}, text("d")}, result{[]string{"join 0", "a 1", "wrap 1", "join 0", "b 2", "wrap 2", "c 0", "d 1"}, false, true}},
		"Stopped":   {"no error is visited after visit returned true", join{wrap{join{text("a"), text("stop"), text("b")}}, panicking{}}, result{[]string{"join 0", "wrap 1", "join 0", "a 2", "stop 2"}, true, true}},
		"Panic":     {"the value of a panic is not an inner error", join{&chain.PanicError{Value: text("stop")}, text("a")}, result{[]string{"join 0", "panic: stop 1", "a 1"}, false, true}},
		"Deadline":  {"a deadline error has one inner error", &chain.DeadlineError{Link: "x", Err: context.DeadlineExceeded}, result{[]string{"link x was not done within 0s 0", "context deadline exceeded 0"}, false, true}},
		"Panicking": {"a method that panics ends the walk", join{text("a"), panicking{}, text("stop")}, result{[]string{"join 0", "a 1", "panicking 1"}, false, false}},
		"Visit":     {"a visit that panics ends the walk", join{text("panic"), text("stop")}, result{[]string{"join 0"}, false, false}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got result
			got.Stopped, got.Readable = errtree.Walk(tc.err, func(err error, branch int) bool {
				if err == text("panic") {
					panic(err)
				}
				got.Visits = append(got.Visits, fmt.Sprint(err, " ", branch))
				return err == text("stop")
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// Walk visits at most Max errors.
func TestWalkIsBounded(t *testing.T) {
	shared := error(text("a"))
	for range 40 {
		shared = join{shared, shared}
	}
	cases := map[string]struct {
		reason   string
		err      error
		visits   int
		readable bool
	}{
		"Max":    {"a tree of Max errors is read", slices.Repeat(join{text("a")}, errtree.Max-1), errtree.Max, true},
		"Over":   {"a tree of more errors is unreadable", slices.Repeat(join{text("a")}, errtree.Max), errtree.Max, false},
		"Self":   {"the tree of an error that unwraps to itself is unreadable", &self{}, errtree.Max, false},
		"Shared": {"a tree of 2^40 errors is visited up to Max", shared, errtree.Max, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			visits := 0
			stopped, readable := errtree.Walk(tc.err, func(error, int) bool { visits++; return false })
			if visits != tc.visits || stopped || readable != tc.readable {
				t.Errorf("%s: got %d visits, stopped %t, readable %t", tc.reason, visits, stopped, readable)
			}
		})
	}
}

// Any finds an error inside another one, if the tree is readable before it.
func TestAny(t *testing.T) {
	target := errors.New("x")
	match := func(err error) bool { return err == target }
	for name, tc := range map[string]struct {
		reason string
		err    error
		want   bool
	}{
		"Inside": {"the error is wrapped and joined", wrap{join{text("a"), fmt.Errorf("b: %w", target)}}, true},
		"Absent": {"another error is inside", wrap{text("a")}, false},
		"Before": {"a match before an unreadable error counts", join{target, panicking{}}, true},
		"After":  {"a match after an unreadable error does not count", join{&self{}, target}, false},
		"Nil":    {"no error has no match", nil, false},
	} {
		if got := errtree.Any(tc.err, match); got != tc.want {
			t.Errorf("%s: %s: got %t", name, tc.reason, got)
		}
	}
}

// A walk allocates nothing itself.
func TestWalkDoesNotAllocate(t *testing.T) {
	if race.Enabled {
		t.Skip("allocations are not exact under the race detector")
	}
	err := error(wrap{join{text("a"), wrap{text("b")}}})
	n := 0
	if got := testing.AllocsPerRun(100, func() {
		errtree.Walk(err, func(error, int) bool { n++; return false })
		errtree.Any(err, func(error) bool { n++; return false })
	}); got > 2 { // the interface values of the two calls of join's Unwrap
		t.Errorf("got %v allocations", got)
	}
}
