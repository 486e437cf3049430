package aso

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
)

// decision is the result of a check, here or in ASO.
type decision string

const (
	proceeds decision = "proceeds"
	blocks   decision = "blocks"
	fails    decision = "fails"  // returns an error
	panics   decision = "panics" // only ASO
	unread   decision = ""       // ASO has no such case, or its result is unknown
)

// row is a case: a subject, the decisions here and in ASO, and why they differ.
type row[T any] struct {
	reason string
	in     subject[T]

	want    decision
	with    string         // the reason of a block
	retry   classify.Retry // of a block; zero: Slow
	message string         // a part of the message of a block

	aso     decision
	because string // set if and only if want and aso differ
}

// subject is the input of a check.
type subject[T any] struct {
	resource  T
	absent    bool // it does not exist in Azure
	owner     checks.Object
	resolver  checks.Resolver
	checkOnly bool // an earlier point of a pass would block, so only the check runs
}

// unexplained returns the mistake in the row's reason for a difference, or "".
func (r row[T]) unexplained() string {
	switch differ := r.aso != unread && r.aso != r.want; {
	case differ && r.because == "":
		return fmt.Sprintf("the decision is %s here and %s in ASO, without a reason", r.want, r.aso)
	case !differ && r.because != "":
		return fmt.Sprintf("the decision is %s here and in ASO, with a reason for a difference", r.want)
	}
	return ""
}

// runCases runs the chain of a point for each case, alone and in a pass.
func runCases[T any](t *testing.T, point string, ext flow.Extensions[T], cases map[string]row[T]) {
	t.Helper()
	for name, tc := range cases {
		t.Run(point+"/"+name, func(t *testing.T) {
			if why := tc.unexplained(); why != "" {
				t.Error(why)
			}
			if tc.want == blocks && tc.retry == classify.Unset {
				tc.retry = classify.Slow
			}
			if tc.in.resolver == nil { // only a pass has a resolver
				res, err := runPoint(t, point, ext, tc.in)
				if got := decisionOf(res, err); got != tc.want || res.Reason() != tc.with || res.Retry() != tc.retry || !strings.Contains(res.Message(), tc.message) {
					t.Errorf("%s: %s: got %v, %v; want %s with reason %q, %s, message part %q", tc.reason, got, res, err, tc.want, tc.with, tc.retry, tc.message)
				}
			}
			if !tc.in.checkOnly {
				pass(t, point, ext, tc)
			}
		})
	}
}

// runPoint runs the chain of one point.
func runPoint[T any](t *testing.T, point string, ext flow.Extensions[T], in subject[T]) (checks.Result, error) {
	t.Helper()
	owner := checks.OwnerRequest{Owner: in.owner, Resolver: in.resolver}
	req := &checks.Request[T]{OwnerRequest: owner, Resource: in.resource, Presence: checks.PresenceOf(!in.absent)}
	switch point {
	case flow.PointOwnerCheck:
		return checks.Compose(ext.OwnerCheck)(t.Context(), &owner)
	case flow.PointPreCheck:
		return checks.Compose(ext.PreCheck)(t.Context(), req)
	case flow.PointPostCheck:
		return checks.Compose(ext.PostCheck)(t.Context(), req)
	}
	t.Fatalf("unknown point %s", point)
	return checks.Result{}, nil
}

func decisionOf(res checks.Result, err error) decision {
	switch {
	case err != nil:
		return fails
	case res.Proceeds():
		return proceeds
	case res.Blocked():
		return blocks
	}
	return "has no decision"
}

// cloud fakes the cloud for passes. It records the calls.
type cloud[T any] struct {
	in     subject[T]
	inSync bool                   // Get reports InSync
	puts   []flow.Progress        // the results of the next PUTs and polls; empty: done
	get    func(*flow.Request[T]) // changes the resource in a GET
	calls  []string
}

func (c *cloud[T]) operations(ext flow.Extensions[T]) flow.Operations[T] {
	ops := flow.Operations[T]{
		Key: func(T) string { return "a" },
		Get: func(_ context.Context, req *flow.Request[T]) (flow.Observation, error) {
			c.calls = append(c.calls, "get")
			if c.get != nil {
				c.get(req)
			}
			return flow.Observation{Presence: checks.PresenceOf(!c.in.absent || req.Applied), InSync: c.inSync}, nil
		},
		Apply: func(context.Context, *flow.Request[T]) (flow.Progress, error) {
			c.calls = append(c.calls, "put")
			if len(c.puts) == 0 {
				return flow.Done(), nil
			}
			p := c.puts[0]
			c.puts = c.puts[1:]
			return p, nil
		},
	}
	if ext.OwnerCheck.Len() > 0 || c.in.owner != (checks.Object{}) {
		ops.Owner = func(context.Context, T) (checks.Object, error) { return c.in.owner, nil }
	}
	return ops
}

func (c *cloud[T]) reconciler(ext flow.Extensions[T]) *flow.Reconciler[T] {
	return flow.New("Test", c.operations(ext), ext, flow.WithResolver(c.in.resolver), flow.WithErrors(azure.Errors()))
}

// take returns the calls since the last take.
func (c *cloud[T]) take() []string {
	calls := c.calls
	c.calls = nil
	return calls
}

// callsUntil returns the calls of a pass that stops at a point. The empty point
// does not stop.
func callsUntil[T any](point string, ext flow.Extensions[T]) (calls []string) {
	if point == flow.PointOwnerCheck {
		return nil
	}
	calls = append(calls, "get")
	if point == flow.PointPreCheck {
		return calls
	}
	calls = append(calls, "put")
	if ext.PostCheck.Len() > 0 {
		calls = append(calls, "get")
	}
	return calls
}

// pass runs a case through the whole flow.
func pass[T any](t *testing.T, point string, ext flow.Extensions[T], tc row[T]) {
	t.Helper()
	c := &cloud[T]{in: tc.in}
	out := c.reconciler(ext).Reconcile(t.Context(), tc.in.resource)
	state, at := flow.StateReady, ""
	switch tc.want {
	case blocks:
		state, at = flow.StateBlocked, point
	case fails:
		state, at = flow.StateFailed, point
	}
	reason := tc.with
	switch tc.want {
	case proceeds:
		reason = flow.ReasonSucceeded
	case fails:
		reason = out.Reason() // classification decides
	}
	if out.State() != state || out.Point() != at || out.Reason() != reason {
		t.Errorf("%s: pass: got %v, want %s at %q with reason %q", tc.reason, out, state, at, reason)
	}
	if diff := cmp.Diff(callsUntil(at, ext), c.take()); diff != "" {
		t.Errorf("%s: calls of a pass: -want, +got:\n%s", tc.reason, diff)
	}
}

// words are states of Azure, possible states, and texts that are no states.
var words = []string{
	"Succeeded", "Failed", "Canceled", "Ready", "Running", "Creating", "Updating", "Upgrading", "Deleting", "Deleted", "Accepted",
	"Scaling", "Starting", "Stopping", "Stopped", "Restarting", "Provisioning", "Dropping", "Disabled", "Unavailable", "Migrating",
	"Resuming", "Moving", "ReconcilingClusterCertificates", "Rotating cluster certificates", "InProgress", "Unknown", "None", "nil",
	"Cancelled", "Success", "Suceeded", "Succeeded,Failed", "Succeeded Failed", "NotSucceeded", "SucceededWithErrors", "0", "?", "成功",
}

// spellings returns texts for the same state.
func spellings(word string) []string {
	swapped := strings.Map(func(r rune) rune {
		if u := []rune(strings.ToUpper(string(r))); len(u) == 1 && u[0] != r {
			return u[0]
		}
		return []rune(strings.ToLower(string(r)))[0]
	}, word)
	all := []string{word, strings.ToLower(word), strings.ToUpper(word), swapped, " " + word, word + " ", "\t" + strings.ToLower(word) + "\r\n"}
	slices.Sort(all)
	return slices.Compact(all)
}

// set is ASO's rule for allowed states. It ignores case but not white space.
// names are in lower case.
func set(names ...string) func(string) decision {
	return func(state string) decision {
		if slices.Contains(names, strings.ToLower(state)) {
			return proceeds
		}
		return blocks
	}
}

// set3 is the set that most resources share.
var set3 = set("succeeded", "failed", "canceled")

// deny is ASO's rule for one denied state.
func deny(name string) func(string) decision {
	return func(state string) decision {
		if strings.EqualFold(state, name) {
			return blocks
		}
		return proceeds
	}
}

const padded = "white space around a state is ignored"

// cross adds a case for each spelling of each word. proceeding lists the words
// that proceed. If it begins with "not", it lists those that block.
func cross[T any](cases map[string]row[T], proceeding string, aso func(string) decision, with string, in func(state *string) subject[T]) {
	listed := strings.Fields(proceeding)
	denies := listed[0] == "not"
	for _, word := range words {
		want := blocks
		if slices.Contains(listed, word) != denies {
			want = proceeds
		}
		for _, state := range spellings(word) {
			tc := row[T]{reason: "case and white space do not matter", in: in(&state), want: want, aso: aso(state)}
			if want == blocks {
				tc.with, tc.message = with, `"`+state+`"`
				if strings.ContainsAny(state, "\t\r\n") {
					tc.message = "" // the message escapes it
				}
			}
			if state != strings.TrimSpace(state) && tc.want != tc.aso {
				tc.because = padded
			}
			cases[fmt.Sprintf("state %q", state)] = tc
		}
	}
}

// nothing adds the cases without a state or with a blank one.
func nothing[T any](cases map[string]row[T], with string, aso func(string) decision, in func(state *string) subject[T]) {
	cases["state nil"] = row[T]{
		reason: "the state is unknown", in: in(nil), want: blocks, with: with, message: "has not reported a state yet",
		aso: proceeds, because: "unknown is not ready, and the check is retried in a second",
	}
	for _, blank := range []string{"", " ", "\n"} {
		tc := row[T]{reason: "a blank state is not reported", in: in(&blank), want: blocks, with: with, message: "has not reported a state yet", aso: aso(blank)}
		if tc.aso == proceeds {
			tc.because = "a blank state is as unknown as none"
		}
		cases[fmt.Sprintf("state %q", blank)] = tc
	}
}

// ownState returns the cases of a check of the resource's state. resource
// returns a resource in a state.
func ownState[T any](proceeding string, aso func(string) decision, resource func(state *string) T) map[string]row[T] {
	cases := map[string]row[T]{}
	in := func(state *string) subject[T] { return subject[T]{resource: resource(state)} }
	cross(cases, proceeding, aso, checks.ReasonState, in)
	nothing(cases, checks.ReasonStateUnknown, aso, in)
	cases["not in the cloud"] = row[T]{
		reason: "an absent resource has no state", in: subject[T]{resource: resource(nil), absent: true},
		want: proceeds, aso: proceeds,
	}
	stale := "Deleting"
	cases["not in the cloud any more"] = row[T]{
		reason: "a reported state always decides; Get has to clear it", in: subject[T]{resource: resource(&stale), absent: true}, want: blocks,
		with: checks.ReasonState, message: "Get should clear the reported state", aso: aso(stale),
	}
	return cases
}

// ownerRef is the ref of the owner.
var ownerRef = checks.Ref{Kind: "Owner", Name: "prod"}

// ownedBy returns a subject with an owner.
func ownedBy[T any](resource T, owner any) subject[T] {
	return subject[T]{resource: resource, owner: checks.Object{Ref: ownerRef, Value: owner}}
}

// ownerState returns the cases of a check of the owner's state. owner returns
// an owner in a state.
func ownerState[T, W any](proceeding string, aso func(string) decision, resource T, owner func(state *string) *W) map[string]row[T] {
	cases := map[string]row[T]{}
	in := func(state *string) subject[T] { return ownedBy(resource, owner(state)) }
	cross(cases, proceeding, aso, checks.ReasonOwnerState, in)
	nothing(cases, checks.ReasonOwnerStateUnknown, aso, in)
	for name, tc := range cases {
		if tc.want == blocks && tc.message == "" {
			tc.message = "owner " + ownerRef.String()
			cases[name] = tc
		}
	}

	good, busy := "Succeeded", "Updating"
	byID := checks.Ref{ID: "/subscriptions/s/owners/prod"}
	knows := func(state *string) checks.Resolver {
		return func(_ context.Context, ref checks.Ref) (checks.Object, error) {
			return checks.Object{Ref: checks.Ref{Kind: "Owner", Name: "prod", ID: ref.ID}, Value: owner(state)}, nil
		}
	}
	for name, tc := range map[string]row[T]{
		"none": {
			reason: "the check needs an owner", in: subject[T]{resource: resource}, want: blocks,
			with:  checks.ReasonOwnerNotSet,
			retry: classify.OnChange, aso: proceeds,
			because: "a missing owner is a mistake in the spec; ASO does not call the check",
		},
		"not found": {
			reason: "the owner may be created later", in: subject[T]{resource: resource, owner: checks.Object{Ref: ownerRef}},
			want: blocks, with: checks.ReasonOwnerNotFound,
			retry: classify.Fast, message: "Owner prod was not found", aso: fails,
			because: "a missing owner blocks and is not an error",
		},
		"a nil pointer": {
			reason: "a nil owner is not found", in: ownedBy(resource, (*W)(nil)), want: blocks, with: checks.ReasonOwnerNotFound,
			retry: classify.Fast, aso: panics, because: "a panic ends the process for all resources",
		},
		"another kind": {
			reason: "the ref names an object of another kind", in: ownedBy(resource, &struct{ Status string }{"Succeeded"}),
			want: blocks, with: checks.ReasonOwnerWrongKind,
			retry: classify.OnChange, aso: proceeds, because: "a mistake in the spec; the real owner is unknown",
		},
		"by ID": {
			reason: "the owner's state is unknown",
			in:     subject[T]{resource: resource, owner: checks.Object{Ref: byID}}, want: blocks,
			with:    checks.ReasonOwnerByID,
			message: byID.ID, aso: unread,
		},
		"by ID, found and at rest": {
			reason: "the resolver reads the state from Azure, as ASO does",
			in:     subject[T]{resource: resource, owner: checks.Object{Ref: byID}, resolver: knows(&good)},
			want:   proceeds, aso: aso(good),
		},
		"by ID, found and busy": {
			reason: "the resolver reads the state from Azure, as ASO does",
			in:     subject[T]{resource: resource, owner: checks.Object{Ref: byID}, resolver: knows(&busy)},
			want:   blocks, with: checks.ReasonOwnerState, aso: aso(busy),
		},
	} {
		cases["owner "+name] = tc
	}
	return cases
}

// refuse returns an error of Azure.
func refuse(status int, code string) error {
	response := &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody, Request: &http.Request{Method: http.MethodGet}}
	return &azcore.ResponseError{StatusCode: status, ErrorCode: code, RawResponse: response}
}

// errDown is an error without a response of Azure.
var errDown = errors.New("the connection is down")

// tokenStore is an [Operation] that stores the token in memory. Fakes of gates
// embed it.
type tokenStore[T any] struct {
	token string
	polls map[string]pollResult // the result of the next poll, by token
	calls []string
	lost  error // the error of SetToken
}

type pollResult struct {
	done bool
	err  error
}

func (k *tokenStore[T]) Token(T) string { return k.token }

func (k *tokenStore[T]) SetToken(ctx context.Context, _ T, token string) error {
	if err := errors.Join(ctx.Err(), k.lost); err != nil {
		return err
	}
	k.token = token
	return nil
}

func (k *tokenStore[T]) Poll(_ context.Context, token string) (bool, error) {
	k.calls = append(k.calls, "poll "+token)
	p := k.polls[token]
	return p.done, p.err
}

func (k *tokenStore[T]) take() []string {
	calls := k.calls
	k.calls = nil
	return calls
}

// expectPass fails the test unless a pass has the state, the reason and the
// calls.
func expectPass(t *testing.T, why string, out flow.Outcome, state flow.State, reason string, got []string, want ...string) {
	t.Helper()
	if out.State() != state || out.Reason() != reason {
		t.Errorf("%s: %v, want %s with reason %q", why, out, state, reason)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: calls, -want, +got:\n%s", why, diff)
	}
}

// TestDifferencesAreExplained: a difference from ASO needs a reason, and only a
// difference may have one.
func TestDifferencesAreExplained(t *testing.T) {
	cases := map[string]struct {
		reason string
		row    row[int]
		wrong  bool
	}{
		"Same":             {"the decisions are equal", row[int]{want: blocks, aso: blocks}, false},
		"Explained":        {"the decisions differ, with a reason", row[int]{want: blocks, aso: proceeds, because: "so"}, false},
		"Unexplained":      {"the decisions differ, without a reason", row[int]{want: blocks, aso: panics}, true},
		"NeedlessReason":   {"a reason without a difference", row[int]{want: proceeds, aso: proceeds, because: "so"}, true},
		"NotRead":          {"ASO's decision is unknown", row[int]{want: blocks}, false},
		"NotReadButReason": {"ASO's decision is unknown, with a reason", row[int]{want: blocks, because: "so"}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.row.unexplained(); (got != "") != tc.wrong {
				t.Errorf("%s: %q, want a mistake: %t", tc.reason, got, tc.wrong)
			}
		})
	}
}
