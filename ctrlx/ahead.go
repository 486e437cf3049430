package ctrlx

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// AheadPrefix begins the names of the annotations of [WriteAhead].
const AheadPrefix = "ahead.windlass-go.github.io/"

// WriteAhead sets the annotation [AheadPrefix] + name of the resource of a pass, and adds the finalizer of the reconciler,
// in one write. An empty value removes the annotation. Call it in a link before the link changes anything outside of the
// resource: a later pass then finds the annotation and can undo the change, also a pass of a deletion, or of another process.
// [WithFinalizer] names the finalizer.
//
// The write causes no pass. It is refused if the resource was changed since the pass read it; the pass then ends without an
// event, and the resource is read again. WriteAhead writes nothing if nothing changes, and nothing for a resource that the API
// server has deleted. It is an error outside of a pass, and without Operations.Delete: nothing would read the annotation of a
// deleted resource.
//
// resource is that of the request of the link. Users of the resource can change its annotations, and a copy has the
// annotations of the original: store the UID in value, and check it.
func WriteAhead(ctx context.Context, resource client.Object, name, value string) error {
	p := passOf(ctx)
	if p == nil {
		return errors.New("ctrlx: WriteAhead: the context is that of no pass: hand on the context that the link was given")
	}
	return p.of.writeAhead(ctx, resource, AheadPrefix+name, value)
}

func (r *core) writeAhead(ctx context.Context, obj client.Object, name, value string) error {
	p := passOf(ctx)
	switch {
	case !r.kind.Is(obj):
		return fmt.Errorf("ctrlx: %s: WriteAhead: the resource is a %T: give that of the request", r.name, obj)
	case !r.finalizes:
		return fmt.Errorf("ctrlx: %s: WriteAhead needs Operations.Delete: set it, for example to a function that is done at once", r.name)
	case p.orphan:
		return nil
	}
	finalized := controllerutil.ContainsFinalizer(obj, r.opt.finalizer)
	if was, had := obj.GetAnnotations()[name]; finalized && was == value && had == (value != "") {
		return nil
	}
	if err := r.hasStatus(ctx); err != nil {
		return err
	}
	now, err := r.writer().Metadata(ctx, obj, func(now client.Object) {
		annotations := maps.Clone(now.GetAnnotations())
		if annotations == nil {
			annotations = map[string]string{}
		}
		if annotations[name] = value; value == "" {
			delete(annotations, name)
		}
		now.SetAnnotations(annotations)
		controllerutil.AddFinalizer(now, r.opt.finalizer)
	})
	if err != nil {
		return &finalizerError{fmt.Errorf("ctrlx: %s: the annotation %s: %w", r.name, name, err)}
	}
	r.metadataWritten(ctx, obj, now)
	read := r.kind.Copy(p.read) // as if the pass had read it: the write is no change of the inputs
	read.SetAnnotations(obj.GetAnnotations())
	p.read = read
	if !finalized {
		p.finalizing, p.in.New = true, true
	}
	return nil
}

// aheadOf returns the annotations of [WriteAhead].
func aheadOf(obj client.Object) map[string]string {
	all := maps.Clone(obj.GetAnnotations())
	maps.DeleteFunc(all, func(key, _ string) bool { return !strings.HasPrefix(key, AheadPrefix) })
	return all
}

// sameAnnotations reports whether two versions of an object have the same annotations. A new value of [WriteAhead] is no
// difference, because the reconciler wrote it. A removed one is. The annotations of an ApplySet do not count.
func sameAnnotations(old, now map[string]string) bool {
	if maps.Equal(old, now) {
		return true
	}
	counts := func(all map[string]string) map[string]string {
		all = maps.Clone(all)
		maps.DeleteFunc(all, func(key, _ string) bool {
			_, still := now[key]
			return still && strings.HasPrefix(key, AheadPrefix) || strings.HasPrefix(key, applySetPrefix)
		})
		return all
	}
	return maps.Equal(counts(old), counts(now))
}
