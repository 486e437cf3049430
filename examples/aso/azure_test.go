package aso

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// world is the state of Azure and of the objects around a resource. It has the
// operations of a flow and the APIs of all gates, and records the calls.
type world[T any] struct {
	absent   bool
	owner    checks.Object
	resolver checks.Resolver
	underWay bool // the PUT begins an operation

	errs  map[string]error // the error of a call, by the call
	calls []string

	token  string // the stored token of an operation that a gate began
	ended  bool   // a poll finds its end
	atOnce bool   // a new operation has ended when it begins
	cancel func() // is called when an operation begins or is polled; may be nil

	throughput Throughput
	links      []Connection
	state      string // of the watcher
	live       map[string]*LiveKey
	deleted    map[string]*LiveKey
	change     KeyChange // the last update of a key
}

func (w *world[T]) call(what string) error {
	w.calls = append(w.calls, what)
	return w.errs[strings.Fields(what)[0]]
}

func (w *world[T]) begin(what, token string) (string, error) {
	if w.cancel != nil {
		w.cancel()
	}
	err := w.call(what)
	if w.atOnce {
		return "", err
	}
	return token, err // also after an error, so that a caller must look at it
}

func (w *world[T]) Token(T) string { return w.token }

func (w *world[T]) SetToken(ctx context.Context, _ T, token string) error {
	w.calls = append(w.calls, map[bool]string{true: "store " + token, false: "forget"}[token != ""])
	if err := errors.Join(ctx.Err(), w.errs["store"]); err != nil {
		return err
	}
	w.token = token
	return nil
}

func (w *world[T]) Poll(_ context.Context, token string) (bool, error) {
	_, err := w.begin("poll "+token, "")
	return w.ended, err
}

func (w *world[T]) Throughput(context.Context, *SQLDatabase) (Throughput, error) {
	return w.throughput, w.call("throughput")
}

func (w *world[T]) Migrate(_ context.Context, _ *SQLDatabase, autoscale bool) error {
	return w.call("migrate to " + map[bool]string{true: "autoscale", false: "fixed"}[autoscale])
}

func (w *world[T]) Connections(_ context.Context, id string) ([]Connection, error) {
	return w.links, w.call("list " + id)
}

func (w *world[T]) Approve(_ context.Context, c Connection) (string, error) {
	return w.begin("approve "+c.ID, "approval")
}

func (w *world[T]) State(context.Context, *Watcher) (string, error) { return w.state, w.call("state") }

func (w *world[T]) Start(context.Context, *Watcher) (string, error) { return w.begin("start", "start") }

func (w *world[T]) Sync(context.Context, *BackupVaultsBackupInstance) (string, error) {
	return w.begin("sync", "sync")
}

func (w *world[T]) Open(context.Context, *VaultKey) (Keys, error) {
	if err := w.errs["open"]; err != nil {
		return nil, err
	}
	return w, nil
}

func (w *world[T]) Get(_ context.Context, name string) (*LiveKey, error) {
	if err := w.call("key"); err != nil || w.live[name] != nil {
		return w.live[name], err
	}
	return nil, refuse(404, "KeyNotFound")
}

func (w *world[T]) GetDeleted(_ context.Context, name string) error {
	if err := w.call("deleted"); err != nil || w.deleted[name] != nil {
		return err
	}
	return refuse(404, "KeyNotFound")
}

func (w *world[T]) Recover(context.Context, string) error { return w.call("recover") }

func (w *world[T]) Purge(context.Context, string) error { return w.call("purge") }

func (w *world[T]) Update(_ context.Context, _ string, change KeyChange) error {
	w.change = change
	return w.call("update")
}

// pass runs one pass of a resource, with a PUT.
func (w *world[T]) pass(ctx context.Context, ext flow.Extensions[T], resource T) flow.Outcome {
	ops := flow.Operations[T]{
		Key: func(T) string { return "a" },
		Apply: func(context.Context, *flow.Request[T]) (flow.Progress, error) {
			err := w.call("put")
			if w.underWay {
				return flow.InProgress("put", 0), err
			}
			return flow.Done(), err
		},
	}
	return flow.New("Test", ops, ext, flow.WithErrors(azure.Errors())).Reconcile(ctx, resource)
}

// row is a case: a resource, the world around it, and the decision of the check.
type row[T any] struct {
	reason   string
	resource T
	in       world[T]
	want     string // "proceed", "fail", or "block REASON", and the retry of a block if it is not slow
	says     string // a part of the message or of the error
	calls    string
}

// decide runs a chain of checks for each row.
func decide[T any](t *testing.T, c func(*world[T]) checks.Chain[T], rows map[string]row[T]) {
	t.Helper()
	for name, tc := range rows {
		t.Run(name, func(t *testing.T) {
			w := tc.in
			res, err := w.ask(t.Context(), c(&w), tc.resource)
			got, text := decision(res), res.Message()
			if err != nil {
				got, text = "fail", err.Error()
			}
			if got != tc.want || !strings.Contains(text, tc.says) {
				t.Errorf("%s: %s: %s, want %q with %q", tc.reason, got, text, tc.want, tc.says)
			}
			if got := strings.Join(w.calls, ", "); got != tc.calls {
				t.Errorf("%s: calls %q, want %q", tc.reason, got, tc.calls)
			}
		})
	}
}

func (w *world[T]) ask(ctx context.Context, c checks.Chain[T], resource T) (checks.Result, error) {
	req := checkstest.Request(resource, checkstest.OwnedBy(w.owner))
	req.Presence, req.Resolver = checks.PresenceOf(!w.absent), w.resolver
	return checks.Compose(c)(ctx, req)
}

// answer returns the result of a chain of checks, which must not fail.
func answer[R any](t *testing.T, c chain.Chain[R, checks.Result], req R) checks.Result {
	t.Helper()
	res, err := checks.Compose(c)(t.Context(), req)
	if err != nil {
		t.Error(err)
	}
	return res
}

// decision describes a result as a row does.
func decision(res checks.Result) string {
	verdict, reason := res.Describe()
	if res.Blocked() && res.Retry() != classify.Slow {
		reason += " " + res.Retry().String()
	}
	return strings.TrimSpace(verdict + " " + reason)
}

// always returns a chain that needs no API.
func always[T any](c checks.Chain[T]) func(*world[T]) checks.Chain[T] {
	return func(*world[T]) checks.Chain[T] { return c }
}

// refuse returns an error of Azure.
func refuse(status int, code string) error {
	return (&sim.Refusal{Status: status, Code: code}).ResponseError()
}

var (
	errDown  = errors.New("the connection is down") // without a response of Azure
	ownerRef = checks.Ref{Kind: "Owner", Name: "prod"}
)

func owned(by any) checks.Object { return checks.Object{Ref: ownerRef, Value: by} }
