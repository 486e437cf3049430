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
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
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

// A wrong use of WriteAhead and SetFinalizers is an error that names the fix.
func TestWriteAheadRefuses(t *testing.T) {
	apply := func(context.Context, *flow.Request[*App]) (flow.Progress, error) { return flow.Done(), nil }
	ahead := func(of func(*App) client.Object) flow.Extensions[*App] {
		return flow.Extensions[*App]{PreCheck: chain.New(checks.Gate("ahead", func(ctx context.Context, req *checks.Request[*App]) (checks.Result, error) {
			return checks.Proceed(), ctrlx.WriteAhead(ctx, of(req.Resource), "note", "1")
		}))}
	}
	cases := map[string]struct {
		reason string
		ops    flow.Operations[*App]
		of     func(*App) client.Object
		want   string
	}{
		"NoDelete": {"nothing would undo what the link does", flow.Operations[*App]{Apply: apply}, func(a *App) client.Object { return a }, "WriteAhead needs Operations.Delete"},
		"Other":    {"another object has another finalizer", flow.Operations[*App]{Apply: apply, Delete: apply}, func(*App) client.Object { return aCluster() }, "the resource is a *testv1.Cluster: give the resource of the request"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			d.use(ctrlx.New("App", tc.ops, ahead(tc.of), d.clock()...))
			d.pass()
			if !strings.Contains(d.message(), tc.want) {
				t.Errorf("%s: the object says %q with %q", tc.reason, d.says(), d.message())
			}
		})
	}
	const outside = "the context is that of no pass: hand on the context that the link was given"
	for name, err := range map[string]error{
		"WriteAhead":    ctrlx.WriteAhead(t.Context(), anApp(AppSpec{}), "note", "1"),
		"SetFinalizers": ctrlx.SetFinalizers(t.Context(), &testv1.Cluster{}, nil),
	} {
		if err == nil || !strings.Contains(err.Error(), outside) {
			t.Errorf("%s returns %v", name, err)
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
