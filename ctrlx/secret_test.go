package ctrlx_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
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
