package ctrlx_test

import (
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// definitionOfApps is the definition of App. It sets status.observedGeneration
// of a new object to -1, so that kstatus reports the object as InProgress.
func definitionOfApps() *apiextensions.CustomResourceDefinition {
	crd := testv1.Definition("App", "apps", apiextensions.NamespaceScoped)
	anything := true
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties = map[string]apiextensions.JSONSchemaProps{"status": {
		Type: "object", XPreserveUnknownFields: &anything,
		Default:    &apiextensions.JSON{Raw: []byte(`{"observedGeneration":-1}`)},
		Properties: map[string]apiextensions.JSONSchemaProps{"observedGeneration": {Type: "integer", Format: "int64"}},
	}}
	return crd
}

// kstatus returns what kstatus reports for an App.
func kstatus(t *testing.T, a *App) string {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(a)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(testv1.GroupVersion.WithKind("App"))
	res, err := status.Compute(u)
	if err != nil {
		t.Fatal(err)
	}
	return res.Status.String()
}

// kstatus reports each moment in the life of an object correctly.
func TestKstatus(t *testing.T) {
	const inProgress, current, failed = "InProgress", "Current", "Failed"
	var paused bool
	paths := flow.Extensions[*App]{
		OwnerCheck: chain.New(checks.OwnerReady()),
		PreCheck:   chain.New(checks.Paused(func(*App) bool { return paused })),
	}
	edit := func(d *harness) { d.change(func(a *App) { a.Spec.User += "x" }) }
	retried := func(err error) func(*harness) { return func(d *harness) { fails(err)(d); d.pass() } }
	cases := []struct {
		name, reason string
		do           func(*harness)
		want         string
		says         string
		observed     int64
	}{
		{"New", "the definition sets observedGeneration to -1", func(*harness) {}, inProgress, "nothing", -1},
		{"Waiting", "the owner does not exist yet", (*harness).once, inProgress, "False OwnerNotFound Reconciling", 1},
		{"InProgress", "an operation is under way", func(d *harness) { d.create(aCluster()); goesOn(d); d.pass() }, inProgress, "False InProgress Reconciling Processing", 1},
		{"Ready", "the cloud matches the spec", func(d *harness) { d.apply = nil; d.pass() }, current, "True Succeeded", 1},
		{"Edited", "the conditions are those of the older generation", edit, inProgress, "True Succeeded", 1},
		{"Retried", "a transient error is retried", retried(errBroken), inProgress, "False Unknown Reconciling", 2},
		{"Stalled", "a terminal error needs a change", retried(reconcile.TerminalError(errBroken)), failed, "False Terminal Stalled", 2},
		{"FailedAndEdited", "the failure is that of the older generation", edit, inProgress, "False Terminal Stalled", 2},
		{"Suspended", "a user suspended it, so it has not failed", func(d *harness) { d.apply = nil; suspend(true)(d); d.pass() }, inProgress, "False Suspended Paused", 4},
		{"Resumed", "the new generation is not reconciled yet", suspend(false), inProgress, "False Suspended Paused", 4},
		{"ReadyAgain", "the pass after the resumption succeeded", (*harness).once, current, "True Succeeded", 5},
		{"Paused", "a check for a paused object is no failure either", func(d *harness) { paused = true; d.pass() }, inProgress, "False Paused Paused", 5},
		{"Deleting", "a deletion is under way", func(d *harness) { paused = false; d.delete(d.read()) }, "Terminating", "False Paused Paused", 5},
	}
	a := anApp(AppSpec{Cluster: "c"})
	a.Status.ObservedGeneration = -1
	d := newHarness(t, a).with(paths)
	for _, tc := range cases {
		tc.do(d)
		got := d.read()
		if s := kstatus(t, got); s != tc.want || d.says() != tc.says || got.Status.ObservedGeneration != tc.observed {
			t.Errorf("%s: %s: kstatus reports %s, want %s; observedGeneration is %d, want %d; the conditions are %q, want %q",
				tc.name, tc.reason, s, tc.want, got.Status.ObservedGeneration, tc.observed, d.says(), tc.says)
		}
	}
}

// The API server sets -1 for a new object. The reconciler writes observedGeneration together with the conditions.
func TestKstatusOnTheServer(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	a := o.create(AppSpec{})
	read := func() *App {
		a := &App{}
		must(t, api.Get(t.Context(), keyOf(o.namespace, "a"), a))
		return a
	}
	if got := kstatus(t, read()); got != "InProgress" {
		t.Errorf("new: kstatus reports %s: %+v", got, a.Status)
	}
	o.start(o.apps(nil))
	o.becomes("True Succeeded")
	if got := kstatus(t, read()); got != "Current" {
		t.Errorf("ready: kstatus reports %s", got)
	}
	if got := o.traffic.take(t)["PATCH apps/status"]; got != 1 {
		t.Errorf("the status was written %d times, want once", got)
	}
	o.stop()
	o.edit(func(a *App) { a.Spec.User = "x" })
	if got := kstatus(t, read()); got != "InProgress" {
		t.Errorf("edited: kstatus reports %s", got)
	}
}

func (d *harness) once() { d.pass() }

// create creates an object.
func (d *harness) create(obj client.Object) {
	d.t.Helper()
	must(d.t, d.api.Create(d.t.(*testing.T).Context(), obj))
}
