package classify

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRetry(t *testing.T) {
	type words struct {
		String   string
		Severity Severity
	}
	cases := map[Retry]words{
		Unset:     {"unset", ""},
		Fast:      {"fast", Warning},
		Slow:      {"slow", Warning},
		VerySlow:  {"very slow", Warning},
		OnChange:  {"on change", Error},
		Never:     {"never", Error},
		Never + 1: {"Retry(6)", Warning},
		9:         {"Retry(9)", Warning},
	}
	for r, want := range cases {
		if diff := cmp.Diff(want, words{r.String(), r.Severity()}); diff != "" {
			t.Errorf("Retry %d (-want +got):\n%s", r, diff)
		}
	}
	if !(Unset < Fast && Fast < Slow && Slow < VerySlow && VerySlow < OnChange && OnChange < Never) {
		t.Error("a Retry that waits longer must be greater")
	}
}
