package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/windlass-go/windlass/examples/operator/internal/kusto"
)

// TestSummaryDiffers checks that the summary notices each difference from the
// expected story.
func TestSummaryDiffers(t *testing.T) {
	const most = wakesWithin
	expected := Figures{TokenStored: true, Woken: []time.Duration{1, 2, 3, 4}, Password: "summer"}
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
		but    func(*Figures)
		want   string // empty: as expected
	}{
		"Expected":   {reason: "nothing differs", calls: calls("GET", "DELETE", "POLL")},
		"Twice":      {reason: "a restart lost the token", calls: calls("PUT"), want: "2 changes for one version of a spec"},
		"More":       {reason: "a change without a cause in a spec", calls: append(calls(), kusto.Call{Verb: "PUT", Correlation: "c/2"}), want: "changes for 9 versions"},
		"Refused":    {reason: "the check ran too late", calls: append(calls(), kusto.Call{Verb: "GET", Refused: "BadRequest"}), want: "refused 1 request"},
		"Lost":       {reason: "the token was not stored", calls: calls(), but: func(f *Figures) { f.TokenStored = false }, want: "had no token"},
		"Polls":      {reason: "waiting databases send requests", calls: calls(), but: func(f *Figures) { f.WhileBlocked = 1 }, want: "1 requests to the API server while"},
		"Restart":    {reason: "a restart reconciles everything", calls: calls(), but: func(f *Figures) { f.AfterRestart = 1 }, want: "1 requests to the cloud after a restart"},
		"Written":    {reason: "a restart writes", calls: calls(), but: func(f *Figures) { f.WrittenAfterRestart = 1 }, want: "1 writes after a restart"},
		"Touched":    {reason: "requests about databases of a stopped cluster", calls: calls(), but: func(f *Figures) { f.WhileStopped = 1 }, want: "1 requests to the cloud about databases of a stopped"},
		"Everybody":  {reason: "a database that did not wait is woken", calls: calls(), but: func(f *Figures) { f.NeedlessRequests = 1 }, want: "that no event concerns"},
		"NotWoken":   {reason: "a wake-up was lost", calls: calls(), but: func(f *Figures) { f.Woken = f.Woken[1:] }, want: "databases were woken 3 times"},
		"Password":   {reason: "the Secret is rotated, and the cloud has the old password", calls: calls(), but: func(f *Figures) { f.Password = "spring" }, want: `has the password "spring"`},
		"WokenLate":  {reason: "the resync came instead of a wake-up", calls: calls(), but: func(f *Figures) { f.Woken = []time.Duration{1, 2, 3, most} }, want: "too late for a wake-up"},
		"JustInTime": {reason: "a busy machine", calls: calls(), but: func(f *Figures) { f.Woken = []time.Duration{1, 2, 3, most - 1} }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &Story{traffic: &Traffic{}, figures: expected}
			if tc.but != nil {
				tc.but(&s.figures)
			}
			var out bytes.Buffer
			err := s.summary(&out, tc.calls)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v\n%s", tc.reason, err, &out)
			}
		})
	}
}
