package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/examples/buckets/internal/storage"
	"github.com/windlass-go/windlass/examples/internal/sim/simtest"
	"github.com/windlass-go/windlass/flow"
)

var program simtest.Program = run

// TestOutput compares the whole output of the program: the story with the first
// error of each bucket and all counts, late runs, explanations, and refusals.
func TestOutput(t *testing.T) {
	program.MustPrint(t, "buckets", "", "-h", "-timeout 16m", "-timeout 6m30s",
		"-explain logs -at 90s", "-explain BUCKET/logs -at 4m", "-explain backup -at 8m", "-explain acme", "-explain logs -at 90s -json",
		"logs", "-timeout 0s", "-explain archive")
}

// TestFailedOperation: only flow.Failed ends an operation, so that the flow may
// start another one.
func TestFailedOperation(t *testing.T) {
	cases := map[string]struct {
		reason  string
		o       Options
		started int
		state   flow.State
	}{
		"Failed":         {"flow.Failed: the second operation succeeds", Options{failed, true, false}, 2, flow.StateReady},
		"FailedUnread":   {"flow.Failed needs no reader", Options{failed, false, false}, 2, flow.StateReady},
		"Plain":          {"without flow.Failed the flow polls the ended operation", Options{failed, true, true}, 1, flow.StateFailed},
		"PlainAndUnread": {"without flow.Failed the flow polls the ended operation", Options{failed, false, true}, 1, flow.StateFailed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := simulate(tc.o, 30*time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.cloud.Tally().Started[account+"/archive"]; got != tc.started {
				t.Errorf("%s: %d operations started, want %d", tc.reason, got, tc.started)
			}
			if got := s.engine.Outcome(s.engine.Last()[1].Resource).State(); got != tc.state {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.state)
			}
		})
	}
}

// TestInSync: a bucket with another class is created again, and the service
// refuses the name.
func TestInSync(t *testing.T) {
	s, err := NewSimulation(Options{Story: failed, Reader: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.engine.RunUntil(t.Context(), 30*time.Minute, s.engine.AllReady)
	resource, err := s.engine.Store.Resolve(t.Context(), bucketRef("archive"))
	if err != nil {
		t.Fatal(err)
	}
	resource.Value.(*Bucket).Class = "COLD"
	s.engine.Edit(bucketRef("archive"))
	s.engine.RunUntil(t.Context(), 31*time.Minute, func() bool { return !s.engine.AllReady() })
	if o := s.engine.Outcome(s.engine.Last()[1].Resource); o.Reason() != "AlreadyExists" {
		t.Errorf("got %s at %s, want AlreadyExists", o.Reason(), o.Point())
	}
}

// TestGetFails: after an error of Get, the object is neither absent nor in
// sync.
func TestGetFails(t *testing.T) {
	cases := map[string]struct {
		reason   string
		resource int // the index among the resources of the run
		created  []string
	}{
		"GetAccount": {"no object is created", 0, nil},
		"GetBucket":  {"only the account is created", 1, []string{"CreateAccount"}},
	}
	for method, tc := range cases {
		t.Run(method, func(t *testing.T) {
			s, err := NewSimulation(Options{Story: failed, Reader: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			s.cloud.Rule(func(r storage.Request) error {
				if r.Method == method {
					return storage.Unavailable("down", time.Minute)
				}
				return nil
			})
			s.engine.RunUntil(t.Context(), 10*time.Minute, s.engine.AllReady)
			var created []string
			for _, m := range []string{"CreateAccount", "CreateBucket"} {
				if s.cloud.Tally().Methods[m] > 0 {
					created = append(created, m)
				}
			}
			if diff := cmp.Diff(tc.created, created); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			o := s.engine.Outcome(s.engine.Last()[tc.resource].Resource)
			if diff := cmp.Diff([]string{"failed", "Get", "down"}, []string{o.State().String(), o.Point(), o.Message()}); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
