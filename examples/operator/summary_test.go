package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// What the story has to notice when it is not as told.
func TestSummaryDiffers(t *testing.T) {
	const most = wakesWithin
	asTold := Figures{Kept: true, Woken: []time.Duration{1, 2, 3}}
	asked := func(verbs ...string) (all []Asked) {
		for i, of := range []string{"a/1", "a/2", "a/3", "b/1", "b/2", "c/1"} {
			all = append(all, Asked{Verb: []string{"PUT", "POST stop"}[i%2], Correlation: of})
		}
		for _, verb := range verbs {
			all = append(all, Asked{Verb: verb, Correlation: "c/1"})
		}
		return all
	}
	cases := map[string]struct {
		reason string
		asked  []Asked
		but    func(*Figures)
		want   string // empty: it is as told
	}{
		"AsTold":     {reason: "nothing differs", asked: asked("GET", "DELETE", "POLL")},
		"Twice":      {reason: "a restart has lost the token", asked: asked("PUT"), want: "for one version of a spec the cloud was changed 2 times"},
		"More":       {reason: "a change that nobody asked for", asked: append(asked(), Asked{Verb: "PUT", Correlation: "c/2"}), want: "for 7 versions"},
		"Refused":    {reason: "a check came too late", asked: append(asked(), Asked{Verb: "GET", Refused: "BadRequest"}), want: "refused 1 request"},
		"Lost":       {reason: "the token was not kept", asked: asked(), but: func(f *Figures) { f.Kept = false }, want: "kept no token"},
		"Polls":      {reason: "who waits asks again and again", asked: asked(), but: func(f *Figures) { f.WhileBlocked = 1 }, want: "waiting cost 1 requests"},
		"Touched":    {reason: "a stopped cluster is not asked", asked: asked(), but: func(f *Figures) { f.WhileStopped = 1 }, want: "asked 1 times about databases of a stopped"},
		"Everybody":  {reason: "all are woken", asked: asked(), but: func(f *Figures) { f.WokenForNothing = 1 }, want: "waited for nothing"},
		"NotWoken":   {reason: "a wake-up was lost", asked: asked(), but: func(f *Figures) { f.Woken = f.Woken[1:] }, want: "2 databases were woken"},
		"WokenLate":  {reason: "it has looked by itself", asked: asked(), but: func(f *Figures) { f.Woken = []time.Duration{1, 2, most} }, want: "which is no wake-up"},
		"JustInTime": {reason: "a busy machine", asked: asked(), but: func(f *Figures) { f.Woken = []time.Duration{1, 2, most - 1} }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &Story{cloud: NewCloud(), traffic: &Traffic{}, figures: asTold}
			s.cloud.requests = tc.asked
			if tc.but != nil {
				tc.but(&s.figures)
			}
			var out bytes.Buffer
			err := s.Summary(&out)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v\n%s", tc.reason, err, &out)
			}
		})
	}
}
