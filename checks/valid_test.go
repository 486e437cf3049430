package checks_test

import (
	"errors"
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

func TestValid(t *testing.T) {
	rule := func(d *Database) error {
		if d.Version == 0 {
			return errors.New("the version is missing")
		}
		return nil
	}
	cases := map[string]struct {
		reason string
		rule   func(*Database) error
		d      *Database
		opts   []checks.Option
		want   answer
	}{
		"Valid":   {"a spec that keeps the rule lets the work go on", rule, &Database{Version: 1}, nil, passes()},
		"Invalid": {"only a change of the spec helps against one that does not", rule, &Database{}, nil, blocks("SpecInvalid", classify.OnChange, "the version is missing")},
		"Options": {"reason and wait can be replaced", rule, &Database{}, []checks.Option{checks.WithReason("NoVersion"), checks.WithRetry(classify.VerySlow)}, blocks("NoVersion", classify.VerySlow, "the version is missing")},
		"NoText":  {"an error that says nothing blocks all the same", func(*Database) error { return errors.New("") }, nil, nil, blocks("SpecInvalid", classify.OnChange, "SpecInvalid")},
		"Panic":   {"a rule is no selector: a nil pointer in it is a fault, and lets nothing through", rule, nil, nil, fails("panic in link Valid: runtime error: invalid memory address or nil pointer dereference")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mustAnswer(t, tc.reason, tc.want, checks.Valid(tc.rule, tc.opts...), &checks.Request[*Database]{Resource: tc.d})
		})
	}
}

func TestValidSetUp(t *testing.T) {
	mustPanic(t, map[string]setUp{
		"Nil":     {"a rule is needed", func() { checks.Valid[*Database](nil) }, "checks: Valid: the function is nil"},
		"AtLeast": {"there is nothing to count", func() { checks.Valid(func(*Database) error { return nil }, checks.WithMinimum(1)) }, "checks: Valid: the option WithMinimum is not for this check"},
	})
}
