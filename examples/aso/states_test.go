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

// decision is what comes of a check, here or in ASO.
type decision string

const (
	proceeds decision = "proceeds"
	blocks   decision = "blocks"
	fails    decision = "fails"  // gives an error
	panics   decision = "panics" // of ASO only
	unread   decision = ""       // of ASO: it has no such case, or what it does there is not known
)

// row is a case: what is decided about a resource, here and in ASO, and why the two differ, if they do.
type row[T any] struct {
	reason string
	in     subject[T]

	want  decision
	with  string         // the reason of a block
	retry classify.Retry // of a block; zero: Slow
	says  string         // is part of the message of a block

	aso     decision
	because string // set exactly when want and aso differ
}

// subject is what is decided about.
type subject[T any] struct {
	resource T
	absent   bool // it is not in the cloud
	owner    checks.Object
	resolver checks.Resolver
	lone     bool // the pass would stop at an earlier point, so that the check is asked by itself only
}

// unexplained says what is wrong with how a row tells of ASO; "" if nothing is.
func (r row[T]) unexplained() string {
	switch differ := r.aso != unread && r.aso != r.want; {
	case differ && r.because == "":
		return fmt.Sprintf("here it %s, in ASO it %s, and the case does not say why", r.want, r.aso)
	case !differ && r.because != "":
		return fmt.Sprintf("here and in ASO it %s, and the case gives a reason for a difference", r.want)
	}
	return ""
}

// decide asks for each case the chain at a point, by itself and in a whole pass.
func decide[T any](t *testing.T, point string, ext flow.Extensions[T], cases map[string]row[T]) {
	t.Helper()
	for name, tc := range cases {
		t.Run(point+"/"+name, func(t *testing.T) {
			if why := tc.unexplained(); why != "" {
				t.Error(why)
			}
			if tc.want == blocks && tc.retry == classify.Unset {
				tc.retry = classify.Slow
			}
			if tc.in.resolver == nil { // which it takes a pass to ask
				res, err := ask(t, point, ext, tc.in)
				if got := decisionOf(res, err); got != tc.want || res.Reason() != tc.with || res.Retry() != tc.retry || !strings.Contains(res.Message(), tc.says) {
					t.Errorf("%s: %s: %v, %v, want that it %s with reason %q, %s, and says %q", tc.reason, got, res, err, tc.want, tc.with, tc.retry, tc.says)
				}
			}
			if !tc.in.lone {
				pass(t, point, ext, tc)
			}
		})
	}
}

// ask runs the chain of one point.
func ask[T any](t *testing.T, point string, ext flow.Extensions[T], in subject[T]) (checks.Result, error) {
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
	t.Fatalf("no such point: %s", point)
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
	return "decides nothing"
}

// cloud is where a resource is, as far as passes go. It writes down what was asked of it.
type cloud[T any] struct {
	in     subject[T]
	inSync bool                   // nothing is to be applied
	puts   []flow.Progress        // what the next PUTs and polls say; none: done
	get    func(*flow.Request[T]) // what a GET does to the resource
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
			return flow.Observation{Presence: checks.PresenceOf(!c.in.absent), InSync: c.inSync}, nil
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

// take gives what was asked since the last time.
func (c *cloud[T]) take() []string {
	calls := c.calls
	c.calls = nil
	return calls
}

// asked is what a pass has asked of the cloud when it stops at a point; empty: it does not stop.
var asked = map[string][]string{
	flow.PointOwnerCheck: nil, // nothing at all
	flow.PointPreCheck:   {"get"},
	flow.PointPostCheck:  {"get", "put"},
	"":                   {"get", "put"},
}

// pass takes the resource of a case through the whole flow.
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
		reason = out.Reason() // that is up to classification
	}
	if out.State() != state || out.Point() != at || out.Reason() != reason {
		t.Errorf("%s: a whole pass: %v, want %s at %q with reason %q", tc.reason, out, state, at, reason)
	}
	if diff := cmp.Diff(asked[at], c.take()); diff != "" {
		t.Errorf("%s: what a whole pass asked of the cloud, -want, +got:\n%s", tc.reason, diff)
	}
}

// words are states that Azure has for one resource or another, some that it may have tomorrow, and some that are none.
var words = []string{
	"Succeeded", "Failed", "Canceled", "Ready", "Running", "Creating", "Updating", "Upgrading", "Deleting", "Deleted", "Accepted",
	"Scaling", "Starting", "Stopping", "Stopped", "Restarting", "Provisioning", "Dropping", "Disabled", "Unavailable", "Migrating",
	"Resuming", "Moving", "ReconcilingClusterCertificates", "Rotating cluster certificates", "InProgress", "Unknown", "None", "nil",
	"Cancelled", "Success", "Suceeded", "Succeeded,Failed", "Succeeded Failed", "NotSucceeded", "SucceededWithErrors", "0", "?", "成功",
}

// spellings are ways to write a word that mean the same.
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

// set is the rule of ASO that allows some states: it folds case and leaves white space as it is. Names are in lower case.
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

// deny is the rule of ASO that denies one state.
func deny(name string) func(string) decision {
	return func(state string) decision {
		if strings.EqualFold(state, name) {
			return blocks
		}
		return proceeds
	}
}

const padded = "white space around a state is no part of it"

// cross adds a case for each spelling of each word. goesOn lists the words with which the work goes on, or, where it begins
// with "not", those with which it does not.
func cross[T any](cases map[string]row[T], goesOn string, aso func(string) decision, with string, in func(state *string) subject[T]) {
	listed := strings.Fields(goesOn)
	denies := listed[0] == "not"
	for _, word := range words {
		want := blocks
		if slices.Contains(listed, word) != denies {
			want = proceeds
		}
		for _, state := range spellings(word) {
			tc := row[T]{reason: "states are words, however they are written", in: in(&state), want: want, aso: aso(state)}
			if want == blocks {
				tc.with, tc.says = with, `"`+state+`"`
				if strings.ContainsAny(state, "\t\r\n") {
					tc.says = "" // it is escaped there
				}
			}
			if state != strings.TrimSpace(state) && tc.want != tc.aso {
				tc.because = padded
			}
			cases[fmt.Sprintf("state %q", state)] = tc
		}
	}
}

// nothing adds the cases in which no state is reported, or a blank one.
func nothing[T any](cases map[string]row[T], with string, aso func(string) decision, in func(state *string) subject[T]) {
	cases["state nil"] = row[T]{
		reason: "nobody knows what is going on", in: in(nil), want: blocks, with: with, says: "has not reported a state yet",
		aso: proceeds, because: "not reported is not good, and it is asked again in a second",
	}
	for _, blank := range []string{"", " ", "\n"} {
		tc := row[T]{reason: "a blank state is none", in: in(&blank), want: blocks, with: with, says: "has not reported a state yet", aso: aso(blank)}
		if tc.aso == proceeds {
			tc.because = "a blank state says as little as none"
		}
		cases[fmt.Sprintf("state %q", blank)] = tc
	}
}

// ownState makes the cases of a check of the resource's own state, from how a resource is in a state.
func ownState[T any](goesOn string, aso func(string) decision, resource func(state *string) T) map[string]row[T] {
	cases := map[string]row[T]{}
	in := func(state *string) subject[T] { return subject[T]{resource: resource(state)} }
	cross(cases, goesOn, aso, checks.ReasonState, in)
	nothing(cases, checks.ReasonStateUnknown, aso, in)
	cases["not in the cloud"] = row[T]{
		reason: "there is nothing that could be in a state", in: subject[T]{resource: resource(nil), absent: true},
		want: proceeds, aso: proceeds,
	}
	stale := "Deleting"
	cases["not in the cloud any more"] = row[T]{
		reason: "a reported state is judged: Get has to clear it", in: subject[T]{resource: resource(&stale), absent: true}, want: blocks,
		with: checks.ReasonState, says: "Get should clear the reported state", aso: aso(stale),
	}
	return cases
}

// somewhere is the name of the owner in the tests.
var somewhere = checks.Ref{Kind: "Owner", Name: "prod"}

// ownedBy is the subject with an owner.
func ownedBy[T any](resource T, owner any) subject[T] {
	return subject[T]{resource: resource, owner: checks.Object{Ref: somewhere, Value: owner}}
}

// ownerState makes the cases of a check of the owner's state, from how an owner is in a state.
func ownerState[T, W any](goesOn string, aso func(string) decision, resource T, owner func(state *string) *W) map[string]row[T] {
	cases := map[string]row[T]{}
	in := func(state *string) subject[T] { return ownedBy(resource, owner(state)) }
	cross(cases, goesOn, aso, checks.ReasonOwnerState, in)
	nothing(cases, checks.ReasonOwnerStateUnknown, aso, in)
	for name, tc := range cases {
		if tc.want == blocks && tc.says == "" {
			tc.says = "owner " + somewhere.String()
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
			reason: "a child is nothing without its parent", in: subject[T]{resource: resource}, want: blocks,
			with:  checks.ReasonOwnerNotSet,
			retry: classify.OnChange, aso: proceeds,
			because: "that an owner is missing is a mistake in the spec; ASO does not ask the check then",
		},
		"not found": {
			reason: "it may still come", in: subject[T]{resource: resource, owner: checks.Object{Ref: somewhere}},
			want: blocks, with: checks.ReasonOwnerNotFound,
			retry: classify.Fast, says: "Owner prod was not found", aso: fails,
			because: "an owner that is not there yet is waited for and no error",
		},
		"a nil pointer": {
			reason: "that is not found", in: ownedBy(resource, (*W)(nil)), want: blocks, with: checks.ReasonOwnerNotFound,
			retry: classify.Fast, aso: panics, because: "a panic for one resource is a panic for all",
		},
		"another kind": {
			reason: "somebody named the wrong thing", in: ownedBy(resource, &struct{ Status string }{"Succeeded"}),
			want: blocks, with: checks.ReasonOwnerWrongKind,
			retry: classify.OnChange, aso: proceeds, because: "it is a mistake in the spec, and nothing is known of the real owner",
		},
		"by ID": {
			reason: "nobody here can say in which state it is",
			in:     subject[T]{resource: resource, owner: checks.Object{Ref: byID}}, want: blocks,
			with: checks.ReasonOwnerByID,
			says: byID.ID, aso: unread,
		},
		"by ID, found and at rest": {
			reason: "the resolver asks Azure, as ASO does",
			in:     subject[T]{resource: resource, owner: checks.Object{Ref: byID}, resolver: knows(&good)},
			want:   proceeds, aso: aso(good),
		},
		"by ID, found and busy": {
			reason: "the resolver asks Azure, as ASO does",
			in:     subject[T]{resource: resource, owner: checks.Object{Ref: byID}, resolver: knows(&busy)},
			want:   blocks, with: checks.ReasonOwnerState, aso: aso(busy),
		},
	} {
		cases["owner "+name] = tc
	}
	return cases
}

// refuse is an answer of Azure's.
func refuse(status int, code string) error {
	response := &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody, Request: &http.Request{Method: http.MethodGet}}
	return &azcore.ResponseError{StatusCode: status, ErrorCode: code, RawResponse: response}
}

// errDown is an error that is no answer of Azure's.
var errDown = errors.New("the line is down")

// kept is an Operation that keeps the token in memory. Embedded in a fake, it is the half of it that gates share.
type kept[T any] struct {
	token string
	polls map[string]polled // what the next poll of a token says
	calls []string
	lost  error // keeping fails with it
}

type polled struct {
	done bool
	err  error
}

func (k *kept[T]) Token(T) string { return k.token }

func (k *kept[T]) SetToken(ctx context.Context, _ T, token string) error {
	if err := errors.Join(ctx.Err(), k.lost); err != nil {
		return err
	}
	k.token = token
	return nil
}

func (k *kept[T]) Poll(_ context.Context, token string) (bool, error) {
	k.calls = append(k.calls, "poll "+token)
	p := k.polls[token]
	return p.done, p.err
}

func (k *kept[T]) take() []string {
	calls := k.calls
	k.calls = nil
	return calls
}

// come fails the test if a pass did not come to a state, for a reason, having made these calls.
func come(t *testing.T, why string, out flow.Outcome, state flow.State, reason string, got []string, want ...string) {
	t.Helper()
	if out.State() != state || out.Reason() != reason {
		t.Errorf("%s: %v, want %s with reason %q", why, out, state, reason)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: calls, -want, +got:\n%s", why, diff)
	}
}

// A difference from ASO has to be explained, and what is none must not be.
func TestDifferencesAreExplained(t *testing.T) {
	cases := map[string]struct {
		reason string
		row    row[int]
		wrong  bool
	}{
		"Same":             {"there is nothing to explain", row[int]{want: blocks, aso: blocks}, false},
		"Explained":        {"it differs and says why", row[int]{want: blocks, aso: proceeds, because: "so"}, false},
		"Unexplained":      {"it differs and does not say why", row[int]{want: blocks, aso: panics}, true},
		"NeedlessReason":   {"it does not differ", row[int]{want: proceeds, aso: proceeds, because: "so"}, true},
		"NotRead":          {"there is nothing to differ from", row[int]{want: blocks}, false},
		"NotReadButReason": {"nor to explain", row[int]{want: blocks, because: "so"}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.row.unexplained(); (got != "") != tc.wrong {
				t.Errorf("%s: %q, want a complaint: %t", tc.reason, got, tc.wrong)
			}
		})
	}
}
