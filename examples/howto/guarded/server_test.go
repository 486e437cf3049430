package controller

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/windlass-go/windlass/examples/howto/api/v1"
	"github.com/windlass-go/windlass/examples/howto/internal/manager"
)

// TestDeletion deletes the cluster, the Secret and the database, in each order.
// All of them go.
func TestDeletion(t *testing.T) {
	config := manager.Server(t)
	mgr := manager.For(t, config)
	if err := SetUp(mgr); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	api, err := client.NewWithWatch(config, client.Options{Scheme: mgr.GetScheme()})
	if err != nil {
		t.Fatal(err)
	}
	for i, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		name := metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("order-", i)}
		database := &v1.Database{ObjectMeta: name, Spec: v1.DatabaseSpec{Cluster: name.Name, PasswordSecret: name.Name}}
		objects := []client.Object{&v1.Cluster{ObjectMeta: name}, &corev1.Secret{ObjectMeta: name}, database}
		lists := []client.ObjectList{&v1.ClusterList{}, &corev1.SecretList{}, &v1.DatabaseList{}}
		for _, obj := range objects {
			if err := api.Create(ctx, obj); err != nil {
				t.Fatal(err)
			}
		}
		until(t, api, database, lists[2], func(obj client.Object) bool {
			return meta.IsStatusConditionTrue(obj.(*v1.Database).Status.Conditions, "Ready")
		})
		for _, j := range order {
			if err := api.Delete(ctx, objects[j]); client.IgnoreNotFound(err) != nil {
				t.Fatal(err)
			}
		}
		for j := range objects {
			until(t, api, objects[j], lists[j], nil)
		}
	}
}

// until returns when accept accepts an object, or when the object is gone and
// accept is nil.
func until(t *testing.T, api client.WithWatch, obj client.Object, list client.ObjectList, accept func(client.Object) bool) {
	t.Helper()
	switch err := api.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); {
	case apierrors.IsNotFound(err) && accept == nil:
		return
	case err != nil:
		t.Fatal(err)
	case accept != nil && accept(obj):
		return
	}
	events, err := api.Watch(t.Context(), list, client.InNamespace(obj.GetNamespace()), client.MatchingFields{"metadata.name": obj.GetName()},
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: obj.GetResourceVersion()}})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		if event.Type == watch.Deleted && accept == nil || event.Type == watch.Modified && accept != nil && accept(event.Object.(client.Object)) {
			return
		}
	}
	t.Fatalf("the watch of %T %s ended", obj, obj.GetName())
}
