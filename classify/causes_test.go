package classify

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
)

func TestCausesOf(t *testing.T) {
	a, b, c := errors.New("a"), errors.New("b"), errors.New("c")
	type result struct {
		Causes       []string
		Panicked, OK bool
	}
	cases := map[string]struct {
		reason string
		err    error
		want   result
	}{
		"nested":    {"a join inside a join is not a cause", joinOf{a, fmt.Errorf("x: %w", joinOf{b, joinOf{c}}), a}, result{[]string{"a", "b", "c", "a"}, false, true}},
		"empty":     {"a join of no errors is a cause", joinOf{joinOf{}, a, joinOf{nil}}, result{[]string{"joined", "a", "joined"}, false, true}},
		"panic":     {"the value of a panic is not split into causes", joinOf{&chain.PanicError{Value: joinOf{a, b}}, c}, result{[]string{"panic: joined", "c"}, true, true}},
		"deadline":  {"a deadline error is not split into causes", joinOf{&chain.DeadlineError{Link: "x", Err: b}, a}, result{[]string{"link x was not done within 0s: b", "a"}, false, true}},
		"unknown":   {"an error that cannot be read has no causes", joinOf{a, panicky{}, b}, result{}},
		"too large": {"an error that joins too many errors has no causes", joinOf{a, &loop{}, b}, result{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			causes, panicked, ok := causesOf(tc.err)
			got := result{nil, panicked, ok}
			for _, err := range causes {
				got.Causes = append(got.Causes, err.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
