package aso

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
)

// world is the state of Azure and of the objects around a resource. It has the
// operations of a flow and the APIs of all gates, and records the calls.
type world[T any] struct {
	absent, deleting bool
	inSync           bool
	owner            checks.Object
	resolver         checks.Resolver
	underWay         bool // the PUT begins an operation

	errs  map[string]error // the error of a call, by the call
	later map[string]error // replaces errs after the PUT; nil does not
	calls []string

	token  string // the stored token of an operation that a gate began
	ended  bool   // a poll finds its end
	atOnce bool   // a new operation has ended when it begins
	cancel func() // is called when an operation begins or is polled; may be nil

	throughput Throughput
	links      []Connection
	state      string              // of the watcher
	live       map[string]*LiveKey // nil until a PUT
	deleted    map[string]*LiveKey
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

func (w *world[T]) Update(_ context.Context, name string, change KeyChange) error {
	if err := w.call("update"); err != nil {
		return err
	}
	k := w.live[name]
	if change.Enabled != nil {
		k.Enabled = *change.Enabled
	}
	if change.NotBefore != nil {
		k.NotBefore = change.NotBefore
	}
	if change.Expires != nil {
		k.Expires = change.Expires
	}
	if change.KeyOps != nil {
		k.KeyOps = change.KeyOps
	}
	return nil
}

// pass runs one pass of a resource.
func (w *world[T]) pass(ctx context.Context, ext flow.Extensions[T], resource T) flow.Outcome {
	ops := flow.Operations[T]{
		Key:      func(T) string { return "a" },
		Deleting: func(T) bool { return w.deleting },
		Get: func(_ context.Context, req *flow.Request[T]) (flow.Observation, error) {
			return flow.Observation{Presence: checks.PresenceOf(!w.absent || req.Applied), InSync: w.inSync}, w.call("get")
		},
		Apply: func(context.Context, *flow.Request[T]) (flow.Progress, error) {
			err := w.call("put")
			if w.live == nil {
				w.live = rsa()
			}
			if w.later != nil {
				w.errs = w.later
			}
			if w.underWay {
				return flow.InProgress("put", 0), err
			}
			return flow.Done(), err
		},
		Delete: func(context.Context, *flow.Request[T]) (flow.Progress, error) { return flow.Done(), w.call("delete") },
	}
	if ext.OwnerCheck.Len() > 0 || w.owner.Found() || w.owner.Ref != (checks.Ref{}) {
		ops.Owner = func(context.Context, T) (checks.Object, error) { return w.owner, nil }
	}
	return flow.New("Test", ops, ext, flow.WithResolver(w.resolver), flow.WithErrors(azure.Errors())).Reconcile(ctx, resource)
}

// row is a case: a resource, the world around it, and the decision of the check.
type row[T any] struct {
	reason   string
	resource T
	in       world[T]
	want     string // "proceeds", "fails", or "blocks REASON", and the retry of a block if it is not slow
	says     string // a part of the message
	calls    string // the calls after the GET; the PUT is added where the check proceeds
}

// decide runs a pass for each row. Only the check of a point may stop it.
func decide[T any](t *testing.T, point string, ext func(*world[T]) flow.Extensions[T], rows map[string]row[T]) {
	t.Helper()
	for name, tc := range rows {
		t.Run(point+"/"+name, func(t *testing.T) {
			w := tc.in
			w.inSync = point == flow.PointPostCheck
			out := w.pass(t.Context(), ext(&w), tc.resource)
			if got := decision(t, point, out); got != tc.want || !strings.Contains(out.Message(), tc.says) {
				t.Errorf("%s: %v is %q, want %q with %q", tc.reason, out, got, tc.want, tc.says)
			}
			want := "get"
			if tc.calls != "" {
				want += ", " + tc.calls
			}
			switch {
			case point == flow.PointOwnerCheck && tc.want != "proceeds":
				want = ""
			case point != flow.PointPostCheck && tc.want == "proceeds" && !strings.Contains(tc.calls, ", put"):
				want += ", put"
			}
			if got := strings.Join(w.calls, ", "); got != want {
				t.Errorf("%s: calls %q, want %q", tc.reason, got, want)
			}
		})
	}
}

// decision describes an outcome as a row does.
func decision(t *testing.T, point string, out flow.Outcome) string {
	t.Helper()
	if out.State() == flow.StateReady {
		return "proceeds"
	}
	if out.Point() != point {
		t.Errorf("%v, want the point %s", out, point)
	}
	if out.State() == flow.StateFailed {
		return "fails"
	}
	if out.Retry() == classify.Slow {
		return "blocks " + out.Reason()
	}
	return "blocks " + out.Reason() + " " + out.Retry().String()
}

// without is the extensions of a kind without gates.
func without[T any](ext flow.Extensions[T]) func(*world[T]) flow.Extensions[T] {
	return func(*world[T]) flow.Extensions[T] { return ext }
}

// refuse returns an error of Azure.
func refuse(status int, code string) error {
	response := &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody, Request: &http.Request{Method: http.MethodGet}}
	return &azcore.ResponseError{StatusCode: status, ErrorCode: code, RawResponse: response}
}

var (
	errDown  = errors.New("the connection is down") // without a response of Azure
	ownerRef = checks.Ref{Kind: "Owner", Name: "prod"}
)

func owned(by any) checks.Object { return checks.Object{Ref: ownerRef, Value: by} }
