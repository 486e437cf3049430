package checks_test

import (
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

func TestPaused(t *testing.T) {
	const text = "paused by a person: nothing is done until that is taken back"
	cases := map[string]struct {
		reason string
		d      *Database
		opts   []checks.Option
		want   answer
	}{
		"Not":     {"nobody said stop", &Database{}, nil, passes()},
		"Paused":  {"somebody did, and has to take it back", &Database{Paused: true}, nil, blocks("Paused", classify.OnChange, text)},
		"Options": {"reason and wait can be replaced", &Database{Paused: true}, []checks.Option{checks.Reason("OnHold"), checks.Retry(classify.Slow)}, blocks("OnHold", classify.Slow, text)},
		"Nil":     {"where nobody can have said it, nobody did", nil, nil, passes()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mustAnswer(t, tc.reason, tc.want, checks.Paused(func(d *Database) bool { return d.Paused }, tc.opts...), &checks.Request[*Database]{Resource: tc.d})
		})
	}
}

func TestPausedSetUp(t *testing.T) {
	mustPanic(t, map[string]setUp{
		"Nil":   {"a function is needed", func() { checks.Paused[*Database](nil) }, "checks: Paused: the function is nil"},
		"Exact": {"there is no state to compare", func() { checks.Paused(func(*Database) bool { return false }, checks.Exact()) }, "checks: Paused: the option Exact is not for this check"},
	})
}
