package dependents

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
		live := &metav1.PartialObjectMetadata{}
		live.SetGroupVersionKind(r.gvk)
		err := r.get(ctx, r.of.live, live)
		switch {
		case apierrors.IsNotFound(err):
			return r.result(Gone, ""), nil
		case err != nil:
			return Result{}, err
		}
		return next(ctx, r)
	}
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
