package checks_test

import (
	"regexp"
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

func TestPaused(t *testing.T) {
	const text = "the resource is paused; resume it to continue"
	cases := map[string]struct {
		reason string
		d      *Database
		opts   []checks.Option
		want   answer
	}{
		"Running": {"the resource is not paused", &Database{}, nil, proceeding()},
		"Paused":  {"a paused resource waits until a person resumes it", &Database{Paused: true}, nil, blocks("Paused", classify.OnChange, text)},
		"Options": {"options replace the reason and the retry", &Database{Paused: true}, []checks.Option{checks.WithReason("OnHold"), checks.WithRetry(classify.Slow)}, blocks("OnHold", classify.Slow, text)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mustAnswer(t, tc.reason, tc.want, checks.Paused(func(d *Database) bool { return d.Paused }, tc.opts...), &checks.Request[*Database]{Resource: tc.d})
		})
	}
	_, err := ask(t, checks.Paused(func(d *Database) bool { return d.Paused }), &checks.Request[*Database]{})
	mustNameNil(t, err, "Paused", "paused_test.go", "return false where a field that may be nil is unset")
}

// mustNameNil fails the test unless an error names the place of a nil
// dereference, and the remedy.
func mustNameNil(t *testing.T, err error, check, file, remedy string) {
	t.Helper()
	want := regexp.MustCompile("^" + regexp.QuoteMeta(check+": the function dereferenced nil at checks/"+file) + ":[0-9]+: " + regexp.QuoteMeta(remedy) + "$")
	if err == nil || !want.MatchString(err.Error()) {
		t.Errorf("the error of a nil dereference is %v, want %s", err, want)
	}
}
