package aso

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// connections fakes the connections of a link's target. An approval gets the
// token "approval".
type connections struct {
	tokenStore[*SharedPrivateLink]
	all     []Connection
	atOnce  bool             // an approval has ended when it begins
	refuses map[string]error // the error of a call, by its name
}

func (c *connections) Connections(_ context.Context, id string) ([]Connection, error) {
	c.calls = append(c.calls, "list "+id)
	return c.all, c.refuses["list"]
}

func (c *connections) Approve(_ context.Context, connection Connection) (string, error) {
	c.calls = append(c.calls, "approve "+connection.ID)
	if err := c.refuses["approve"]; err != nil {
		return "", err
	}
	if c.atOnce {
		c.become("Approved")
		return "", nil
	}
	return "approval", nil
}

// become sets the status of all connections.
func (c *connections) become(status string) {
	for i := range c.all {
		c.all[i].Status = status
	}
}

const someGUID = "01234567-89ab-cdef-0123-456789ABCDEF"

func opened(status string) []Connection {
	return []Connection{{ID: "c1", Name: "sales-" + someGUID, Status: status}}
}

var (
	sqlServer   = checks.Ref{Kind: "Server", Name: "sales"}
	sqlServerID = checks.Ref{Kind: "Server", Name: "sales", ID: "/servers/sales"}
)

func sharedLink(to checks.Ref) *SharedPrivateLink {
	l := &SharedPrivateLink{Name: "sales"}
	l.Spec.PrivateLinkResource = to
	return l
}

// finds returns a resolver with one result.
func finds(o checks.Object, err error) checks.Resolver {
	return func(context.Context, checks.Ref) (checks.Object, error) { return o, err }
}

func TestSharedPrivateLink(t *testing.T) {
	there := finds(checks.Object{Ref: sqlServerID, Value: "the server"}, nil)
	type api = connections
	cases := map[string]struct {
		reason   string
		to       checks.Ref
		resolver checks.Resolver
		api      *api
		want     decision
		with     string
		retry    classify.Retry
		message  string
		calls    []string
		aso      decision
		because  string
	}{
		"approved": {reason: "the connection is approved", to: sqlServer, resolver: there, api: &api{all: opened("Approved")},
			want: proceeds, calls: []string{"list /servers/sales"}, aso: proceeds},
		"approved, spelled otherwise": {reason: "case and white space do not matter", to: sqlServer, resolver: there, api: &api{all: opened(" APPROVED ")},
			want: proceeds, calls: []string{"list /servers/sales"}, aso: blocks,
			because: "case and white space are not part of a state"},
		"pending": {reason: "the gate approves a pending connection", to: sqlServer, resolver: there, api: &api{all: opened("Pending")},
			want: blocks, with: checks.ReasonApprovalPending, message: "is being approved",
			calls: []string{"list /servers/sales", "approve c1"}, aso: blocks},
		"pending, spelled otherwise": {reason: "case does not matter", to: sqlServer, resolver: there, api: &api{all: opened("pending")},
			want: blocks, with: checks.ReasonApprovalPending, calls: []string{"list /servers/sales", "approve c1"}, aso: blocks},
		"rejected": {reason: "a person rejected it", to: sqlServer, resolver: there, api: &api{all: opened("Rejected")},
			want: blocks, with: checks.ReasonApprovalRejected, retry: classify.OnChange, message: "was rejected",
			calls: []string{"list /servers/sales"}, aso: blocks},
		"disconnected": {reason: "a person disconnected it", to: sqlServer, resolver: there, api: &api{all: opened("Disconnected")},
			want: blocks, with: checks.ReasonApprovalDisconnected, retry: classify.OnChange,
			calls: []string{"list /servers/sales"}, aso: blocks},
		"a new word": {reason: "only a pending connection is approved", to: sqlServer, resolver: there, api: &api{all: opened("Reviewing")},
			want: blocks, with: checks.ReasonApprovalUnknown, message: "Reviewing", calls: []string{"list /servers/sales"}, aso: blocks},
		"blank": {reason: "only a pending connection is approved", to: sqlServer, resolver: there, api: &api{all: opened("")},
			want: blocks, with: checks.ReasonApprovalAbsent, calls: []string{"list /servers/sales"}, aso: blocks},
		"none yet": {reason: "Azure opens the connection after the PUT", to: sqlServer, resolver: there, api: &api{},
			want: blocks, with: checks.ReasonApprovalAbsent, calls: []string{"list /servers/sales"}, aso: blocks},
		"another link's": {reason: "sales-eu is another link", to: sqlServer, resolver: there,
			api: &api{all: []Connection{
				{ID: "c2", Name: "sales-eu-" + someGUID, Status: "Approved"},
				{ID: "c3", Name: "sales", Status: "Approved"},
				{ID: "c4", Name: "sales-" + someGUID + "0", Status: "Approved"},
			}},
			want: blocks, with: checks.ReasonApprovalAbsent, calls: []string{"list /servers/sales"}, aso: blocks},
		"among others": {reason: "the connection is found", to: sqlServer, resolver: there,
			api:  &api{all: append([]Connection{{ID: "c2", Name: "sales-eu-" + someGUID, Status: "Rejected"}}, opened("Approved")...)},
			want: proceeds, calls: []string{"list /servers/sales"}, aso: proceeds},
		"may not approve": {reason: "a person has to approve it", to: sqlServer, resolver: there,
			api:  &api{all: opened("Pending"), refuses: map[string]error{"approve": refuse(403, "AuthorizationFailed")}},
			want: blocks, with: checks.ReasonApprovalPending, message: "must be approved by a person",
			calls: []string{"list /servers/sales", "approve c1"}, aso: blocks},
		"may not, for another reason": {reason: "another error than the missing permission", to: sqlServer, resolver: there,
			api:  &api{all: opened("Pending"), refuses: map[string]error{"approve": refuse(403, "ScopeLocked")}},
			want: fails, calls: []string{"list /servers/sales", "approve c1"}, aso: fails},
		"approval fails": {reason: "the approval did not begin", to: sqlServer, resolver: there,
			api:  &api{all: opened("Pending"), refuses: map[string]error{"approve": errDown}},
			want: fails, calls: []string{"list /servers/sales", "approve c1"}, aso: fails},
		"list fails": {reason: "the connections are unknown", to: sqlServer, resolver: there,
			api:  &api{all: opened("Approved"), refuses: map[string]error{"list": refuse(403, "AuthorizationFailed")}},
			want: fails, calls: []string{"list /servers/sales"}, aso: fails},
		"token not stored": {reason: "without the token it would be approved again", to: sqlServer, resolver: there,
			api:  &api{all: opened("Pending"), tokenStore: tokenStore[*SharedPrivateLink]{lost: errDown}},
			want: fails, calls: []string{"list /servers/sales", "approve c1"}},
		"under way": {reason: "the operation is polled", to: sqlServer, resolver: there,
			api:  &api{all: opened("Pending"), tokenStore: tokenStore[*SharedPrivateLink]{token: "approval"}},
			want: blocks, with: checks.ReasonApprovalPending, message: "is being approved", calls: []string{"poll approval"}, aso: blocks},
		"under way, no answer": {reason: "the operation may continue", to: sqlServer, resolver: there,
			api:  &api{all: opened("Pending"), tokenStore: tokenStore[*SharedPrivateLink]{token: "approval", polls: map[string]pollResult{"approval": {err: errDown}}}},
			want: fails, calls: []string{"poll approval"}, aso: fails},
		"by ID": {reason: "the target is not reconciled here", to: checks.Ref{ID: "/servers/x"}, resolver: there,
			api: &api{all: opened("Pending")}, want: proceeds, aso: proceeds},
		"to nothing": {reason: "Azure explains the missing target", resolver: there, api: &api{all: opened("Pending")},
			want: proceeds, aso: proceeds},
		"not found": {reason: "the target may be created later", to: sqlServer, resolver: finds(checks.Object{Ref: sqlServer}, nil), api: &api{},
			want: blocks, with: checks.ReasonReferenceNotFound, message: "Server sales", aso: fails,
			because: "a missing target blocks and is not an error"},
		"a nil pointer": {reason: "a nil target is not found", to: sqlServer,
			resolver: finds(checks.Object{Ref: sqlServer, Value: (*Watcher)(nil)}, nil), api: &api{},
			want: blocks, with: checks.ReasonReferenceNotFound},
		"not in Azure yet": {reason: "the target has no ID", to: sqlServer,
			resolver: finds(checks.Object{Ref: sqlServer, Value: "x"}, nil), api: &api{},
			want: blocks, with: checks.ReasonReferenceNotReady, message: "Server sales", aso: blocks},
		"resolver fails": {reason: "the target is unknown", to: sqlServer, resolver: finds(checks.Object{}, errDown), api: &api{},
			want: fails, aso: fails},
		"no resolver": {reason: "the target cannot be resolved", to: sqlServer, api: &api{}, want: fails},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := subject[*SharedPrivateLink]{resource: sharedLink(tc.to), resolver: tc.resolver}
			tr := row[*SharedPrivateLink]{reason: tc.reason, in: in, want: tc.want, with: tc.with, retry: tc.retry, message: tc.message, aso: tc.aso, because: tc.because}
			if why := tr.unexplained(); why != "" {
				t.Error(why)
			}
			// Each run has its own fake, because the first one leaves a token.
			alone, whole := *tc.api, *tc.api
			res, err := runPoint(t, flow.PointPostCheck, SharedPrivateLinkExtensions(&alone), in)
			if tc.want == blocks && tc.retry == classify.Unset {
				tc.retry = classify.Slow
			}
			got := row[*SharedPrivateLink]{want: decisionOf(res, err), with: res.Reason(), retry: res.Retry()}
			if got.want != tc.want || got.with != tc.with || got.retry != tc.retry || !strings.Contains(res.Message(), tc.message) {
				t.Errorf("%s: got %v, %v; want %s with reason %q, %s, message part %q", tc.reason, res, err, tc.want, tc.with, tc.retry, tc.message)
			}
			if tc.resolver == nil && !errors.Is(err, checks.ErrNoResolver) {
				t.Errorf("%v, want %v", err, checks.ErrNoResolver)
			}
			pass(t, flow.PointPostCheck, SharedPrivateLinkExtensions(&whole), tr)
			for how, calls := range map[string][]string{"alone": alone.take(), "in a pass": whole.take()} {
				if diff := cmp.Diff(tc.calls, calls); diff != "" {
					t.Errorf("%s: calls %s, -want, +got:\n%s", tc.reason, how, diff)
				}
			}
		})
	}
}

// TestSharedPrivateLinkApproval: an approval begins once, even after polls
// without a response. A failed one begins again.
func TestSharedPrivateLinkApproval(t *testing.T) {
	api := &connections{all: opened("Pending"), refuses: map[string]error{"approve": refuse(403, "AuthorizationFailed")}}
	api.polls = map[string]pollResult{}
	c := &cloud[*SharedPrivateLink]{inSync: true}
	c.in.resolver = finds(checks.Object{Ref: sqlServerID, Value: "the server"}, nil)
	r, link := c.reconciler(SharedPrivateLinkExtensions(api)), sharedLink(sqlServer)
	run := func() (flow.Outcome, []string) {
		out := r.Reconcile(t.Context(), link)
		return out, append(c.take(), api.take()...)
	}
	list, approve, poll := "list /servers/sales", "approve c1", "poll approval"

	out, calls := run()
	expectPass(t, "the identity must not approve", out, flow.StateBlocked, checks.ReasonApprovalPending, calls, "get", list, approve)
	api.refuses = nil
	out, calls = run()
	expectPass(t, "the identity has the permission now", out, flow.StateBlocked, checks.ReasonApprovalPending, calls, "get", list, approve)
	for range 3 {
		out, calls = run()
		expectPass(t, "the operation is under way", out, flow.StateBlocked, checks.ReasonApprovalPending, calls, "get", poll)
	}
	api.polls["approval"] = pollResult{err: refuse(503, "ServiceUnavailable")}
	out, calls = run()
	expectPass(t, "a poll without a response does not end the operation", out, flow.StateFailed, "ServiceUnavailable", calls, "get", poll)
	api.polls["approval"] = pollResult{done: true, err: refuse(200, "InternalServerError")}
	out, calls = run()
	expectPass(t, "the operation failed", out, flow.StateFailed, "InternalServerError", calls, "get", poll)
	out, calls = run()
	expectPass(t, "the approval begins again", out, flow.StateBlocked, checks.ReasonApprovalPending, calls, "get", list, approve)
	api.polls["approval"] = pollResult{done: true}
	api.become("Approved")
	out, calls = run()
	expectPass(t, "the approval is done", out, flow.StateReady, flow.ReasonSucceeded, calls, "get", poll, list)
	out, calls = run()
	expectPass(t, "the connection stays approved", out, flow.StateReady, flow.ReasonSucceeded, calls, "get", list)
	api.become("Rejected")
	out, calls = run()
	expectPass(t, "a person rejects the connection", out, flow.StateBlocked, checks.ReasonApprovalRejected, calls, "get", list)

	api.become("Pending")
	api.atOnce = true
	out, calls = run()
	expectPass(t, "the approval ends at once; the next pass reads the connection", out, flow.StateBlocked, checks.ReasonApprovalPending, calls, "get", list, approve)
	out, calls = run()
	expectPass(t, "the connection is approved", out, flow.StateReady, flow.ReasonSucceeded, calls, "get", list)
}

func TestSharedPrivateLinkWaits(t *testing.T) {
	for name, found := range map[string]checks.Object{"not found": {Ref: sqlServer}, "not in Azure yet": {Ref: sqlServer, Value: "x"}} {
		in := subject[*SharedPrivateLink]{resource: sharedLink(sqlServer), resolver: finds(found, nil)}
		res, err := runPoint(t, flow.PointPostCheck, SharedPrivateLinkExtensions(&connections{}), in)
		if diff := cmp.Diff([]checks.Ref{sqlServer}, res.WaitingFor()); diff != "" || err != nil {
			t.Errorf("%s: %v, awaited objects: -want, +got:\n%s", name, err, diff)
		}
	}
}

// watchers fakes the watcher of a target. A start gets the token "start".
type watchers struct {
	tokenStore[*Target]
	state   string
	atOnce  bool // a start has ended when it begins
	refuses map[string]error
}

func (w *watchers) State(context.Context, *Watcher) (string, error) {
	w.calls = append(w.calls, "state")
	return w.state, w.refuses["state"]
}

func (w *watchers) Start(context.Context, *Watcher) (string, error) {
	w.calls = append(w.calls, "start")
	if err := w.refuses["start"]; err != nil {
		return "", err
	}
	if w.atOnce {
		w.state = "Running"
		return "", nil
	}
	w.state = "Starting"
	return "start", nil
}

func watcher() *Watcher {
	w := &Watcher{Name: "w"}
	w.Spec.Datastore = new("kusto")
	return w
}

func TestTarget(t *testing.T) {
	owned := func(w any) subject[*Target] { return ownedBy(&Target{Name: "sales"}, w) }
	cases := map[string]struct {
		row[*Target]
		api   watchers
		calls []string
	}{
		"cannot be read": {row[*Target]{reason: "the state is unknown", in: owned(watcher()), want: fails, aso: fails},
			watchers{state: "Running", refuses: map[string]error{"state": errDown}}, []string{"state"}},
		"cannot be started": {row[*Target]{reason: "the start did not begin", in: owned(watcher()), want: fails, aso: fails},
			watchers{state: "Stopped", refuses: map[string]error{"start": refuse(409, "Conflict")}}, []string{"state", "start"}},
		"nowhere to write to": {row[*Target]{reason: "Azure refuses to start it", in: owned(&Watcher{}), want: blocks,
			with: "WatcherWithoutDatastore", aso: blocks},
			watchers{state: "Stopped"}, []string{"state"}},
		"nowhere, and running": {row[*Target]{reason: "a running watcher needs no start", in: owned(&Watcher{}), want: proceeds, aso: proceeds},
			watchers{state: "Running"}, []string{"state"}},
		"token not stored": {row[*Target]{reason: "without the token it would be started again", in: owned(watcher()), want: fails},
			watchers{state: "Stopped", tokenStore: tokenStore[*Target]{lost: errDown}}, []string{"state", "start"}},
		"under way": {row[*Target]{reason: "the operation is polled, whatever the state is", in: owned(watcher()),
			want: blocks, with: "WatcherNotRunning", aso: blocks},
			watchers{state: "Running", tokenStore: tokenStore[*Target]{token: "start"}}, []string{"poll start"}},
		"under way, no answer": {row[*Target]{reason: "the operation may continue", in: owned(watcher()), want: fails, aso: fails},
			watchers{tokenStore: tokenStore[*Target]{token: "start", polls: map[string]pollResult{"start": {err: errDown}}}}, []string{"poll start"}},
		"started": {row[*Target]{reason: "the end of the operation counts, not the state", in: owned(watcher()), want: proceeds, aso: proceeds},
			watchers{state: "Stopped", tokenStore: tokenStore[*Target]{token: "start", polls: map[string]pollResult{"start": {done: true}}}}, []string{"poll start"}},
		"owner by ID": {row[*Target]{reason: "the watcher is not reconciled here", want: proceeds, aso: proceeds,
			in: subject[*Target]{resource: &Target{}, owner: checks.Object{Ref: checks.Ref{ID: "/watchers/w"}}}}, watchers{state: "Stopped"}, nil},
	}
	const mistake = "a target without a watcher would be Ready and never watched"
	for name, o := range map[string]struct {
		owner checks.Object
		with  string
		retry classify.Retry
	}{
		"none":          {checks.Object{}, checks.ReasonOwnerNotSet, classify.OnChange},
		"not found":     {checks.Object{Ref: ownerRef}, checks.ReasonOwnerNotFound, classify.Fast},
		"a nil pointer": {checks.Object{Ref: ownerRef, Value: (*Watcher)(nil)}, checks.ReasonOwnerNotFound, classify.Fast},
		"another kind":  {checks.Object{Ref: ownerRef, Value: &ManagedCluster{}}, checks.ReasonOwnerWrongKind, classify.OnChange},
	} {
		tc := row[*Target]{reason: "a target needs a watcher", in: subject[*Target]{resource: &Target{}, owner: o.owner, checkOnly: true},
			want: blocks, with: o.with, retry: o.retry, aso: proceeds, because: mistake}
		switch name {
		case "not found":
			tc.aso, tc.because = fails, "a missing owner blocks and is not an error"
		case "a nil pointer":
			tc.aso, tc.because = unread, ""
		}
		cases["owner "+name] = struct {
			row[*Target]
			api   watchers
			calls []string
		}{tc, watchers{state: "Running"}, nil}
		tc.in.checkOnly = false
		runCases(t, flow.PointOwnerCheck, TargetExtensions(&watchers{}), map[string]row[*Target]{"owner " + name: tc})
	}
	for _, word := range words {
		for _, state := range append(spellings(word), "", " ") {
			tc := row[*Target]{reason: "the watcher changes its state", in: owned(watcher()), want: blocks, with: "WatcherNotRunning", aso: blocks}
			calls := []string{"state"}
			switch word {
			case "Running":
				if state != "" && state != " " {
					tc.want, tc.with = proceeds, ""
				}
				if state == "Running" {
					tc.aso = proceeds
				}
			case "Stopped":
				if state != "" && state != " " {
					calls = append(calls, "start")
				}
			}
			if tc.want != tc.aso {
				tc.because = "case and white space are not part of a state"
			}
			cases["state "+state] = struct {
				row[*Target]
				api   watchers
				calls []string
			}{tc, watchers{state: state}, calls}
		}
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			lone := tc.in.checkOnly
			tc.in.checkOnly = true
			alone, whole := tc.api, tc.api
			runCases(t, flow.PointPostCheck, TargetExtensions(&alone), map[string]row[*Target]{"alone": tc.row})
			if diff := cmp.Diff(tc.calls, alone.take()); diff != "" {
				t.Errorf("%s: calls, -want, +got:\n%s", tc.reason, diff)
			}
			if lone {
				return
			}
			pass(t, flow.PointPostCheck, TargetExtensions(&whole), tc.row)
			if diff := cmp.Diff(tc.calls, whole.take()); diff != "" {
				t.Errorf("%s: calls in a pass, -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTargetStart: a watcher starts once, and again after a person stopped it.
func TestTargetStart(t *testing.T) {
	api := &watchers{state: "Stopped", refuses: map[string]error{"start": errDown}, tokenStore: tokenStore[*Target]{polls: map[string]pollResult{}}}
	c := &cloud[*Target]{in: ownedBy(&Target{}, watcher()), inSync: true}
	r, target := c.reconciler(TargetExtensions(api)), &Target{Name: "sales"}
	run := func() (flow.Outcome, []string) {
		out := r.Reconcile(t.Context(), target)
		return out, append(c.take(), api.take()...)
	}
	out, calls := run()
	expectPass(t, "the start did not begin", out, flow.StateFailed, out.Reason(), calls, "get", "state", "start")
	api.refuses = nil
	out, calls = run()
	expectPass(t, "the start begins", out, flow.StateBlocked, "WatcherNotRunning", calls, "get", "state", "start")
	for range 3 {
		out, calls = run()
		expectPass(t, "the operation is under way", out, flow.StateBlocked, "WatcherNotRunning", calls, "get", "poll start")
	}
	api.polls["start"] = pollResult{done: true, err: refuse(200, "WatcherStartFailed")}
	out, calls = run()
	expectPass(t, "the operation failed", out, flow.StateFailed, "WatcherStartFailed", calls, "get", "poll start")
	api.state = "Stopped"
	out, calls = run()
	expectPass(t, "the start begins again", out, flow.StateBlocked, "WatcherNotRunning", calls, "get", "state", "start")
	api.polls["start"] = pollResult{done: true}
	out, calls = run()
	expectPass(t, "the start is done", out, flow.StateReady, flow.ReasonSucceeded, calls, "get", "poll start")
	api.state = "Running"
	out, calls = run()
	expectPass(t, "the watcher runs", out, flow.StateReady, flow.ReasonSucceeded, calls, "get", "state")
	api.state, api.atOnce = "Stopped", true
	out, calls = run()
	expectPass(t, "a person stopped the watcher", out, flow.StateBlocked, "WatcherNotRunning", calls, "get", "state", "start")
	out, calls = run()
	expectPass(t, "the start ended at once", out, flow.StateReady, flow.ReasonSucceeded, calls, "get", "state")
}

// TestTargetOwnerLost: the gate checks the owner itself, because the owner
// check does not run while an operation is polled.
func TestTargetOwnerLost(t *testing.T) {
	c := &cloud[*Target]{in: ownedBy(&Target{}, watcher()), puts: []flow.Progress{flow.InProgress("t", 0)}}
	api := &watchers{state: "Running"}
	r := c.reconciler(TargetExtensions(api))
	expectPass(t, "the PUT begins", r.Reconcile(t.Context(), &Target{}), flow.StateInProgress, flow.ReasonInProgress, c.take(), "get", "put")
	c.in.owner.Value = nil
	expectPass(t, "the owner is gone", r.Reconcile(t.Context(), &Target{}), flow.StateBlocked, checks.ReasonOwnerNotFound, append(c.take(), api.take()...), "put", "get")
}
