package engine

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

const (
	requestTimeout = 10 * time.Second // of a request
	pageSize       = 500              // objects in each request of a list
)

// current reports whether a watch works, and notes the version of its kind, which
// it must reach by the next call. A divided watch has no version.
func (e *Engine) current(ctx context.Context, w *watch) (current bool, err error) {
	if w.divided() {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	list, err := e.list(ctx, w.gvk, client.Limit(1))
	if err != nil {
		return false, err
	}
	current = !w.failed && (w.version == "" || w.reached(w.version))
	w.version = list.ResourceVersion
	return current, nil
}

// listVersions calls do with the version of each object of a kind, past the cache.
func (e *Engine) listVersions(ctx context.Context, w *watch, namespace string, do func(id index.ID, version string)) error {
	for next := ""; ; {
		page, cancel := context.WithTimeout(ctx, requestTimeout)
		list, err := e.list(page, w.gvk, client.InNamespace(namespace), client.Limit(pageSize), client.Continue(next))
		cancel()
		if err != nil {
			return err
		}
		for i := range list.Items {
			do(ID(w.gvk.GroupKind(), client.ObjectKeyFromObject(&list.Items[i])), list.Items[i].ResourceVersion)
		}
		if next = list.Continue; next == "" {
			return nil
		}
	}
}

// allowed asks the API server whether the operator may list a kind: everywhere,
// or in the namespace of an object, for caches that have some namespaces.
func (e *Engine) allowed(ctx context.Context, gvk schema.GroupVersionKind, namespace string) (everywhere bool, err error) {
	_, err = e.list(ctx, gvk, client.Limit(1))
	if err == nil {
		return true, nil
	}
	if apierrors.IsForbidden(err) && namespace != "" {
		if _, there := e.list(ctx, gvk, client.Limit(1), client.InNamespace(namespace)); there == nil {
			return false, nil
		}
	}
	return false, err
}

// list lists the metadata of the objects of a kind, past the cache.
func (e *Engine) list(ctx context.Context, gvk schema.GroupVersionKind, opts ...client.ListOption) (*metav1.PartialObjectMetadataList, error) {
	list := newList(e.scheme, kind{gvk: gvk, policy: metadataOnly}).(*metav1.PartialObjectMetadataList)
	return list, e.live.List(ctx, list, opts...)
}
