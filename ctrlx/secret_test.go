package ctrlx_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/ctrlx/inuse"
	"github.com/windlass-go/windlass/flow"
)

// TestSecretData verifies that a typed check and Apply read the data of a Secret, whether the manager holds it or its
// metadata only: a missing Secret and a missing key block, each change of the data causes a pass with the new data, the
// check and Apply share one request, and a restart is quiet.
func TestSecretData(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		opts   []ctrlx.Option
		gets   bool // requests for the Secret
	}{
		"Metadata": {"the manager watches the metadata", nil, true},
		"Data":     {"the manager watches whole Secrets", []ctrlx.Option{ctrlx.WithWatchedKinds(schema.GroupKind{Kind: "Secret"})}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			var gets, passes atomic.Int64
			o.traffic.answers(func(_ string, req *http.Request) *http.Response {
				if strings.HasSuffix(req.URL.Path, "/secrets/key") {
					gets.Add(1)
				}
				return nil
			})
			ops := o.operations()
			ops.Apply = func(ctx context.Context, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
				secret, err := ctrlx.Read[*corev1.Secret](ctx, theKey)
				if err != nil {
					return flow.Progress{}, err
				}
				return flow.Done(), o.note("put %s %s", req.Resource.Name, secret.Data["key"])
			}
			refs := func(*testv1.Database) []checks.Ref { return []checks.Ref{theKey} }
			needs := checks.ReferenceIs("key", refs, func(_ *testv1.Database, s *corev1.Secret) string {
				if len(s.Data["key"]) == 0 {
					return "it has no key"
				}
				return ""
			})
			start := func() {
				r := ctrlx.New("Database", ops, extensions{GetCheck: chain.New(needs)}, append(tc.opts, ctrlx.WithPollInterval(time.Hour))...)
				o.start(r.WithPostReadHook(func(ctxt, client.Client, *testv1.Database) error {
					passes.Add(1)
					return nil
				}))
			}
			start()
			o.database("db", "")
			o.until("db", "False ReferenceNotFound")
			secret := o.secret("")
			o.until("db", "False ReferenceUnsuitable")
			for _, data := range []string{"a", "b"} {
				o.rotate(secret, data)
				o.eventually(tc.reason, func() bool { return o.count("put db "+data) > 0 })
				o.until("db", "True Succeeded")
			}
			o.stop()
			if n := gets.Load(); tc.gets != (n > 0) || n > passes.Load() {
				t.Errorf("%s: %d requests for the Secret in %d passes", tc.reason, n, passes.Load())
			}
			start()
			o.database("other", "")
			o.until("other", "True Succeeded")
			if n := o.count("put db b"); n != 1 {
				t.Errorf("%s: %d calls of Apply, want one, none of them after the restart", tc.reason, n)
			}
			must(t, api.Delete(t.Context(), secret))
			o.until("db", "False ReferenceNotFound")
		})
	}
}

// TestUsedSecret verifies that the finalizer of a guard on a Secret causes no
// pass: neither of its first user nor of a database that follows the Secret. The
// manager watches the metadata only. A restart is quiet for the user, and a rotation
// still causes a pass of each.
func TestUsedSecret(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	secret := o.secret("a")
	var passes atomic.Int64 // over the user
	reconciler := setUp(func(mgr manager.Manager) error {
		ops, ext := o.operations(), extensions{PreCheck: needsKey()}
		guard := inuse.Add(mgr, func(d *testv1.Database) []checks.Ref {
			if d.Name == "follower" || d.Name == "other" {
				return nil
			}
			return []checks.Ref{theKey}
		}, &ops, &ext)
		return ctrlx.New("Database", ops, ext, guard, ctrlx.WithPollInterval(time.Hour)).WithPostReadHook(func(_ ctxt, _ client.Client, d *testv1.Database) error {
			if d.Name == "user" {
				passes.Add(1)
			}
			return nil
		}).SetupWithManager(mgr)
	})
	puts := func(want map[string]int) {
		t.Helper()
		last := o.database(fmt.Sprint("last-", len(o.asked())), "") // a pass that an earlier event causes would come before
		o.until(last.Name, "True Succeeded")
		for name, n := range want {
			if got := o.count("put " + name + " 1"); got != n {
				t.Errorf("%d calls for %s, want %d: %q", got, name, n, o.asked())
			}
		}
	}
	guarded := func() bool {
		return api.Get(t.Context(), client.ObjectKeyFromObject(secret), secret) == nil && len(secret.Finalizers) > 0
	}
	o.start(reconciler)
	o.database("follower", "")
	o.until("follower", "True Succeeded")
	o.database("user", "")
	o.until("user", "True Succeeded")
	if !guarded() {
		t.Error("the Secret has no finalizer")
	}
	puts(map[string]int{"follower": 1, "user": 1})
	o.stop()
	passes.Store(0)
	o.start(reconciler)
	// The follower stored its success before the Secret had the finalizer.
	o.eventually("both have a pass after the restart", func() bool { return passes.Load() > 0 && o.count("put follower 1") == 2 })
	puts(map[string]int{"follower": 2, "user": 1})
	guarded()
	o.rotate(secret, "b")
	o.eventually("the rotation causes a pass of each", func() bool { return o.count("put user 1") == 2 && o.count("put follower 1") == 3 })
	list := &testv1.DatabaseList{}
	must(t, api.List(t.Context(), list, client.InNamespace(o.namespace)))
	for i := range list.Items {
		if d := &list.Items[i]; d.Name != "follower" {
			must(t, api.Delete(t.Context(), d))
		}
	}
	o.eventually("the last user releases the Secret", func() bool { return !guarded() })
	o.database("other", "")
	o.until("other", "True Succeeded")
	if n := o.count("put follower 1"); n != 3 {
		t.Errorf("%d calls for the follower, want 3: %q", n, o.asked())
	}
}
