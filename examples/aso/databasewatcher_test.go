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

// connections are those of the resource that a link leads to. An approval that begins gets the token "approval".
type connections struct {
	kept[*SharedPrivateLink]
	all     []Connection
	atOnce  bool             // an approval is over when it has begun
	refuses map[string]error // what a call gives, by its name
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

// become puts all connections into a state.
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

// finds is a resolver that always gives the same.
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
		says     string
		calls    []string
		aso      decision
		because  string
	}{
		"approved": {reason: "it is open", to: sqlServer, resolver: there, api: &api{all: opened("Approved")},
			want: proceeds, calls: []string{"list /servers/sales"}, aso: proceeds},
		"approved, spelled otherwise": {reason: "a state is a word", to: sqlServer, resolver: there, api: &api{all: opened(" APPROVED ")},
			want: proceeds, calls: []string{"list /servers/sales"}, aso: blocks,
			because: "the case of letters and white space are no part of a state"},
		"pending": {reason: "it is ours to approve", to: sqlServer, resolver: there, api: &api{all: opened("Pending")},
			want: blocks, with: checks.ReasonApprovalPending, says: "is being approved",
			calls: []string{"list /servers/sales", "approve c1"}, aso: blocks},
		"pending, spelled otherwise": {reason: "a state is a word", to: sqlServer, resolver: there, api: &api{all: opened("pending")},
			want: blocks, with: checks.ReasonApprovalPending, calls: []string{"list /servers/sales", "approve c1"}, aso: blocks},
		"rejected": {reason: "somebody did that on purpose", to: sqlServer, resolver: there, api: &api{all: opened("Rejected")},
			want: blocks, with: checks.ReasonApprovalRejected, retry: classify.OnChange, says: "was rejected",
			calls: []string{"list /servers/sales"}, aso: blocks},
		"disconnected": {reason: "somebody did that on purpose", to: sqlServer, resolver: there, api: &api{all: opened("Disconnected")},
			want: blocks, with: checks.ReasonApprovalDisconnected, retry: classify.OnChange,
			calls: []string{"list /servers/sales"}, aso: blocks},
		"a new word": {reason: "only a pending one is approved", to: sqlServer, resolver: there, api: &api{all: opened("Reviewing")},
			want: blocks, with: checks.ReasonApprovalUnknown, says: "Reviewing", calls: []string{"list /servers/sales"}, aso: blocks},
		"blank": {reason: "only a pending one is approved", to: sqlServer, resolver: there, api: &api{all: opened("")},
			want: blocks, with: checks.ReasonApprovalAbsent, calls: []string{"list /servers/sales"}, aso: blocks},
		"none yet": {reason: "Azure opens it when the link is there", to: sqlServer, resolver: there, api: &api{},
			want: blocks, with: checks.ReasonApprovalAbsent, calls: []string{"list /servers/sales"}, aso: blocks},
		"another link's": {reason: "sales-eu is not sales", to: sqlServer, resolver: there,
			api: &api{all: []Connection{
				{ID: "c2", Name: "sales-eu-" + someGUID, Status: "Approved"},
				{ID: "c3", Name: "sales", Status: "Approved"},
				{ID: "c4", Name: "sales-" + someGUID + "0", Status: "Approved"},
			}},
			want: blocks, with: checks.ReasonApprovalAbsent, calls: []string{"list /servers/sales"}, aso: blocks},
		"among others": {reason: "it is found", to: sqlServer, resolver: there,
			api:  &api{all: append([]Connection{{ID: "c2", Name: "sales-eu-" + someGUID, Status: "Rejected"}}, opened("Approved")...)},
			want: proceeds, calls: []string{"list /servers/sales"}, aso: proceeds},
		"may not approve": {reason: "a person has to", to: sqlServer, resolver: there,
			api:  &api{all: opened("Pending"), refuses: map[string]error{"approve": refuse(403, "AuthorizationFailed")}},
			want: blocks, with: checks.ReasonApprovalPending, says: "must be approved by a person",
			calls: []string{"list /servers/sales", "approve c1"}, aso: blocks},
		"may not, for another reason": {reason: "that is not about permission", to: sqlServer, resolver: there,
			api:  &api{all: opened("Pending"), refuses: map[string]error{"approve": refuse(403, "ScopeLocked")}},
			want: fails, calls: []string{"list /servers/sales", "approve c1"}, aso: fails},
		"approval fails": {reason: "nothing was begun", to: sqlServer, resolver: there,
			api:  &api{all: opened("Pending"), refuses: map[string]error{"approve": errDown}},
			want: fails, calls: []string{"list /servers/sales", "approve c1"}, aso: fails},
		"list fails": {reason: "nothing is known", to: sqlServer, resolver: there,
			api:  &api{all: opened("Approved"), refuses: map[string]error{"list": refuse(403, "AuthorizationFailed")}},
			want: fails, calls: []string{"list /servers/sales"}, aso: fails},
		"token not kept": {reason: "it would be approved again", to: sqlServer, resolver: there,
			api:  &api{all: opened("Pending"), kept: kept[*SharedPrivateLink]{lost: errDown}},
			want: fails, calls: []string{"list /servers/sales", "approve c1"}},
		"under way": {reason: "it is followed to its end", to: sqlServer, resolver: there,
			api:  &api{all: opened("Pending"), kept: kept[*SharedPrivateLink]{token: "approval"}},
			want: blocks, with: checks.ReasonApprovalPending, says: "is being approved", calls: []string{"poll approval"}, aso: blocks},
		"under way, no answer": {reason: "it may still go on", to: sqlServer, resolver: there,
			api:  &api{all: opened("Pending"), kept: kept[*SharedPrivateLink]{token: "approval", polls: map[string]polled{"approval": {err: errDown}}}},
			want: fails, calls: []string{"poll approval"}, aso: fails},
		"by ID": {reason: "it is somebody else's", to: checks.Ref{ID: "/servers/x"}, resolver: there,
			api: &api{all: opened("Pending")}, want: proceeds, aso: proceeds},
		"to nothing": {reason: "Azure says what is wrong with that", resolver: there, api: &api{all: opened("Pending")},
			want: proceeds, aso: proceeds},
		"not found": {reason: "it may still come", to: sqlServer, resolver: finds(checks.Object{Ref: sqlServer}, nil), api: &api{},
			want: blocks, with: checks.ReasonReferenceNotFound, says: "Server sales", aso: fails,
			because: "what is not there yet is waited for and no error"},
		"a nil pointer": {reason: "that is not found", to: sqlServer,
			resolver: finds(checks.Object{Ref: sqlServer, Value: (*Watcher)(nil)}, nil), api: &api{},
			want: blocks, with: checks.ReasonReferenceNotFound},
		"not in Azure yet": {reason: "it has no ID", to: sqlServer,
			resolver: finds(checks.Object{Ref: sqlServer, Value: "x"}, nil), api: &api{},
			want: blocks, with: checks.ReasonReferenceNotReady, says: "Server sales", aso: blocks},
		"resolver fails": {reason: "nothing is known", to: sqlServer, resolver: finds(checks.Object{}, errDown), api: &api{},
			want: fails, aso: fails},
		"no resolver": {reason: "it cannot be looked up", to: sqlServer, api: &api{}, want: fails},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := subject[*SharedPrivateLink]{resource: sharedLink(tc.to), resolver: tc.resolver}
			tr := row[*SharedPrivateLink]{reason: tc.reason, in: in, want: tc.want, with: tc.with, retry: tc.retry, says: tc.says, aso: tc.aso, because: tc.because}
			if why := tr.unexplained(); why != "" {
				t.Error(why)
			}
			// A fake of its own for each, since the first leaves a token.
			alone, whole := *tc.api, *tc.api
			res, err := ask(t, flow.PointPostCheck, SharedPrivateLinkExtensions(&alone), in)
			if tc.want == blocks && tc.retry == classify.Unset {
				tc.retry = classify.Slow
			}
			got := row[*SharedPrivateLink]{want: decisionOf(res, err), with: res.Reason(), retry: res.Retry()}
			if got.want != tc.want || got.with != tc.with || got.retry != tc.retry || !strings.Contains(res.Message(), tc.says) {
				t.Errorf("%s: %v, %v, want that it %s with reason %q, %s, and says %q", tc.reason, res, err, tc.want, tc.with, tc.retry, tc.says)
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

// One approval is begun, however many passes it takes and however often the line is down; a failed one is begun again.
func TestSharedPrivateLinkApproval(t *testing.T) {
	api := &connections{all: opened("Pending"), refuses: map[string]error{"approve": refuse(403, "AuthorizationFailed")}}
	api.polls = map[string]polled{}
	c := &cloud[*SharedPrivateLink]{inSync: true}
	c.in.resolver = finds(checks.Object{Ref: sqlServerID, Value: "the server"}, nil)
	r, link := c.reconciler(SharedPrivateLinkExtensions(api)), sharedLink(sqlServer)
	run := func() (flow.Outcome, []string) {
		out := r.Reconcile(t.Context(), link)
		return out, append(c.take(), api.take()...)
	}
	list, approve, poll := "list /servers/sales", "approve c1", "poll approval"

	out, calls := run()
	come(t, "it may not: a person has to", out, flow.StateBlocked, checks.ReasonApprovalPending, calls, "get", list, approve)
	api.refuses = nil
	out, calls = run()
	come(t, "a person gave it permission", out, flow.StateBlocked, checks.ReasonApprovalPending, calls, "get", list, approve)
	for range 3 {
		out, calls = run()
		come(t, "it goes on", out, flow.StateBlocked, checks.ReasonApprovalPending, calls, "get", poll)
	}
	api.polls["approval"] = polled{err: refuse(503, "ServiceUnavailable")}
	out, calls = run()
	come(t, "no answer is an error, and no end", out, flow.StateFailed, "ServiceUnavailable", calls, "get", poll)
	api.polls["approval"] = polled{done: true, err: refuse(200, "InternalServerError")}
	out, calls = run()
	come(t, "it ended, and failed", out, flow.StateFailed, "InternalServerError", calls, "get", poll)
	out, calls = run()
	come(t, "so it is begun again", out, flow.StateBlocked, checks.ReasonApprovalPending, calls, "get", list, approve)
	api.polls["approval"] = polled{done: true}
	api.become("Approved")
	out, calls = run()
	come(t, "it is done, and looked at", out, flow.StateReady, flow.ReasonSucceeded, calls, "get", poll, list)
	out, calls = run()
	come(t, "and it stays so", out, flow.StateReady, flow.ReasonSucceeded, calls, "get", list)
	api.become("Rejected")
	out, calls = run()
	come(t, "until a person takes it back", out, flow.StateBlocked, checks.ReasonApprovalRejected, calls, "get", list)

	api.become("Pending")
	api.atOnce = true
	out, calls = run()
	come(t, "it is over at once, and looked at by the next pass", out, flow.StateBlocked, checks.ReasonApprovalPending, calls, "get", list, approve)
	out, calls = run()
	come(t, "which finds it approved", out, flow.StateReady, flow.ReasonSucceeded, calls, "get", list)
}

func TestSharedPrivateLinkWaits(t *testing.T) {
	for name, found := range map[string]checks.Object{"not found": {Ref: sqlServer}, "not in Azure yet": {Ref: sqlServer, Value: "x"}} {
		in := subject[*SharedPrivateLink]{resource: sharedLink(sqlServer), resolver: finds(found, nil)}
		res, err := ask(t, flow.PointPostCheck, SharedPrivateLinkExtensions(&connections{}), in)
		if diff := cmp.Diff([]checks.Ref{sqlServer}, res.WaitingFor()); diff != "" || err != nil {
			t.Errorf("%s: %v, waits for, -want, +got:\n%s", name, err, diff)
		}
	}
}

// watchers is where the watcher of a target runs. A start that begins gets the token "start".
type watchers struct {
	kept[*Target]
	state   string
	atOnce  bool // a start is over when it has begun
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
		"cannot be read": {row[*Target]{reason: "nothing is known", in: owned(watcher()), want: fails, aso: fails},
			watchers{state: "Running", refuses: map[string]error{"state": errDown}}, []string{"state"}},
		"cannot be started": {row[*Target]{reason: "nothing was begun", in: owned(watcher()), want: fails, aso: fails},
			watchers{state: "Stopped", refuses: map[string]error{"start": refuse(409, "Conflict")}}, []string{"state", "start"}},
		"nowhere to write to": {row[*Target]{reason: "Azure would refuse to start it", in: owned(&Watcher{}), want: blocks,
			with: "WatcherWithoutDatastore", aso: blocks},
			watchers{state: "Stopped"}, []string{"state"}},
		"nowhere, and running": {row[*Target]{reason: "it runs all the same", in: owned(&Watcher{}), want: proceeds, aso: proceeds},
			watchers{state: "Running"}, []string{"state"}},
		"token not kept": {row[*Target]{reason: "it would be started again", in: owned(watcher()), want: fails},
			watchers{state: "Stopped", kept: kept[*Target]{lost: errDown}}, []string{"state", "start"}},
		"under way": {row[*Target]{reason: "it is followed to its end, whatever the state says", in: owned(watcher()),
			want: blocks, with: "WatcherNotRunning", aso: blocks},
			watchers{state: "Running", kept: kept[*Target]{token: "start"}}, []string{"poll start"}},
		"under way, no answer": {row[*Target]{reason: "it may still go on", in: owned(watcher()), want: fails, aso: fails},
			watchers{kept: kept[*Target]{token: "start", polls: map[string]polled{"start": {err: errDown}}}}, []string{"poll start"}},
		"started": {row[*Target]{reason: "that is the word of Azure", in: owned(watcher()), want: proceeds, aso: proceeds},
			watchers{state: "Stopped", kept: kept[*Target]{token: "start", polls: map[string]polled{"start": {done: true}}}}, []string{"poll start"}},
		"owner by ID": {row[*Target]{reason: "it is not ours to start", want: proceeds, aso: proceeds,
			in: subject[*Target]{resource: &Target{}, owner: checks.Object{Ref: checks.Ref{ID: "/watchers/w"}}}}, watchers{state: "Stopped"}, nil},
	}
	const mistake = "a target of nothing is never watched, which nobody would find out"
	for name, o := range map[string]struct {
		owner checks.Object
		with  string
		retry classify.Retry
	}{
		"none":          {checks.Object{}, checks.ReasonOwnerNotSet, classify.OnChange},
		"not found":     {checks.Object{Ref: somewhere}, checks.ReasonOwnerNotFound, classify.Fast},
		"a nil pointer": {checks.Object{Ref: somewhere, Value: (*Watcher)(nil)}, checks.ReasonOwnerNotFound, classify.Fast},
		"another kind":  {checks.Object{Ref: somewhere, Value: &ManagedCluster{}}, checks.ReasonOwnerWrongKind, classify.OnChange},
	} {
		tc := row[*Target]{reason: "it is a mistake", in: subject[*Target]{resource: &Target{}, owner: o.owner, lone: true},
			want: blocks, with: o.with, retry: o.retry, aso: proceeds, because: mistake}
		switch name {
		case "not found":
			tc.aso, tc.because = fails, "an owner that is not there yet is waited for and no error"
		case "a nil pointer":
			tc.aso, tc.because = unread, ""
		}
		cases["owner "+name] = struct {
			row[*Target]
			api   watchers
			calls []string
		}{tc, watchers{state: "Running"}, nil}
		tc.in.lone = false
		decide(t, flow.PointOwnerCheck, TargetExtensions(&watchers{}), map[string]row[*Target]{"owner " + name: tc})
	}
	for _, word := range words {
		for _, state := range append(spellings(word), "", " ") {
			tc := row[*Target]{reason: "the watcher is on its way", in: owned(watcher()), want: blocks, with: "WatcherNotRunning", aso: blocks}
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
				tc.because = "the case of letters and white space are no part of a state"
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
			lone := tc.in.lone
			tc.in.lone = true
			alone, whole := tc.api, tc.api
			decide(t, flow.PointPostCheck, TargetExtensions(&alone), map[string]row[*Target]{"alone": tc.row})
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

// A watcher is started once, however long that takes, and again if somebody stops it.
func TestTargetStart(t *testing.T) {
	api := &watchers{state: "Stopped", refuses: map[string]error{"start": errDown}, kept: kept[*Target]{polls: map[string]polled{}}}
	c := &cloud[*Target]{in: ownedBy(&Target{}, watcher()), inSync: true}
	r, target := c.reconciler(TargetExtensions(api)), &Target{Name: "sales"}
	run := func() (flow.Outcome, []string) {
		out := r.Reconcile(t.Context(), target)
		return out, append(c.take(), api.take()...)
	}
	out, calls := run()
	come(t, "it could not be begun", out, flow.StateFailed, out.Reason(), calls, "get", "state", "start")
	api.refuses = nil
	out, calls = run()
	come(t, "it is begun", out, flow.StateBlocked, "WatcherNotRunning", calls, "get", "state", "start")
	for range 3 {
		out, calls = run()
		come(t, "it goes on", out, flow.StateBlocked, "WatcherNotRunning", calls, "get", "poll start")
	}
	api.polls["start"] = polled{done: true, err: refuse(200, "WatcherStartFailed")}
	out, calls = run()
	come(t, "it ended, and failed", out, flow.StateFailed, "WatcherStartFailed", calls, "get", "poll start")
	api.state = "Stopped"
	out, calls = run()
	come(t, "so it is begun again", out, flow.StateBlocked, "WatcherNotRunning", calls, "get", "state", "start")
	api.polls["start"] = polled{done: true}
	out, calls = run()
	come(t, "it is done", out, flow.StateReady, flow.ReasonSucceeded, calls, "get", "poll start")
	api.state = "Running"
	out, calls = run()
	come(t, "it runs", out, flow.StateReady, flow.ReasonSucceeded, calls, "get", "state")
	api.state, api.atOnce = "Stopped", true
	out, calls = run()
	come(t, "somebody stopped it", out, flow.StateBlocked, "WatcherNotRunning", calls, "get", "state", "start")
	out, calls = run()
	come(t, "the start was over at once", out, flow.StateReady, flow.ReasonSucceeded, calls, "get", "state")
}

// The owner check does not run while an operation is polled, so the gate asks for the owner itself.
func TestTargetOwnerLost(t *testing.T) {
	c := &cloud[*Target]{in: ownedBy(&Target{}, watcher()), puts: []flow.Progress{flow.InProgress("t", 0)}}
	api := &watchers{state: "Running"}
	r := c.reconciler(TargetExtensions(api))
	come(t, "the PUT begins", r.Reconcile(t.Context(), &Target{}), flow.StateInProgress, flow.ReasonInProgress, c.take(), "get", "put")
	c.in.owner.Value = nil
	come(t, "the owner is gone", r.Reconcile(t.Context(), &Target{}), flow.StateBlocked, checks.ReasonOwnerNotFound, append(c.take(), api.take()...), "put")
}
