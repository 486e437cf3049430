package write

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/windlass-go/windlass/ctrlx/internal/digest"
)

// Writer writes the objects of one kind. It is safe for concurrent use, for
// different objects.
type Writer struct {
	Name     string // of the reconciler, for errors
	Client   client.Client
	Live     client.Reader    // past the cache
	NotFound func(error) bool // reports whether an error of Live proves that the object does not exist
	// Wrote remembers the version of a write, or of a live read after a conflict; nil: nothing does. was is the UID of the
	// object that was to be written. The server may have another one by now.
	Wrote func(ctx context.Context, obj client.Object, was types.UID)
}

// ErrGone is the error of a write to an object that does not exist any more. The
// API server may have another object of its name.
var ErrGone = errors.New("the object was deleted")

// ErrNoStatus is the error of a write to the status of an object that exists.
var ErrNoStatus = errors.New("the kind has no status subresource: add it to the definition (+kubebuilder:subresource:status)")

// timeout is the time for a write that must not be lost: of the status, of a
// token and of the removal of a finalizer. It starts with the write, so the write
// is done after the deadline of the pass, and while the manager stops.
const timeout = 10 * time.Second

// lasting returns the context of a write that must not be lost.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), timeout)
}

// locked returns the patch that turns base into another object, unless another
// writer changed base.
func locked(base client.Object) client.Patch {
	return client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
}

// wrote remembers a write of obj; err is the error of the write.
func (w *Writer) wrote(ctx context.Context, obj client.Object, err error) error {
	if err == nil && w.Wrote != nil {
		w.Wrote(ctx, obj, obj.GetUID())
	}
	return err
}

// Status gives base the status of obj. It reads the answer of the
// API server into obj.
func (w *Writer) Status(ctx context.Context, base, obj client.Object) error {
	ctx, cancel := lasting(ctx)
	defer cancel()
	err := w.wrote(ctx, obj, w.Client.Status().Patch(ctx, obj, locked(base)))
	switch {
	case err == nil:
		return nil
	case apierrors.IsNotFound(err) && !w.gone(ctx, base, err):
		return fmt.Errorf("ctrlx: %s: %w: %s", w.Name, ErrNoStatus, err)
	}
	return fmt.Errorf("ctrlx: %s: the status: %w", w.Name, err)
}

// Change changes the status of base, and returns the object as it is now. If
// another writer changed the object meanwhile, Change reads it again, and calls
// change again. It writes nothing if change returns an error. written is false if
// there was nothing to write.
func (w *Writer) Change(ctx context.Context, base client.Object, change func(obj client.Object) error) (now client.Object, written bool, err error) {
	ctx, cancel := lasting(ctx)
	defer cancel()
	for {
		now = copied(base)
		if err := change(now); err != nil {
			return nil, false, err
		}
		if digest.SameStatus(base, now) {
			return now, false, nil
		}
		switch err := w.Status(ctx, base, now); {
		case err == nil:
			return now, true, nil
		case apierrors.IsConflict(err):
		case w.gone(ctx, base, err):
			return nil, false, ErrGone
		default:
			return nil, false, err
		}
		if base, err = w.read(ctx, base); err != nil {
			return nil, false, err
		}
	}
}

// read reads an object again. The error is ErrGone if it does not exist any more.
func (w *Writer) read(ctx context.Context, obj client.Object) (now client.Object, err error) {
	now = reflect.New(reflect.TypeOf(obj).Elem()).Interface().(client.Object)
	err = w.Live.Get(ctx, client.ObjectKeyFromObject(obj), now)
	if err == nil && w.Wrote != nil {
		w.Wrote(ctx, now, obj.GetUID()) // this process may have written it, and lost the answer; or the cache still has the object that was deleted
	}
	if w.NotFound(err) || err == nil && now.GetUID() != obj.GetUID() {
		return nil, ErrGone
	}
	now.GetObjectKind().SetGroupVersionKind(obj.GetObjectKind().GroupVersionKind())
	return now, err
}

// gone reports whether a write failed because the object was deleted, or was
// created again under its name.
func (w *Writer) gone(ctx context.Context, obj client.Object, err error) bool {
	if !apierrors.IsNotFound(err) && !apierrors.IsInvalid(err) { // a UID may not be changed
		return false
	}
	_, err = w.read(ctx, obj)
	return errors.Is(err, ErrGone)
}

// Metadata changes the metadata, unless another writer changed the object, and returns
// the object as it is now. It does not change obj, whose status may have changes that
// no write has stored.
func (w *Writer) Metadata(ctx context.Context, obj client.Object, change func(now client.Object)) (now client.Object, err error) {
	now = copied(obj)
	change(now)
	return now, w.wrote(ctx, now, w.Client.Patch(ctx, now, locked(obj)))
}

// RemoveFinalizer removes a finalizer from obj, and reports whether obj had it.
func (w *Writer) RemoveFinalizer(ctx context.Context, obj client.Object, name string) (removed bool, err error) {
	base := copied(obj)
	if !controllerutil.RemoveFinalizer(obj, name) {
		return false, nil
	}
	ctx, cancel := lasting(ctx)
	defer cancel()
	return true, w.wrote(ctx, obj, w.Client.Patch(ctx, obj, locked(base)))
}

func copied(obj client.Object) client.Object { return obj.DeepCopyObject().(client.Object) }
