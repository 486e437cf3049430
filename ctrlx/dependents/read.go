package dependents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/definition"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

// read reads the live object from the cache. If the cache does not have it,
// read reads it live before a write, because the cache may not have the last
// create yet.
func read(next handler) handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		r.note(ctx)
		if r.verdict != nil {
			return next(ctx, r)
		}
		var err error
		if r.of.mode != trying {
			err = r.getCached(ctx)
		}
		if r.of.mode == trying || err != nil && r.of.mode == writing && apierrors.IsNotFound(err) {
			err = r.get(ctx, r.via.Live, r.newObject())
		}
		if err != nil && !apierrors.IsNotFound(err) { // first nil, because IsNotFound allocates
			return Result{}, err
		}
		return next(ctx, r)
	}
}

// getCached reads the live object from the cache into r.Live. It reads live if
// the kind cannot be watched, or is cached in another form.
func (r *Request) getCached(ctx context.Context) error {
	r.Live = nil
	pass, ok := ctx.Value(engine.PassKey{}).(*engine.InPass)
	if !ok || pass.Engine != r.of.clients.Engine || r.via.Target {
		return r.get(ctx, r.via.Client, r.newObject())
	}
	found, err := pass.Find(engine.Dependent(ctx), r.ref)
	read, isObject := found.Value.(client.Object)
	switch {
	case err == nil && !found.Found():
		return apierrors.NewNotFound(schema.GroupResource{Group: r.gvk.Group, Resource: r.gvk.Kind}, r.ref.Name)
	case err == nil && isObject && r.fits(read):
		r.Live = read
		return nil
	case err == nil:
	case apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err):
		r.of.unwatchable(ctx, r.gvk.GroupKind(), err)
	default:
		return err
	}
	return r.get(ctx, r.via.Live, r.newObject())
}

// fits reports whether an object that was read has the form of newObject.
func (r *Request) fits(read client.Object) bool {
	_, untyped := read.(*unstructured.Unstructured)
	return reflect.TypeOf(read) == r.kind.form && (!untyped || read.GetObjectKind().GroupVersionKind() == r.gvk)
}

// unwatchable logs once why a kind is not watched.
func (d *Dependents) unwatchable(ctx context.Context, gk schema.GroupKind, err error) {
	if _, logged := d.unwatchables.LoadOrStore(gk, nil); !logged {
		log.FromContext(ctx).Info("the objects of a kind are not watched, so their changes cause no pass; "+
			"allow the operator to list and watch the kind, or name it in ctrlx.WithUnwatchedKinds",
			"kind", gk.String(), "error", err.Error())
	}
}

// readLive reads the metadata of the live object past the cache: an object that
// the cache does not have yet must not count as gone. The API server deletes
// all objects of a kind before the kind, so an object of a kind without a
// definition is gone. So is an object of a kind that has another scope now. A
// read would find a namesake, because the client ignores the namespace.
func readLive(next handler) handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		r.note(ctx)
		if r.absent {
			return r.otherScope(ctx)
		}
		if r.kind == nil { // a kind without namespaces ignores it
			r.ref.Namespace = cmp.Or(r.ref.Namespace, r.Owner.Namespace)
		}
		err := r.getMetadata(ctx)
		if definition.Unserved(err) {
			err = definition.Read(ctx, r.via.Live, r.gvk.GroupKind(), func(version string) error {
				r.gvk.Version = version
				return r.getMetadata(ctx)
			})
		}
		switch {
		case ctrlx.Errors().NotFound(err), errors.Is(err, definition.ErrNone):
			return r.result(Gone, ""), nil
		case err != nil:
			return Result{}, err
		}
		if r.kind == nil {
			r.ref.Namespace = r.Live.GetNamespace()
		}
		return next(ctx, r)
	}
}

// otherScope finds an object gone whose kind has another scope now. The process may
// know an earlier scope of the kind, so the definition decides.
func (r *Request) otherScope(ctx context.Context) (Result, error) {
	namespaced, err := definition.Namespaced(ctx, r.via.Live, r.gvk.GroupKind())
	switch {
	case err != nil && !errors.Is(err, definition.ErrNone):
		return Result{}, err
	case err == nil && namespaced == (r.ref.Namespace != ""):
		return Result{}, fmt.Errorf("the operator knows another scope of the kind %s than its definition has: "+
			"restart the operator", r.gvk.GroupKind())
	}
	return r.result(Gone, ""), nil
}

// note names the object to the observers, which see no request of ReadOnly.
func (r *Request) note(ctx context.Context) {
	if r.of.mode != looking {
		chain.Note(ctx, r)
	}
}

func (r *Request) getMetadata(ctx context.Context) error {
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(r.gvk)
	return r.get(ctx, r.via.Live, live)
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

// readManaged reads the live object past the cache before a write, if it has no
// managed fields, because the cache may strip them. An object that has changed
// meanwhile is a conflict, because its owner was checked in the cached version.
func (r *Request) readManaged(ctx context.Context) error {
	if err := r.versioned(); err != nil || len(r.Live.GetManagedFields()) > 0 {
		return err
	}
	cached := r.Live
	err := r.get(ctx, r.via.Live, r.newObject())
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if err != nil || r.Live.GetUID() != cached.GetUID() || r.Live.GetResourceVersion() != cached.GetResourceVersion() {
		kind := schema.GroupResource{Group: r.gvk.Group, Resource: r.gvk.Kind}
		return apierrors.NewConflict(kind, r.ref.Name, errors.New("it has changed since the cache got it"))
	}
	return nil
}

// terminating waits for an object in deletion. It is never written.
func terminating(next handler) handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		if r.Live != nil && r.Live.GetDeletionTimestamp() != nil {
			return r.result(Terminating, "it is being deleted"), nil
		}
		return next(ctx, r)
	}
}

// awaitReady adds the readiness of the object to the result. An object in sync
// that is not ready becomes Waiting.
func awaitReady(next handler) handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		res, err := next(ctx, r)
		if err != nil || res.Object == nil || res.Pending != nil {
			return res, err
		}
		switch res.Outcome {
		case Created, Updated, InSync, Waiting:
			res.Readiness = r.hints.Hinted(res.Object, r.kind.readiness(res.Object))
		default:
			return res, nil
		}
		if isReady(res.Readiness) || res.After > 0 {
			return res, nil
		}
		if res.Outcome == InSync {
			res.Outcome = Waiting
		}
		res.Message = notReady(res, cut(ready.Problem(res.Object)))
		return res, nil
	}
}

// notReady says why an object is not ready. It ends with the problem that a
// condition of the object names.
func notReady(res Result, problem string) string {
	text := "it is not ready"
	for _, why := range []string{res.Readiness.Reason, res.Readiness.Message} {
		if why != "" {
			text += ": " + why
		}
	}
	if text = cut(text); problem != "" && !strings.HasSuffix(problem, ": "+res.Readiness.Message) {
		text += "; " + problem
	}
	return text
}
