package inuse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
)

// Annotation is the annotation in which a resource records the objects that it guards. It is written before the finalizer of
// a guarded object, so that a restarted operator finds each finalizer that it has to remove. Do not edit it.
const Annotation = ctrlx.AheadPrefix + annotation

const annotation = "in-use"

// The states of a guarded object in a record.
const (
	stateHeld     = "held"     // the resource may use it
	stateReleased = "released" // the resource does not use it any more; the finalizer may have to be removed
	stateGone     = "gone"     // as released, because the resource is deleted in the cloud
)

// stored is the value of Annotation, as JSON.
type stored struct {
	UID     types.UID         `json:"uid"`     // of the resource: a copied record counts for nothing
	Objects map[string]string `json:"objects"` // the states, each with a key of keyOf
}

// format returns the value for a resource with a UID.
func format(uid types.UID, states map[string]string) string {
	value, _ := json.Marshal(stored{uid, states}) // of texts, so there is no error
	return string(value)
}

// keyOf returns the key of an object in a record.
func keyOf(ref checks.Ref) string {
	return strings.Join([]string{ref.Group, ref.Kind, ref.Namespace, ref.Name}, "/")
}

// targetOf returns the object of a key.
func (g *guard[T]) targetOf(key string) (target, error) {
	parts := strings.Split(key, "/")
	if len(parts) != 4 {
		return target{}, reconcile.TerminalError(fmt.Errorf("the annotation %s names no object by %q; remove it", Annotation, key))
	}
	return g.target(parts[0], parts[1], parts[2], parts[3])
}

// recordOf returns the states in the record of a resource; nil: there are none.
func recordOf(obj client.Object) (map[string]string, error) {
	value, ok := obj.GetAnnotations()[Annotation]
	if !ok {
		return nil, nil
	}
	var s stored
	err := errors.New("it is no JSON")
	if json.Valid([]byte(value)) { // an alias of YAML makes a large value of a short text
		err = yaml.UnmarshalStrict([]byte(value), &s) // which refuses a key that is there twice
	}
	switch {
	case err != nil:
	case s.UID == "":
		err = errors.New("the UID is missing")
	case len(s.Objects) > maxRecorded:
		err = fmt.Errorf("it has more than %d objects", maxRecorded)
	}
	for key, state := range s.Objects {
		if state != stateHeld && state != stateReleased && state != stateGone {
			err = fmt.Errorf("the state %q of %s is unknown", state, key)
		}
	}
	switch {
	case err != nil:
		return nil, reconcile.TerminalError(fmt.Errorf("the annotation %s cannot be read; remove it: %w", Annotation, err))
	case s.UID != obj.GetUID():
		return nil, nil
	}
	return s.Objects, nil
}

// isGone reports whether an earlier pass found that a resource is deleted in the cloud, and began to release its objects.
func isGone(obj client.Object) bool {
	states, err := recordOf(obj)
	for _, state := range states {
		if state != stateGone {
			return false
		}
	}
	return err == nil && len(states) > 0
}

// write writes the record of a resource.
func (g *guard[T]) write(ctx context.Context, obj T, states map[string]string) error {
	value := ""
	if len(states) > 0 {
		value = format(obj.GetUID(), states)
	}
	return ctrlx.WriteAhead(ctx, obj, annotation, value)
}

// hold records that a resource uses objects, and adds their finalizers. uses reports that the resource uses them already. If
// an object is not protected, hold returns the first such object, with its state.
func (g *guard[T]) hold(ctx context.Context, obj T, wanted []target, uses bool) (first target, err error) {
	defer func() {
		if err != nil && first.key != "" {
			err = fmt.Errorf("the guard of %s: %w", first.ref, err)
		}
	}()
	was, err := recordOf(obj)
	if err != nil {
		return target{}, err
	}
	next := maps.Clone(was)
	for _, t := range wanted {
		if !uses && was[t.key] != stateHeld { // in most cases, a resource that must not begin writes nothing
			if _, err := g.look(ctx, &t, false); t.state != protected {
				return t, err
			}
		}
		if next == nil {
			next = map[string]string{}
		}
		next[t.key] = stateHeld
	}
	if len(next) > maxRecorded {
		return target{}, reconcile.TerminalError(fmt.Errorf("the guard keeps %d objects, and releases earlier ones when the resource is ready: refer to some of these again", len(next)))
	}
	if err := g.write(ctx, obj, next); err != nil {
		return target{}, err
	}
	for _, t := range wanted {
		if err := g.protect(ctx, &t, uses || was[t.key] == stateHeld); err != nil {
			return t, err
		}
		if first.state == protected {
			first = t
		}
		if t.state == ending && !uses && was[t.key] != stateHeld { // the object must not wait for this resource
			if err := g.release(ctx, obj, stateReleased, func(key string) bool { return key == t.key }); err != nil {
				return t, err
			}
		}
	}
	return first, nil
}

// release ends the use of the objects that drop chooses, and of the objects whose release an earlier pass began. It removes
// the finalizer of each object that no other resource uses. The resource does not use these objects any more. released is
// their new state in the record.
func (g *guard[T]) release(ctx context.Context, obj T, released string, drop func(key string) bool) error {
	was, err := recordOf(obj)
	if err != nil {
		return err
	}
	next := maps.Clone(was)
	var keys []string
	for key, state := range was {
		if state != stateHeld || drop(key) {
			next[key] = released
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	if err := g.write(ctx, obj, next); err != nil {
		return err
	}
	slices.Sort(keys)
	var errs []error
	for _, key := range keys {
		t, err := g.targetOf(key)
		if err == nil && !t.missing {
			err = g.unprotect(ctx, obj, t)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("the guard of %s: %w", key, err))
		}
		delete(next, key)
	}
	if len(errs) > 0 || !obj.GetDeletionTimestamp().IsZero() { // the record of a deleted resource vanishes with it
		return errors.Join(errs...)
	}
	return g.write(ctx, obj, next)
}
