package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/examples/operator/internal/kusto"
)

// TestSummaryDiffers checks that the summary notices each difference from the
// expected story.
func TestSummaryDiffers(t *testing.T) {
	calls := func(verbs ...string) (all []kusto.Call) {
		for i, of := range []string{"a/1", "a/2", "a/3", "b/1", "b/2", "c/1", "c/1/v2", "d/1"} {
			all = append(all, kusto.Call{Verb: []string{"PUT", "POST stop"}[i%2], Correlation: of})
		}
		for _, verb := range verbs {
			all = append(all, kusto.Call{Verb: verb, Correlation: "c/1"})
		}
		return all
	}
	cases := map[string]struct {
		reason string
		calls  []kusto.Call
		f      Figures
		want   string // empty: as expected
	}{
		"Expected":  {reason: "nothing differs", calls: calls("GET", "DELETE", "POLL")},
		"Twice":     {reason: "a restart lost the token", calls: calls("PUT"), want: "most changes for a version: 2, want 1"},
		"More":      {reason: "a change without a cause in a spec", calls: append(calls(), kusto.Call{Verb: "PUT", Correlation: "c/2"}), want: "caused changes: 9, want 8"},
		"Refused":   {reason: "the check ran too late", calls: append(calls(), kusto.Call{Verb: "GET", Refused: "BadRequest"}), want: "refused: 1, want 0"},
		"Polls":     {reason: "waiting databases send requests", calls: calls(), f: Figures{WhileBlocked: 1}, want: "in which all databases waited: 1"},
		"Restart":   {reason: "a restart reconciles everything", calls: calls(), f: Figures{AfterRestart: 1}, want: "after a restart with all objects ready: 1"},
		"Written":   {reason: "a restart writes", calls: calls(), f: Figures{WrittenAfterRestart: 1}, want: "writes to the API server: 1"},
		"Touched":   {reason: "requests about databases of a stopped cluster", calls: calls(), f: Figures{WhileStopped: 1}, want: "the databases of a stopped cluster: 1"},
		"Everybody": {reason: "a database that did not wait is woken", calls: calls(), f: Figures{NeedlessRequests: 1}, want: "that no event concerns: 1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &Story{traffic: &Traffic{}, figures: tc.f}
			var out bytes.Buffer
			err := s.summary(&out, tc.calls)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v\n%s", tc.reason, err, &out)
			}
		})
	}
}
