package dependents

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/definition"
)

// read reads the live object from the cache. If the cache does not have it, read
// reads it live, because the cache may not have the last create yet.
func read(next Handler) Handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		err := r.get(ctx, r.of.client, r.newObject())
		if apierrors.IsNotFound(err) {
			err = r.get(ctx, r.of.live, r.newObject())
		}
		if client.IgnoreNotFound(err) != nil {
			return Result{}, err
		}
		return next(ctx, r)
	}
}

// readLive reads the metadata of the live object past the cache: an object that
// the cache does not have yet must not count as gone. The API server deletes all
// objects of a kind before the kind.
func readLive(next Handler) Handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		if r.absent {
			return r.result(Gone, ""), nil
		}
		err := r.getMetadata(ctx)
		if unserved(err) {
			version, found, lost := definition.Of(ctx, r.of.live, ctrlx.Errors(), r.gvk.GroupKind())
			switch {
			case lost != nil:
				return Result{}, lost
			case !found:
				return r.result(Gone, ""), nil
			case version == "":
				return Result{}, fmt.Errorf("the definition of %s serves no version, so the object may exist: serve a version again", r.gvk.GroupKind())
			}
			r.gvk.Version = version
			err = r.getMetadata(ctx)
		}
		switch {
		case ctrlx.Errors().NotFound(err):
			return r.result(Gone, ""), nil
		case err != nil:
			return Result{}, err
		}
		return next(ctx, r)
	}
}

// unserved reports whether an error says that the API server does not serve the
// version of an object, which may exist in another version.
func unserved(err error) bool {
	return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) && !ctrlx.Errors().NotFound(err)
}

func (r *Request) getMetadata(ctx context.Context) error {
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(r.gvk)
	return r.get(ctx, r.of.live, live)
}

// get reads the live object into r.Live.
func (r *Request) get(ctx context.Context, from client.Reader, into client.Object) error {
	r.Live = nil
	err := from.Get(ctx, client.ObjectKey{Namespace: r.ref.Namespace, Name: r.ref.Name}, into)
	if err == nil {
		r.Live = into
	}
	return err
}

// terminating waits for an object in deletion. It is never written.
func terminating(next Handler) Handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		if r.Live != nil && r.Live.GetDeletionTimestamp() != nil {
			return r.result(Terminating, "it is being deleted"), nil
		}
		return next(ctx, r)
	}
}
