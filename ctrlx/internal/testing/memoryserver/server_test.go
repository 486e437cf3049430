package memoryserver_test

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/memoryserver"
)

var things = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}

func thing(fields map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: fields}
	o.SetGroupVersionKind(things)
	o.SetNamespace("default")
	o.SetName("a")
	return o
}

// TestServer: writes, deletions and watches are as those of kube-apiserver.
func TestServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memoryserver.NewServer(memoryserver.Kind{GroupVersionKind: things, Plural: "things", Status: true})
		s.Lag = func(schema.GroupKind) time.Duration { return time.Second }
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		api, err := client.NewWithWatch(s.Config("test"), client.Options{Scheme: runtime.NewScheme()})
		must(t, err)
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(things)
		w, err := api.Watch(ctx, list)
		must(t, err)
		defer w.Stop()

		begin := time.Now()
		o := thing(map[string]any{"spec": map[string]any{"size": int64(1)}, "status": map[string]any{"size": int64(1)}})
		o.SetFinalizers([]string{"example.com/keep"})
		must(t, api.Create(ctx, o))
		if o.Object["status"] != nil || o.GetGeneration() != 1 || o.GetUID() == "" {
			t.Errorf("after the creation: %v, want no status, a generation and a UID", o.Object)
		}
		old := o.DeepCopy()
		base := client.MergeFromWithOptions(o.DeepCopy(), client.MergeFromWithOptimisticLock{})
		o.Object["status"] = map[string]any{"size": int64(1)}
		must(t, api.Status().Patch(ctx, o, base))
		if o.GetGeneration() != 1 || o.GetResourceVersion() == old.GetResourceVersion() {
			t.Errorf("after a write of the status: %v, want generation 1 and another version", o.Object)
		}
		if err := api.Update(ctx, old); !apierrors.IsConflict(err) {
			t.Errorf("a write of an old version: %v, want a conflict", err)
		}
		o.Object["spec"] = map[string]any{"size": int64(2)}
		must(t, api.Update(ctx, o))
		if o.GetGeneration() != 2 || o.Object["status"] == nil {
			t.Errorf("after a write of the spec: %v, want generation 2 and the status", o.Object)
		}
		version := o.GetResourceVersion()
		must(t, api.Update(ctx, o))
		if o.GetResourceVersion() != version {
			t.Error("a write that changes nothing makes a version")
		}
		must(t, api.Delete(ctx, o))
		must(t, api.Get(ctx, client.ObjectKeyFromObject(o), o))
		if o.GetDeletionTimestamp() == nil || o.GetGeneration() != 3 {
			t.Errorf("after the deletion: %v, want a time of deletion and generation 3", o.Object)
		}
		o.SetFinalizers([]string{"example.com/keep", "example.com/new"})
		if err := api.Update(ctx, o); !apierrors.IsForbidden(err) {
			t.Errorf("a new finalizer of a deleted object: %v, want a refusal", err)
		}
		o.SetFinalizers(nil)
		must(t, api.Update(ctx, o))
		if err := api.Get(ctx, client.ObjectKeyFromObject(o), o); !apierrors.IsNotFound(err) {
			t.Errorf("after the last finalizer: %v, want that the object is gone", err)
		}
		for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Modified, watch.Modified, watch.Deleted} {
			if e := <-w.ResultChan(); e.Type != want {
				t.Errorf("the watch has %s, want %s", e.Type, want)
			}
			if passed := time.Since(begin); passed != time.Second {
				t.Errorf("the event %s came after %s, want the lag of a second", want, passed)
			}
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestApply: apply, patches, defaults, selectors, garbage collection and sets are as
// those of kube-apiserver.
func TestApply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memoryserver.NewServer(memoryserver.Kind{GroupVersionKind: things, Plural: "things", Status: true, Default: func(o map[string]any) {
			_ = unstructured.SetNestedField(o, "blue", "spec", "color")
		}})
		ctx := t.Context()
		api, err := client.NewWithWatch(s.Config("test"), client.Options{Scheme: runtime.NewScheme()})
		must(t, err)
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(things)
		w, err := api.Watch(ctx, list, client.MatchingLabels{"watched": "yes"})
		must(t, err)
		defer w.Stop()

		apply := func(owner string, spec map[string]any) error {
			o := thing(map[string]any{"spec": spec})
			return api.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner(owner))
		}
		must(t, apply("one", map[string]any{"size": int64(1)}))
		if err := apply("two", map[string]any{"size": int64(2)}); !apierrors.IsConflict(err) {
			t.Errorf("another owner applies the same field: %v, want a conflict", err)
		}
		must(t, apply("two", map[string]any{"length": int64(3)}))
		must(t, apply("one", map[string]any{}))
		o := thing(map[string]any{})
		must(t, api.Get(ctx, client.ObjectKeyFromObject(o), o))
		if got := o.Object["spec"]; !reflect.DeepEqual(got, map[string]any{"length": int64(3), "color": "blue"}) {
			t.Errorf("the spec is %v, want the length of the other owner and the default", got)
		}

		must(t, api.Patch(ctx, o, client.RawPatch(types.JSONPatchType, []byte(`[{"op": "add", "path": "/metadata/labels", "value": {"watched": "yes"}}]`))))
		child := thing(map[string]any{})
		child.SetName("child")
		child.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Thing", Name: "a", UID: o.GetUID()}})
		must(t, api.Create(ctx, child))
		must(t, api.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"labels": null}}`))))
		for _, want := range []watch.EventType{watch.Added, watch.Deleted} {
			if e := <-w.ResultChan(); e.Type != want {
				t.Errorf("the watch of a label has %s, want %s", e.Type, want)
			}
		}
		must(t, api.Delete(ctx, o))
		if err := api.Get(ctx, client.ObjectKeyFromObject(child), child); !apierrors.IsNotFound(err) {
			t.Errorf("the dependent after the deletion of its owner: %v, want that it is gone", err)
		}
		child.SetResourceVersion("")
		must(t, api.Create(ctx, child))
		if err := api.Get(ctx, client.ObjectKeyFromObject(child), child); !apierrors.IsNotFound(err) {
			t.Errorf("a dependent that is created after the deletion of its owner: %v, want that it is gone", err)
		}
		gone := thing(map[string]any{})
		gone.SetUID(o.GetUID())
		if err := api.Apply(ctx, client.ApplyConfigurationFromUnstructured(gone), client.FieldOwner("one")); !apierrors.IsConflict(err) {
			t.Errorf("an apply with the UID of an object that is gone: %v, want a conflict", err)
		}
		must(t, apply("one", map[string]any{}))
		must(t, api.Delete(ctx, thing(map[string]any{}), client.DryRunAll))
		tried := thing(map[string]any{})
		tried.SetName("tried")
		must(t, api.Create(ctx, tried, client.DryRunAll))
		if left := s.All(func(*memoryserver.Kind) bool { return true }); len(left) != 1 || left[0].GetName() != "a" {
			t.Errorf("after a creation and a deletion that are tried: %v", left)
		}
		must(t, api.DeleteAllOf(ctx, o, client.InNamespace("default")))
		if left := s.All(func(*memoryserver.Kind) bool { return true }); len(left) > 0 {
			t.Errorf("after the deletion of the set: %v, want nothing", left)
		}
	})
}

// TestExpire: a watch ends with 410 Gone, without the events that it has not read.
func TestExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memoryserver.NewServer(memoryserver.Kind{GroupVersionKind: things, Plural: "things"})
		s.Lag = func(schema.GroupKind) time.Duration { return time.Second }
		api, err := client.NewWithWatch(s.Config("test"), client.Options{Scheme: runtime.NewScheme()})
		must(t, err)
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(things)
		w, err := api.Watch(t.Context(), list)
		must(t, err)
		defer w.Stop()
		must(t, api.Create(t.Context(), thing(map[string]any{})))
		s.Expire(schema.GroupKind{Group: "example.com", Kind: "Other"})
		s.Expire(things.GroupKind())
		if e := <-w.ResultChan(); e.Type != watch.Error || !apierrors.IsResourceExpired(apierrors.FromObject(e.Object)) {
			t.Errorf("the watch reads %s of %v, want the error 410 of an expired version", e.Type, e.Object)
		}
		if e, open := <-w.ResultChan(); open {
			t.Errorf("the watch reads %s of %v after its end", e.Type, e.Object)
		}
	})
}
