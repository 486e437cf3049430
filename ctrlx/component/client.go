package component

import (
	"context"
	"errors"
	"reflect"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component/dependents"
)

// mode says what a call of package dependents does.
type mode int

const (
	validating mode = iota // nothing: it checks the object
	looking                // it compares with the cache, and writes nothing
	trying                 // it writes by dry-run
	writing                // it writes
)

// call is the state of one call of package dependents. It is a value of the
// context.
type call struct {
	*access
	mode     mode
	policies dependents.Policies // of the component
	request  *dependents.Request // the request of the object, set by the call
	write    *dependents.Result  // what a dry-run would write; nil: nothing
	reached  bool                // the object needs a write
}

// access is the way to the cluster of the dependents in one pass.
type access struct {
	client client.Client   // of the pass; it may have the rights of another identity
	dry    client.Client   // the same, by dry-run
	find   checks.Resolver // reads from the cache and registers; nil: all reads are live
	live   client.Reader
	// read holds the objects as a dry-run read them, so that the write has their
	// versions as its precondition. A nil object does not exist.
	read *sync.Map // of client.Object, by checks.Ref
}

type callKey struct{}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

var errNoCall = errors.New("component: a call of package dependents outside of a pass")

// through is the client of package dependents. It reads and writes as the call in
// the context says. The scheme and the kinds are those of the manager.
type through struct {
	client.Client
	options *options
}

// Get reads the object of a dry-run again, from the cache, or live. A cached
// object that cannot become obj is read live.
func (t through) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	c := callOf(ctx)
	if c == nil {
		return errNoCall
	}
	gvk, err := t.GroupVersionKindFor(obj)
	if err != nil {
		return err
	}
	ref := checks.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: key.Namespace, Name: key.Name}
	if c.mode == writing {
		if read, ok := c.read.Load(ref); ok {
			if read == nil {
				return notFound(gvk, key.Name)
			}
			if into(read.(client.Object), obj, gvk) {
				return nil
			}
		}
	}
	if c.mode == looking && c.find != nil && t.options.watched(gvk.GroupKind()) {
		found, err := c.find(ctx, ref)
		if err != nil {
			return err
		}
		if !found.Found() {
			return notFound(gvk, key.Name)
		}
		if read, ok := found.Value.(client.Object); ok && into(read, obj, gvk) {
			return nil
		}
	}
	err = c.live.Get(ctx, key, obj, opts...)
	switch {
	case c.mode != trying:
	case err == nil:
		c.read.Store(ref, obj)
	case apierrors.IsNotFound(err):
		c.read.Store(ref, nil)
	}
	return err
}

func notFound(gvk schema.GroupVersionKind, name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, name)
}

// into sets obj to an object that was read, without a copy of its content. It
// returns false if the types do not fit.
func into(read, obj client.Object, gvk schema.GroupVersionKind) bool {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		switch r := read.(type) {
		case *unstructured.Unstructured:
			if r.GroupVersionKind() != gvk {
				return false
			}
			u.Object = r.Object
			return true
		default:
			if read.GetObjectKind().GroupVersionKind() != gvk || isPartial(read) {
				return false
			}
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(read)
			u.Object = content
			return err == nil
		}
	}
	if reflect.TypeOf(read) != reflect.TypeOf(obj) {
		return false
	}
	reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(read).Elem())
	return true
}

// writer returns the client for writes.
func (t through) writer(ctx context.Context) (client.Client, error) {
	switch c := callOf(ctx); {
	case c == nil || c.mode == validating || c.mode == looking:
		return nil, errNoCall
	case c.mode == writing:
		return c.client, nil
	default:
		return c.dry, nil
	}
}

// Create implements client.Client.
func (t through) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	w, err := t.writer(ctx)
	if err != nil {
		return err
	}
	return w.Create(ctx, obj, opts...)
}

// Update implements client.Client.
func (t through) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	w, err := t.writer(ctx)
	if err != nil {
		return err
	}
	return w.Update(ctx, obj, opts...)
}

// Delete implements client.Client. controller-runtime cannot read the answer about
// a [metav1.PartialObjectMetadata] whose kind the scheme lacks, so obj loses its
// type.
func (t through) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	w, err := t.writer(ctx)
	if err != nil {
		return err
	}
	gvk, err := t.GroupVersionKindFor(obj)
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	u.SetNamespace(obj.GetNamespace())
	u.SetName(obj.GetName())
	return w.Delete(ctx, u, opts...)
}

// Patch implements client.Client.
func (t through) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	w, err := t.writer(ctx)
	if err != nil {
		return err
	}
	return w.Patch(ctx, obj, patch, opts...)
}

// Apply implements client.Client.
func (t through) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	w, err := t.writer(ctx)
	if err != nil {
		return err
	}
	return w.Apply(ctx, obj, opts...)
}

func isPartial(obj client.Object) bool {
	_, partial := obj.(*metav1.PartialObjectMetadata)
	return partial
}

// past reads past the cache.
type past struct{}

// Get implements client.Reader. An object that the cache lacks counts as absent
// while the pass only looks, because a live read follows before each write.
func (p past) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	c := callOf(ctx)
	switch {
	case c == nil:
		return errNoCall
	case !isPartial(obj) && (c.mode == looking || c.mode == trying): // Get of through has read it just now
		return notFound(obj.GetObjectKind().GroupVersionKind(), key.Name)
	}
	return c.live.Get(ctx, key, obj, opts...)
}

// List implements client.Reader.
func (p past) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	c := callOf(ctx)
	if c == nil {
		return errNoCall
	}
	return c.live.List(ctx, list, opts...)
}
