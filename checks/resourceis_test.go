package checks_test

import (
	"testing"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

func TestResourceIs(t *testing.T) {
	objection := func(d *Database) string {
		if d.Version < 12 {
			return "version 12 is the oldest"
		}
		return ""
	}
	cases := map[string]struct {
		reason string
		d      *Database
		opts   []checks.Option
		want   answer
	}{
		"None":      {"a resource without an objection proceeds", &Database{Version: 12}, nil, proceeding()},
		"One":       {"an objection blocks until the resource changes", &Database{}, nil, blocks("ResourceUnsuitable", classify.OnChange, "version 12 is the oldest")},
		"Options":   {"options change the reason and the retry", &Database{}, []checks.Option{checks.WithReason(checks.ReasonSpecInvalid), checks.WithRetry(classify.Slow), checks.WithWaitingFor(lan)}, blocks("SpecInvalid", classify.Slow, "version 12 is the oldest", lan)},
		"Finished":  {"the objection becomes the message of the verdict", &Database{}, []checks.Option{checks.WithVerdict(checks.Finished("TooOld", ""))}, answer{Result: checks.Finished("TooOld", "version 12 is the oldest")}},
		"Release":   {"and the text of a release", &Database{}, []checks.Option{checks.WithVerdict(checks.Release(""))}, answer{Result: checks.Release("version 12 is the oldest")}},
		"Ignore":    {"an Ignore keeps its options", &Database{}, []checks.Option{checks.WithVerdict(checks.Ignore("", checks.WithAfter(time.Hour)))}, answer{Result: checks.Ignore("version 12 is the oldest", checks.WithAfter(time.Hour))}},
		"NoVerdict": {"without an objection there is no verdict", &Database{Version: 12}, []checks.Option{checks.WithVerdict(checks.Release(""))}, proceeding()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mustAnswer(t, tc.reason, tc.want, checks.ResourceIs("version", objection, tc.opts...), &checks.Request[*Database]{Resource: tc.d})
		})
	}
	t.Run("Nil", func(t *testing.T) {
		_, err := ask(t, checks.ResourceIs("version", objection), &checks.Request[*Database]{})
		mustNameNil(t, err, "version", "resourceis_test.go", `return an objection or "" where a field that may be nil is unset`)
	})
}

func TestResourceIsSetUp(t *testing.T) {
	no := func(*Database) string { return "" }
	mustPanic(t, map[string]setUp{
		"Nil":        {"the check needs an objection", func() { checks.ResourceIs[*Database]("version", nil) }, "checks: version: the function is nil"},
		"Unknown":    {"an unreported field is an error, so no option allows it", func() { checks.ResourceIs("version", no, checks.WithUnknownAllowed()) }, "checks: version: the option WithUnknownAllowed is not for this check"},
		"Vocabulary": {"it would be ignored", func() { checks.ResourceIs("version", no, words) }, "checks: version: a Vocabulary is not for this check"},
	})
	if text := panicOf(func() { checks.ResourceIs(" ", no) }); text == "" {
		t.Error("a name of white space must panic")
	}
}
