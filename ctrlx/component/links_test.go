package component_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
)

// TestTelemetry verifies that the observer of a reconciler sees the links of its
// sets, waves and changed dependents, and no link of a dependent in sync.
func TestTelemetry(t *testing.T) {
	l := newLarge(t, 4)
	var seen []string
	log := funcr.New(func(_, args string) {
		var at [3]string
		for i, key := range []string{`"point"="`, `"link"="`, `"verdict"="`} {
			_, text, _ := strings.Cut(args, key)
			at[i], _, _ = strings.Cut(text, `"`)
		}
		if slices.Contains([]string{"Set", "Wave", "Dependent"}, at[0]) && at[2] != "" {
			seen = append(seen, strings.Join(at[:], " "))
		}
	}, funcr.Options{Verbosity: 2})
	pass := func(want ...string) {
		t.Helper()
		seen = nil
		l.passIn(t, logr.NewContext(t.Context(), log))
		slices.Sort(seen)
		same(t, want, slices.Compact(seen), "it differs")
	}
	sets := []string{
		"Set Inventory proceed", "Set Recover proceed", "Set Redundant proceed",
		"Wave Look proceed", "Wave Namespaces proceed", "Wave Preflight proceed", "Wave Recover proceed",
	}
	pass(sets...)
	if err := l.manager.client.Delete(t.Context(), l.objects[1]); err != nil {
		t.Fatal(err)
	}
	pass(append([]string{
		"Dependent Adopt proceed", "Dependent Create proceed", "Dependent DryRun proceed", "Dependent InSync proceed", "Dependent Read proceed",
		"Dependent Ready proceed", "Dependent Recover proceed", "Dependent Terminating proceed",
	}, sets...)...)
}
