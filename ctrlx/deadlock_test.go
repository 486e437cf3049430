package ctrlx_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/why"
)

// guardingApp is an App that guards its Cluster, and checks at a point that the
// Cluster is ready.
func guardingApp(t *testing.T) *harness {
	d := newHarness(t, anApp(AppSpec{Cluster: "c"}), aCluster())
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{testv1.GroupVersion})
	mapper.Add(testv1.GroupVersion.WithKind("App"), meta.RESTScopeNamespace)
	mapper.Add(testv1.GroupVersion.WithKind("Cluster"), meta.RESTScopeNamespace)
	d.manager.mapper = mapper // with a preferred version, for the guard
	refs := func(a *App) []checks.Ref { return []checks.Ref{clusterOfApp(a)} }
	d.use(d.guarding(flow.Extensions[*App]{EntryCheck: chain.New(checks.ReferenceReady("cluster", refs))}, refs))
	d.pass()
	if got := d.says(); got != "True Succeeded" {
		t.Fatalf("the object says %q: %s", got, d.message())
	}
	must(t, d.api.Delete(t.Context(), d.cluster()))
	if c := d.cluster(); c.DeletionTimestamp.IsZero() {
		t.Fatal("the guard does not keep the cluster")
	}
	d.reported()
	return d
}

// gone reports whether an object does not exist.
func (d *harness) gone(name string, obj client.Object) bool {
	return apierrors.IsNotFound(d.api.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name}, obj))
}

// A user deletes what an object guards, and then the object. Both go.
func TestGuardedReferenceTerminates(t *testing.T) {
	for name, ready := range map[string]metav1.ConditionStatus{"Ready": "True", "NotReady": "False"} {
		t.Run(name, func(t *testing.T) {
			d := guardingApp(t)
			c := d.cluster()
			c.Status.Conditions[0].Status = ready // its own reconciler reports the deletion
			must(t, d.api.Status().Update(t.Context(), c))
			must(t, d.api.Delete(t.Context(), d.read()))
			d.took()
			d.pass()
			if got := d.took(); got != "delete" {
				t.Errorf("the pass calls %q", got)
			}
			if !d.gone("a", &App{}) || !d.gone("c", &testv1.Cluster{}) {
				t.Error("the object and its reference wait for each other")
			}
		})
	}
}

// A user deletes what an object guards, and keeps the object: each waits for the
// other. That is a cycle, in the conditions, in the event and in the answer of Why.
func TestGuardCycle(t *testing.T) {
	d := guardingApp(t)
	d.pass()
	const app, cluster = "App.test.windlass-go.github.io default/a", "Cluster.test.windlass-go.github.io default/c"
	path := "dependency cycle: " + app + " -> " + cluster + " -> " + app
	if got, want := d.says(), "False DependencyCycle Stalled"; got != want || d.message() != path {
		t.Errorf("the object says %q with %q, want %q with %q", got, d.message(), want, path)
	}
	if got := d.reported(); !slices.ContainsFunc(got, func(e string) bool {
		return strings.HasPrefix(e, "Warning DependencyCycle ") && strings.Contains(e, path)
	}) {
		t.Errorf("the events are %q", got)
	}
	d.pass()
	if got := d.reported(); len(got) > 0 {
		t.Errorf("an event comes once: %q", got)
	}
	w := httptest.NewRecorder()
	ctrlx.Why(d.manager).ServeHTTP(w, httptest.NewRequest("GET", ctrlx.WhyPath, nil))
	var doc why.Document
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	var causes [][]string
	for _, c := range doc.Causes {
		var names []string
		for _, ref := range c.Objects {
			names = append(names, ref.String())
		}
		causes = append(causes, names)
	}
	same(t, "the root causes", [][]string{{app, cluster}}, causes)
	// The user refers to no cluster any more.
	d.change(func(a *App) { a.Spec.Cluster = "" })
	d.pass()
	if got := d.says(); got != "True Succeeded" || !d.gone("c", &testv1.Cluster{}) {
		t.Errorf("without the reference the object says %q", got)
	}
}
