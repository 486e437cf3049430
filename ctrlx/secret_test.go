package ctrlx_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/ctrlx/inuse"
)

// A database waits for a key in a Secret. The manager holds the metadata of
// Secrets only, and each change of the data wakes the database.
func TestSecretWakes(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "key"}}
	if err := api.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	rotated := checks.Check("rotated", func(ctx ctxt, req *checks.Request[*testv1.Database]) (checks.Result, error) {
		ref := checks.Ref{Kind: "Secret", Name: "key"}
		obj, err := req.Resolver(ctx, ref)
		if err != nil {
			return checks.Result{}, err
		}
		if _, ok := obj.Value.(*metav1.PartialObjectMetadata); !ok || !obj.Found() {
			t.Errorf("the check gets a %T", obj.Value)
		}
		now := &corev1.Secret{}
		if err := api.Get(ctx, keyOf(o.namespace, "key"), now); err != nil || len(now.Data["key"]) > 0 {
			return checks.Proceed(), err
		}
		return checks.Block("NoKey", "the Secret has no key", checks.WithWaitingFor(ref)), nil
	})
	o.start(ctrlx.New("Database", o.operations(), extensions{PreCheck: chain.New(rotated)}, ctrlx.WithPollInterval(time.Hour)))
	o.database("db", "")
	o.until("db", "False NoKey")
	secret.Data = map[string][]byte{"key": []byte("value")}
	if err := api.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	o.until("db", "True Succeeded")
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
	if err := api.List(t.Context(), list, client.InNamespace(o.namespace)); err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		if d := &list.Items[i]; d.Name != "follower" {
			if err := api.Delete(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
	}
	o.eventually("the last user releases the Secret", func() bool { return !guarded() })
	o.database("other", "")
	o.until("other", "True Succeeded")
	if n := o.count("put follower 1"); n != 3 {
		t.Errorf("%d calls for the follower, want 3: %q", n, o.asked())
	}
}
