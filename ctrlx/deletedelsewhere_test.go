package ctrlx_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// A person removes the finalizer of an object while its DELETE is under way in the
// cloud. The DELETE is polled until it ends.
func TestFinalizerRemovedDuringDelete(t *testing.T) {
	cases := map[string]struct {
		reason string
		first  flow.Progress // of the DELETE, before the object vanishes
		tokens string        // that the next pass gives to Delete
	}{
		"UnderWay": {"the cloud still deletes the resource, and may fail", flow.InProgress("t", 0), "t"},
		"Done":     {"the resource is deleted, and its record is removed", flow.Done(), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := anApp(AppSpec{})
			a.Finalizers = append(a.Finalizers, "example.com/theirs") // so that the object is there after our deletion
			d := newHarness(t, a)
			var tokens []string
			d.remove = func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
				if tokens = append(tokens, req.Token); len(tokens) > 1 {
					return flow.Done(), nil
				}
				return tc.first, nil
			}
			r := d.reconciler(flow.Extensions[*App]{})
			d.use(r)
			d.pass()
			d.delete(d.read())
			d.pass()
			last := d.read()
			stripped := d.read()
			stripped.Finalizers = nil
			d.update(stripped) // the API server deletes it with its last finalizer
			if len(last.Finalizers) == 1 {
				last.Finalizers = append(last.Finalizers, ctrlx.Finalizer) // as before the last write, which events show
			}
			ctrlx.HearDeletion(r, event.DeleteEvent{Object: last})
			d.pass()
			if got := strings.Join(tokens[1:], " "); got != tc.tokens {
				t.Errorf("%s: Delete is called with %q, want %q", tc.reason, tokens, tc.tokens)
			}
			d.pass()
			if n := len(tokens); n > 2 {
				t.Errorf("%s: Delete is called %d times", tc.reason, n)
			}
		})
	}
}

// The deletion in the cloud has ended, and another controller keeps the object.
// The conditions say so, and do not show the last failure of the deletion.
func TestDeletedAndKeptByOthers(t *testing.T) {
	a := anApp(AppSpec{})
	a.Finalizers = append(a.Finalizers, "example.com/theirs")
	d := newHarness(t, a)
	d.use(d.reconciler(flow.Extensions[*App]{}))
	d.pass()
	d.delete(d.read())
	d.remove = func(context.Context, *flow.Request[*App]) (flow.Progress, error) { return flow.Progress{}, errBroken }
	d.pass()
	if got := d.message(); !strings.Contains(got, errBroken.Error()) {
		t.Fatalf("the deletion does not fail: %s", got)
	}
	d.remove = nil
	d.pass()
	if got := d.read(); !slices.Equal(got.Finalizers, []string{"example.com/theirs"}) {
		t.Fatalf("the finalizers are %q", got.Finalizers)
	}
	const want = "this operator has ended its part of the deletion; the object stays until other controllers remove their finalizers: example.com/theirs"
	if d.says() != "False Deleted Reconciling" || d.message() != want {
		t.Errorf("the object says %q with %q, want %q", d.says(), d.message(), want)
	}
	writes := d.writes
	d.pass()
	if d.writes != writes {
		t.Error("each pass writes the status")
	}
}

// The API server refuses the write that says so. The next pass writes it, and the
// finalizer stays until then. A deletion does not wait for a status that the API
// server never takes.
func TestDeletedWhenStatusIsRefused(t *testing.T) {
	resource := schema.GroupResource{Group: testv1.GroupVersion.Group, Resource: "apps"}
	cases := map[string]struct {
		reason string
		refuse error
		kept   bool // our finalizer
	}{
		"Conflict": {"another writer changed the object", apierrors.NewConflict(resource, "a", errBroken), true},
		"Down":     {"the API server has a fault", apierrors.NewInternalError(errBroken), true},
		"Invalid":  {"the definition does not allow the status", apierrors.NewInvalid(schema.GroupKind{Kind: "App"}, "a", nil), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := anApp(AppSpec{})
			a.Finalizers = append(a.Finalizers, "example.com/theirs")
			d := newHarness(t, a)
			r := d.reconciler(flow.Extensions[*App]{})
			d.use(r)
			d.pass()
			d.delete(d.read())
			d.refuse = tc.refuse
			_, _ = r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "a"}})
			if got := slices.Contains(d.read().Finalizers, ctrlx.Finalizer); got != tc.kept {
				t.Errorf("%s: the object has our finalizer: %t", tc.reason, got)
			}
			d.refuse = nil
			d.pass()
			if got := d.read().Finalizers; !slices.Equal(got, []string{"example.com/theirs"}) {
				t.Errorf("%s: the finalizers are %q", tc.reason, got)
			}
			if tc.kept && d.says() != "False Deleted Reconciling" {
				t.Errorf("%s: the object says %q", tc.reason, d.says())
			}
		})
	}
}

// An object of a kind without Delete is deleted, and another kind guards it. It does
// not stay Ready.
func TestDeletedWithoutDelete(t *testing.T) {
	a := anApp(AppSpec{})
	a.Finalizers = []string{"example.com/theirs"}
	d := newHarness(t, a)
	d.use(ctrlx.New("App", flow.Operations[*App]{
		Apply: func(context.Context, *flow.Request[*App]) (flow.Progress, error) { return flow.Done(), nil },
	}, flow.Extensions[*App]{}, d.clock()...))
	d.pass()
	d.delete(d.read())
	d.pass()
	const want = "this operator has ended its part of the deletion; the object stays until other controllers remove their finalizers: example.com/theirs"
	if d.says() != "False Deleted Reconciling" || d.message() != want {
		t.Errorf("the object says %q with %q, want %q", d.says(), d.message(), want)
	}
	if ready := d.read().Status.Conditions[0]; ready.ObservedGeneration != d.read().Generation {
		t.Errorf("the condition is for generation %d, and the object has %d", ready.ObservedGeneration, d.read().Generation)
	}
	writes := d.writes
	d.pass()
	if d.writes != writes {
		t.Error("each pass writes the status")
	}
}

// statuslessManager is a manager whose API server lists resources.
type statuslessManager struct {
	*idleManager
	resources *metav1.APIResourceList
}

func (m *statuslessManager) APIResources(context.Context) (*metav1.APIResourceList, error) {
	return m.resources, nil
}

// A new version of the definition has no subresource status. The next pass after a
// write that failed for that reason does not call Apply.
func TestStatusRemoved(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	m := &statuslessManager{d.manager, allServed}
	r := d.reconciler(flow.Extensions[*App]{})
	if err := r.SetupWithManager(m); err != nil {
		t.Fatal(err)
	}
	d.app = r
	d.pass()
	d.took()
	m.resources = &metav1.APIResourceList{GroupVersion: testv1.GroupVersion.String()}
	d.refuse = apierrors.NewGenericServerResponse(404, "patch", schema.GroupResource{Group: testv1.GroupVersion.Group, Resource: "apps"}, "a", "", 0, true)
	d.change(func(*App) {})
	var errs []error
	for range 2 {
		_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "a"}})
		errs = append(errs, err)
	}
	if got := d.took(); got != "apply" {
		t.Errorf("the passes call %q: only the first one may call Apply; the errors are %v", got, errors.Join(errs...))
	}
	if errs[1] == nil || !strings.Contains(errs[1].Error(), "has no status subresource") {
		t.Errorf("the error is %v", errs[1])
	}
}
