// Package again reaches the cluster of dependents in a pass. It makes requests
// again that the API server has not answered.
package again

import (
	"context"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// steps are the pauses before the requests after the first one. They are short,
// because a pass waits for them.
var steps = wait.Backoff{Steps: 2, Duration: 10 * time.Millisecond, Factor: 5, Jitter: 0.5}

// reader makes a request up to three times.
type reader struct{ client.Reader }

// Get implements client.Reader.
func (r reader) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	return Do(ctx, func() error { return r.Reader.Get(ctx, key, obj, opts...) })
}

// List implements client.Reader.
func (r reader) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return Do(ctx, func() error { return r.Reader.List(ctx, list, opts...) })
}

// writer makes a request up to three times, except those of subresources. A write
// needs a precondition: the API server may have made the one that it did not answer.
type writer struct {
	client.Client
	reader client.Reader
}

// Get implements client.Client.
func (w writer) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	return w.reader.Get(ctx, key, obj, opts...)
}

// List implements client.Client.
func (w writer) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return w.reader.List(ctx, list, opts...)
}

// Create implements client.Client.
func (w writer) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	return Do(ctx, func() error { return w.Client.Create(ctx, obj, opts...) })
}

// Patch implements client.Client.
func (w writer) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return Do(ctx, func() error { return w.Client.Patch(ctx, obj, patch, opts...) })
}

// Apply implements client.Client.
func (w writer) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	return Do(ctx, func() error { return w.Client.Apply(ctx, obj, opts...) })
}

// Delete implements client.Client.
func (w writer) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	return Do(ctx, func() error { return w.Client.Delete(ctx, obj, opts...) })
}

// Do calls a function that makes one request up to three times.
func Do(ctx context.Context, request func() error) error {
	err := request()
	for pauses := steps; isTransient(err) && pauses.Steps > 0; err = request() {
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pauses.Step()):
		}
	}
	return err
}

// isTransient reports whether the next answer may be another one at once. The
// server names a longer delay for some errors, and a webhook that fails may need
// its whole time-out for each of them.
func isTransient(err error) bool {
	if err == nil { // the checks below allocate for nil
		return false
	}
	if after, _ := apierrors.SuggestsClientDelay(err); after > 0 {
		return false
	}
	return apierrors.IsServiceUnavailable(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsInternalError(err) && !strings.Contains(err.Error(), "failed calling webhook") &&
			!strings.Contains(err.Error(), "conversion webhook for")
}
