package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/examples/buckets/internal/storage"
	"github.com/windlass-go/windlass/examples/internal/sim/simtest"
	"github.com/windlass-go/windlass/flow"
)

var program simtest.Program = run

// play runs a simulation for at most half an hour.
func play(t *testing.T, o Options) *Simulation {
	t.Helper()
	s, err := simulate(o, 30*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStory(t *testing.T) {
	simtest.InOrder(t, program.MustShow(t),
		"00:00  Account acme          in progress at Apply  again in 1m",
		"00:00  Bucket logs           blocked at OwnerCheck by OwnerReady: OwnerNotReady",
		"01:00  Account acme          ready; the service says VERIFYING",
		"01:00  Bucket logs           blocked at OwnerCheck by OwnerProvisioningState: OwnerState",
		`owner Account acme is in state "VERIFYING": it must be ACTIVE`,
		"02:00  Account acme          * a person verifies it",
		"02:00  Account acme          ready; the service says ACTIVE",
		"02:00  Bucket logs           in progress at Apply  again in 1m",
		"02:00  Bucket backup         failed at Apply: ResourceExhausted",
		"again in 5m (very slow, rule OverQuota)",
		"03:00  Bucket logs           failed at Apply: Unavailable",
		"the region restarts",
		"again in 2m (slow, rule Unavailable)",
		"05:00  Bucket logs           in progress at Apply",
		"05:00  Bucket media          failed at Apply: ResourceExhausted",
		"too many calls",
		"again in 1m40s (slow, rule",
		"06:00  Bucket logs           ready",
		"06:40  Bucket media          ready",
		"11:00  Account acme          * a person raises its quota to 3",
		"12:00  Bucket backup         in progress at Apply",
		"16:00  Bucket backup         ready",
		"16:00  all is ready",
		"The first error of each bucket in its condition Ready",
		"with reader", "Unavailable: operation op-2 cannot be polled: the region restarts", "failed once",
		"without reader", "Unknown: operation op-2 cannot be polled: rpc error: code = Unavailable desc = the region restarts"+hint, "failed 6 times",
		"requests sent to the service", "31", "55",
		"operations started", "4", "4",
		"Bucket media ready at", "06:40", "07:06",
		"Another bucket, whose operation fails at 04:15",
		"flow.Failed", "FailedPrecondition: the encryption key of the bucket is disabled", "failed once",
		"plain error", "failed 14 times",
		"acme/archive", "2", "1",
		"Bucket archive ready at", "09:02", "not in time",
	)
	program.MustBeTheSame(t)
}

// TestOneOperationEach: a refused poll does not change the operation. So no run
// starts a second one, with or without a reader.
func TestOneOperationEach(t *testing.T) {
	cases := map[string]struct {
		reason string
		reader bool
		want   storage.Tally
		ready  map[string]string
	}{
		"Reader": {"the engine uses the delays that the service asks for", true,
			storage.Tally{
				Sent:    31,
				Methods: map[string]int{"CreateAccount": 1, "CreateBucket": 5, "GetAccount": 5, "GetBucket": 8, "GetOperation": 12},
				Failures: map[string]int{"CreateBucket ResourceExhausted": 2, "GetAccount NotFound": 1, "GetBucket NotFound": 5,
					"GetOperation ResourceExhausted": 1, "GetOperation Unavailable": 1},
				Started: map[string]int{"acme": 1, "acme/logs": 1, "acme/media": 1, "acme/backup": 1},
			},
			map[string]string{"Account acme": "01:00", "Bucket logs": "06:00", "Bucket media": "06:40", "Bucket backup": "16:00"}},
		"NoReader": {"the back-off polls more often and notices the end later", false,
			storage.Tally{
				Sent:    55,
				Methods: map[string]int{"CreateAccount": 1, "CreateBucket": 12, "GetAccount": 5, "GetBucket": 15, "GetOperation": 22},
				Failures: map[string]int{"CreateBucket ResourceExhausted": 9, "GetAccount NotFound": 1, "GetBucket NotFound": 12,
					"GetOperation ResourceExhausted": 6, "GetOperation Unavailable": 6},
				Started: map[string]int{"acme": 1, "acme/logs": 1, "acme/media": 1, "acme/backup": 1},
			},
			map[string]string{"Account acme": "01:00", "Bucket logs": "06:06", "Bucket media": "07:06", "Bucket backup": "16:14"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := play(t, Options{Story: refused, Reader: tc.reader})
			if diff := cmp.Diff(tc.want, s.cloud.Tally()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			ready := map[string]string{}
			for _, p := range s.engine.Last() {
				ready[p.Resource.String()] = s.engine.ReadyAt(p.Resource)
			}
			if diff := cmp.Diff(tc.ready, ready); diff != "" {
				t.Errorf("%s: ready at: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// seen holds the visible parts of an error.
type seen struct {
	Reason, Message string
	Retry           classify.Retry
	After           time.Duration
}

// hint ends the message of an error that may mean that the operation has
// failed.
const hint = "; return flow.Failed if it has failed"

func TestFirstErrors(t *testing.T) {
	cases := map[string]struct {
		reason string
		o      Options
		bucket string
		want   seen
	}{
		"Unavailable": {"polls are refused for two minutes", Options{refused, true, false}, "logs",
			seen{"Unavailable", "operation op-2 cannot be polled: the region restarts", classify.Slow, 2 * time.Minute}},
		"Throttled": {"a poll is throttled", Options{refused, true, false}, "media",
			seen{"ResourceExhausted", "operation op-3 cannot be polled: too many calls: RATE_LIMIT_EXCEEDED", classify.Slow, 100 * time.Second}},
		"Quota": {"a quota has the code of throttling and its own rule", Options{refused, true, false}, "backup",
			seen{"ResourceExhausted", `account "acme" may have 2 buckets: QUOTA_EXCEEDED`, classify.VerySlow, 0}},
		"UnavailableUnread": {"without a reader the condition names flow.Failed", Options{refused, false, false}, "logs",
			seen{"Unknown", "operation op-2 cannot be polled: rpc error: code = Unavailable desc = the region restarts" + hint,
				classify.Slow, 0}},
		"ThrottledUnread": {"without a reader the condition names flow.Failed", Options{refused, false, false}, "media",
			seen{"Unknown", "operation op-3 cannot be polled: rpc error: code = ResourceExhausted desc = too many calls" + hint,
				classify.Slow, 0}},
		"QuotaUnread": {"without an operation the condition does not name flow.Failed", Options{refused, false, false}, "backup",
			seen{"Unknown", `rpc error: code = ResourceExhausted desc = account "acme" may have 2 buckets`, classify.Slow, 0}},
		"Failed": {"flow.Failed reports the error of the operation", Options{failed, true, false}, "archive",
			seen{"FailedPrecondition", "the encryption key of the bucket is disabled", classify.Slow, 0}},
		"Plain": {"without flow.Failed the operation is still under way", Options{failed, true, true}, "archive",
			seen{"FailedPrecondition", "operation op-2 cannot be polled: the encryption key of the bucket is disabled" + hint,
				classify.Slow, 0}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := play(t, tc.o).failures(tc.bucket)[0]
			got := seen{p.Ready.Reason, p.Ready.Message, p.Retry, p.Outcome.After()}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
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
			s := play(t, tc.o)
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

func TestLate(t *testing.T) {
	got := program.MustBeLate(t, "-timeout", "6m30s")
	simtest.InOrder(t, got, "buckets: not all is ready after 6m30s:",
		"Bucket media  failed at Apply: ResourceExhausted", "too many calls", "again in 1m40s",
		"Bucket backup  failed at Apply: ResourceExhausted", "again in 5m")
	if strings.Contains(got, "Bucket logs") {
		t.Errorf("a ready resource is named:\n%s", got)
	}
	simtest.InOrder(t, program.MustShow(t, "-timeout", "16m"), "all is ready", "Bucket backup ready at", "16:00", "not in time")
}

func TestExplain(t *testing.T) {
	program.MustExplain(t, map[string]simtest.Explanation{
		"Owner": {Reason: "the account is not active", Args: []string{"logs", "-at", "90s"},
			Want: []string{"Bucket logs is blocked at OwnerCheck by OwnerProvisioningState", "VERIFYING", "waits for    Account acme"}},
		"Poll": {Reason: "the region restarts", Args: []string{"BUCKET/logs", "-at", "4m"},
			Want: []string{"Bucket logs has failed at Apply", "the region restarts", "00:05:00Z, in 1m0s"}},
		"Quota": {Reason: "the account has no room", Args: []string{"backup", "-at", "8m"},
			Want: []string{"Bucket backup has failed at Apply", "QUOTA_EXCEEDED", "OverQuota", "00:12:00Z, in 4m0s"}},
		"End": {Reason: "at the end all resources are ready", Args: []string{"acme"}, Want: []string{"Account acme is ready"}},
	})
	got := program.MustExplainJSON(t, "logs", "-at", "90s")
	if diff := cmp.Diff([]any{"OwnerProvisioningState", "OwnerState"}, []any{got["link"], got["reason"]}); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestFlags(t *testing.T) {
	program.MustRefuse(t, `buckets: unexpected argument "logs"`, "logs")
	program.MustRefuse(t, "buckets: -timeout", "-timeout", "0s")
	program.MustRefuse(t, `buckets: -explain: unknown resource "archive"; the resources are Account acme and Bucket logs and`, "-explain", "archive")
	for _, name := range append([]string{account, "archive"}, refused.buckets...) {
		program.MustHelp(t, usage, name, "-timeout", "-explain", "-at", "-json", "Exit codes: 0")
	}
	s, err := NewSimulation(Options{Story: refused})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if _, ok := s.engine.Explain(checks.Ref{Kind: bucketKind, Name: "logs"}); ok {
		t.Error("want no explanation before the first pass")
	}
}
