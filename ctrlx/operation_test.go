package ctrlx_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/flow"
)

var tokenKey = bytes.Repeat([]byte{7}, 32)

// notesTokens makes Apply begin and continue operations. It notes the object and the token of each call.
func (d *harness) notesTokens() {
	d.apply = func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
		d.asked[len(d.asked)-1] = strings.TrimSpace(string(req.Resource.UID) + " " + req.Token)
		return flow.InProgress("token of "+string(req.Resource.UID), time.Minute), nil
	}
}

// Users make objects with the stored operation of another object: they copy a
// manifest, restore a backup, or write a token of their own. No such token
// reaches the cloud.
func TestForeignOperation(t *testing.T) {
	const says, took = "False InProgress Reconciling Processing", "copy, copy token of copy"
	const copied = `Warning OperationCopied the status was copied from the object with the UID "uid": its operation is ignored`
	cases := map[string]struct {
		reason string
		opts   []ctrlx.Option
	}{
		"Copied":        {"the status of an object whose operation is under way", nil},
		"CopiedWithKey": {"a valid signature, for another object", []ctrlx.Option{ctrlx.WithTokenKey(tokenKey)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			d.notesTokens()
			d.use(d.reconciler(flow.Extensions[*App]{}, tc.opts...))
			d.pass()
			a := anApp(AppSpec{})
			a.UID, a.Status.Conditions = "copy", d.read().Status.Conditions
			d = newHarness(t, a)
			d.notesTokens()
			d.use(d.reconciler(flow.Extensions[*App]{}, tc.opts...))
			d.pass()
			d.pass()
			all := strings.Join(append(d.reported(), d.message()), "\n")
			if lines := strings.Join(d.log.took(), "\n"); !strings.Contains(lines, "msg=the operation of another object is ignored") || !strings.Contains(lines, `uid=\uid\ kind=\App.`) {
				t.Errorf("%s: the lines are\n%s", tc.reason, lines)
			}
			if d.says() != says || !strings.Contains(all, copied) || d.took() != took {
				t.Errorf("%s: the object says %q, with\n%s", tc.reason, d.says(), all)
			}
			a.ResourceVersion = ""
			d = newHarness(t, a).with(flow.Extensions[*App]{}, tc.opts...)
			d.pass()
			same(t, "the object of the record", "copy", string(recordOf(d.read().Status.Conditions).UID))
			d.pass()
			if got := d.reported(); d.stored() != "" || len(got) != 2 || got[0] != copied {
				t.Errorf("%s: after an operation that is done at once, the events are %q, and the token is %q", tc.reason, got, d.stored())
			}
			a.ResourceVersion, a.Finalizers, a.DeletionTimestamp = "", []string{ctrlx.Finalizer, theirFinalizer}, &metav1.Time{Time: noon}
			d = newHarness(t, a).with(flow.Extensions[*App]{}, tc.opts...)
			d.pass()
			if d.stored() != "" {
				t.Errorf("%s: the object is deleted, and the token stays: %q", tc.reason, d.stored())
			}
		})
	}
}

// A key is replaced in three releases: one accepts operations without a signature, one those of the previous key, and one
// its own only. A refused operation never reaches the cloud, and its record stays, whatever else the pass writes.
func TestTokenKeys(t *testing.T) {
	other := bytes.Repeat([]byte{8}, 32)
	const polls, refused = "uid token of uid", ""
	cases := map[string]struct {
		reason        string
		before, after []ctrlx.Option
		want          string // the call of Apply
	}{
		"First":    {"the operation has no signature yet", nil, []ctrlx.Option{ctrlx.WithTokenKey(tokenKey, nil)}, polls},
		"Next":     {"the release before signed it", []ctrlx.Option{ctrlx.WithTokenKey(tokenKey, nil)}, []ctrlx.Option{ctrlx.WithTokenKey(tokenKey)}, polls},
		"Previous": {"it is signed with the previous key", []ctrlx.Option{ctrlx.WithTokenKey(other)}, []ctrlx.Option{ctrlx.WithTokenKey(tokenKey, other)}, polls},
		"Unsigned": {"a person may have written it", nil, []ctrlx.Option{ctrlx.WithTokenKey(tokenKey, other)}, refused},
		"Unknown":  {"it is signed with another key", []ctrlx.Option{ctrlx.WithTokenKey(other)}, []ctrlx.Option{ctrlx.WithTokenKey(tokenKey, nil)}, refused},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{Timeout: minutes(10)}))
			d.notesTokens()
			d.with(flow.Extensions[*App]{}, tc.before...).pass()
			was := record.In(d.read().Status.Conditions).Message
			d.took()
			d.restart()
			d.with(flow.Extensions[*App]{}, tc.after...).pass()
			token, generation := ctrlx.TokenOf(d.app, d.read())
			same(t, tc.reason, tc.want, d.took())
			if known := tc.want == polls; known != (token == "token of uid" && generation == 1) || !known && (token != "" || generation != 0) {
				t.Errorf("%s: the token is %q of generation %d", tc.reason, token, generation)
			}
			if tc.want == refused {
				same(t, "the refused record", was, record.In(d.read().Status.Conditions).Message)
				if !strings.HasPrefix(d.says(), "False "+ctrlx.ReasonOperationUnverified+" Stalled") || !strings.Contains(d.message(), "no valid signature") ||
					!strings.HasPrefix(d.message(), "the condition "+ctrlx.ConditionRecord+" ") || !strings.HasSuffix(d.message(), "; if no operation is under way in the cloud, remove the condition from the status") {
					t.Errorf("%s: the object says %q: %s", tc.reason, d.says(), d.message())
				}
				inApp(func(a *App) { meta.RemoveStatusCondition(&a.Status.Conditions, ctrlx.ConditionRecord) })(d) // a person finds no operation in the cloud
				d.pass()
				same(t, tc.reason, "uid", d.took())
			}
		})
	}
	blocks := checks.Block("Busy", "it blocks before the signature is looked at")
	d := newHarness(t, anApp(AppSpec{Timeout: minutes(10)}))
	d.recorded(operating("https://evil.example.com"))
	was := record.In(d.read().Status.Conditions).Message
	d.with(checking(flow.PointEntryCheck, answers(&blocks)), ctrlx.WithTokenKey(tokenKey), ctrlx.WithTimeoutFromStart()).pass()
	same(t, "the refused record of a blocked object", was, record.In(d.read().Status.Conditions).Message)
}

// A kind that stores its own tokens leaves an operation in the record as it is: the release before may have stored it.
func TestOwnTokens(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{Timeout: minutes(10)}))
	d.recorded(operating("of the release before"))
	was := record.In(d.read().Status.Conditions).Message
	d.use(ctrlx.New("App", flow.Operations[*App]{
		Token:    func(a *App) (string, int64) { return a.Status.LastHandled, 1 },
		SetToken: func(_ context.Context, a *App, token string, _ int64) error { a.Status.LastHandled = token; return nil },
		Apply: func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
			d.note("put %s", req.Token)
			return flow.InProgress("mine", time.Minute), nil
		},
	}, flow.Extensions[*App]{}, d.clock()...))
	d.pass()
	d.pass()
	same(t, "the calls", "put , put mine", d.took())
	same(t, "the record", was, record.In(d.read().Status.Conditions).Message)
}

// An Apply that replaces the whole status in memory does not remove the stored
// operation. The next process polls it.
func TestOperationOutlivesTheStatus(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	d.notesTokens()
	begins := d.apply
	d.apply = func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
		p, err := begins(ctx, req)
		req.Resource.Status = AppStatus{LastHandled: req.Token}
		return p, err
	}
	d.use(d.reconciler(flow.Extensions[*App]{}))
	d.pass()
	d.pass()
	d.restart()
	d.use(d.reconciler(flow.Extensions[*App]{}))
	d.pass()
	same(t, "the tokens of the calls", "uid, uid token of uid, uid token of uid", d.took())
	done(d)
	if d.pass(); d.says() != "True Succeeded" || d.stored() != "" {
		t.Errorf("the object says %q, and %q is stored", d.says(), d.stored())
	}
}

// An object that is deleted and created again while an operation begins gets nothing of the old one: no token, no status.
func TestMadeAnew(t *testing.T) {
	cases := map[string]struct {
		reason string
		ends   bool // at once
		breaks bool // the API server fails while the token is being kept
	}{
		"Token":  {reason: "the token is of an operation of another object"},
		"Status": {reason: "the status is of another object", ends: true},
		"Broken": {reason: "a token that could not be kept with its object is not kept with the next one", breaks: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, freshApp("first"))
			put := func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
				uid := string(req.Resource.UID)
				d.note("%s", strings.TrimSpace(uid+" "+req.Token))
				if uid == "first" {
					d.delete(freshApp("first"))
					d.create(freshApp("second"))
					if tc.breaks {
						d.refuse = apierrors.NewInternalError(errBroken)
					}
				}
				req.Resource.Status.LastHandled = uid
				if uid == "first" && tc.ends || req.Token != "" {
					return flow.Done(), nil
				}
				return flow.InProgress("token of "+uid, time.Minute), nil
			}
			d.use(ctrlx.New("App", flow.Operations[*App]{Apply: put}, flow.Extensions[*App]{}, d.clock()...))
			for i := 0; i < 6 && d.says() != "True Succeeded"; i++ {
				_ = d.try()
				d.refuse = nil
			}
			a := d.read()
			if a.UID != "second" || a.Status.LastHandled != "second" || d.says() != "True Succeeded" || d.stored() != "" {
				t.Errorf("%s: %s says %q: %+v", tc.reason, a.UID, d.says(), a.Status)
			}
			if got := d.took(); !strings.HasPrefix(got, "first, second, second token of second") || strings.Contains(got, "token of first") {
				t.Errorf("%s: the calls are %q", tc.reason, got)
			}
		})
	}
}

// A leader that was paused inside of an operation resumes after another process
// has led. It changes the stored operation only if it is the one that its pass
// read. The next pass continues what the other process has stored.
func TestOvertaken(t *testing.T) {
	other := func(token string) func(*harness) { return func(d *harness) { d.recorded(operating(token)) } }
	cases := map[string]struct {
		reason   string
		before   string         // the stored token that the pass reads
		deleting bool           // a user deletes the object
		during   func(*harness) // another process, while the operation is called
		returns  flow.Progress  // of the operation
		stored   string         // the token after the pass
		says     string         // Ready after the pass
		polls    string         // the token that the next pass gives to the operation
	}{
		"Started": {reason: "both processes started an operation: the stored one is known to the leader", during: other("theirs"),
			returns: flow.InProgress("ours", 0), stored: "theirs", says: "nothing", polls: "theirs"},
		"Polled": {reason: "the cloud gave a new token for an operation that the leader has replaced", before: "ours", during: other("theirs"),
			returns: flow.InProgress("ours again", 0), stored: "theirs", says: "nothing", polls: "theirs"},
		"Done": {reason: "the end of our operation is not the end of theirs, so the object is not Ready", before: "ours", during: other("theirs"),
			returns: flow.Done(), stored: "theirs", says: "nothing", polls: "theirs"},
		"Ended": {reason: "the leader has seen the end of the operation", before: "ours", during: other(""),
			returns: flow.InProgress("ours again", 0), stored: "", says: "nothing", polls: ""},
		"DeletedOurs": {reason: "the end of our DELETE is not the end of theirs, so the finalizer stays", before: "delete:ours", deleting: true, during: other("delete:theirs"),
			returns: flow.Done(), stored: "delete:theirs", says: "nothing", polls: "theirs"},
		"Unrelated": {reason: "another controller wrote a condition of its own", before: "ours",
			during: func(d *harness) {
				a := d.read()
				meta.SetStatusCondition(&a.Status.Conditions, metav1.Condition{Type: "Theirs", Status: "True", Reason: "Other", LastTransitionTime: metav1.NewTime(noon)})
				must(d.t, d.api.Status().Update(context.Background(), a))
			},
			returns: flow.InProgress("ours again", 0), stored: "ours again", says: "nothing", polls: "ours again"},
		"Clock": {reason: "the other process changed another part of the record", before: "ours",
			during: func(d *harness) {
				d.recorded(func(r *record.Record) { r.Clock = &record.Clock{Since: metav1.NewTime(noon), Self: "x"} })
			},
			returns: flow.InProgress("ours again", 0), stored: "ours again", says: "nothing Processing", polls: "ours again"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			if tc.before != "" {
				d.recorded(operating(tc.before))
			}
			if tc.deleting {
				must(t, d.api.Delete(t.Context(), d.read()))
			}
			var tokens []string
			operation := func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
				if tokens = append(tokens, req.Token); len(tokens) > 1 {
					return flow.InProgress("next", 0), nil
				}
				tc.during(d)
				return tc.returns, nil
			}
			d.apply, d.remove = operation, operation
			d.use(d.reconciler(flow.Extensions[*App]{}))
			if again := d.pass(); again <= 0 || again > minutes(1).Duration {
				t.Errorf("%s: the next pass comes in %s", tc.reason, again)
			}
			lines := strings.Join(d.log.took(), "\n")
			same(t, tc.reason, tc.polls != "ours again", strings.Contains(lines, "another process has changed the stored operation"))
			same(t, tc.reason, tc.stored+"; "+tc.says, d.stored()+"; "+d.says())
			d.pass()
			if len(tokens) != 2 || tokens[1] != tc.polls {
				t.Errorf("%s: the operation got the tokens %q, and then wants %q", tc.reason, tokens, tc.polls)
			}
		})
	}
}

// The API server did not take the record of an operation, which this process then
// knows alone. Another process that leads meanwhile has stored its own operation,
// and that one counts.
func TestOvertakenBeforeStored(t *testing.T) {
	cases := map[string]struct {
		reason string
		before string // the stored token
		other  bool   // another process stores a token
		moves  bool   // the object leaves the cache meanwhile, and returns
		stored string // the token in the end
	}{
		"Overtaken":      {reason: "the leader has another operation", other: true, stored: "theirs"},
		"OvertakenLater": {reason: "the same for the second token of an operation", before: "ours", other: true, stored: "theirs"},
		"OvertakenMoved": {reason: "another shard had the object meanwhile", other: true, moves: true, stored: "theirs"},
		"Moved":          {reason: "another shard had the object, and has stored nothing", moves: true, stored: "ours 2"},
		"Alone":          {reason: "the next pass stores it", stored: "ours 2"},
		"AloneLater":     {reason: "the next pass stores the second token", before: "ours", stored: "ours 2"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			if tc.before != "" {
				d.recorded(operating(tc.before))
			}
			d.apply = func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
				if req.Token == "theirs" {
					return flow.InProgress("theirs", 0), nil
				}
				return flow.InProgress("ours 2", 0), nil
			}
			d.use(d.reconciler(flow.Extensions[*App]{}))
			d.refuse = apierrors.NewInternalError(errBroken)
			if d.try() == nil {
				t.Fatal("the status is written")
			}
			d.refuse = nil
			if tc.other {
				d.recorded(operating("theirs"))
			}
			if tc.moves {
				moved := d.vanish()
				d.pass()
				moved.ResourceVersion = ""
				d.create(moved)
			}
			d.pass()
			d.pass()
			same(t, tc.reason, tc.stored, d.stored())
		})
	}
}

// The answer to the write of a token is lost, and a link polls at once. The record has the
// first token then, which is no operation of another process.
func TestSecondTokenAfterTimeout(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	d.apply = func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
		if req.Token == "" {
			return flow.InProgress("first", 0), nil
		}
		return flow.InProgress("second", 0), nil
	}
	polls := chain.Named("polls", func(next flow.Handler[*App]) flow.Handler[*App] {
		return func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
			if p, err := next(ctx, req); err != nil || p.Token() != "first" {
				return p, err
			}
			return next(ctx, req)
		}
	})
	d.use(d.reconciler(flow.Extensions[*App]{Apply: chain.New(polls)}))
	d.afterStatus = func() error {
		d.afterStatus = nil
		return errBroken
	}
	_ = d.try()
	same(t, "the stored token", "second", d.stored())
	d.pass()
	same(t, "after the next pass, the stored token", "second", d.stored())
}

// A user who may write the status writes any text as the UID.
func TestQuoted(t *testing.T) {
	cases := map[string]struct{ reason, text, want string }{
		"Line": {"a line feed forges lines of output", "a\nb", `"a\nb"`},
		"Long": {"a log line has a bound", strings.Repeat("x", 30_000), `"` + strings.Repeat("x", 100) + `"`},
		"Cut":  {"the cut is inside of a letter", strings.Repeat("x", 99) + "ä", `"` + strings.Repeat("x", 99) + `\xc3"`},
	}
	for _, tc := range cases {
		same(t, tc.reason, tc.want, ctrlx.Quoted(tc.text))
	}
}
