package ctrlx_test

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/flow"
)

// A link writes ahead in PreCheck. The pass then writes the status, and no pass follows from the write.
func TestWriteAhead(t *testing.T) {
	const note = ctrlx.AheadPrefix + "note"
	a := anApp(AppSpec{})
	a.Finalizers = nil
	d := newHarness(t, a)
	value := "1"
	link := checks.Gate("ahead", func(ctx context.Context, req *checks.Request[*App]) (checks.Result, error) {
		if err := ctrlx.WriteAhead(ctx, req.Resource, "note", value); err != nil {
			return checks.Result{}, err
		}
		stored := d.read()
		if stored.Annotations[note] != value || !controllerutil.ContainsFinalizer(stored, ctrlx.Finalizer) {
			t.Errorf("after the write the object has %q and the finalizers %q", stored.Annotations, stored.Finalizers)
		}
		return checks.Proceed(), nil
	})
	d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(link)}))
	for _, value = range []string{"1", "1", "2", ""} {
		before := d.read()
		d.pass()
		if got := d.took(); got != "apply" || d.says() != "True Succeeded" {
			t.Errorf("with %q the pass calls %q, and the object says %q: %s", value, got, d.says(), d.message())
		}
		if now := d.read(); before.Annotations[note] == value && value != "" && now.ResourceVersion != before.ResourceVersion {
			t.Error("a pass that changes nothing writes")
		}
	}
}

// A panic of the function of WithKeeping ends no pass.
func TestKeepingPanics(t *testing.T) {
	c := aCluster()
	now := metav1.NewTime(noon)
	c.DeletionTimestamp, c.Finalizers = &now, []string{"a/b"}
	d := newHarness(t, anApp(AppSpec{Cluster: "c"}), c)
	refs := func(a *App) []checks.Ref { return []checks.Ref{clusterOfApp(a)} }
	d.use(d.reconciler(flow.Extensions[*App]{EntryCheck: chain.New(checks.ReferenceReady("cluster", refs))},
		ctrlx.WithKeeping(func(*App, checks.Ref, client.Object) bool { panic("no") })))
	d.pass()
	if got := d.says(); !strings.HasPrefix(got, "False Reference") {
		t.Errorf("the object says %q: %s", got, d.message())
	}
}
