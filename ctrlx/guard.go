package ctrlx

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/flow"
)

// GuardAnnotation is the annotation in which an object records the objects that
// it guards ([WithGuard]). It is written before the finalizer of a guarded
// object, so that a restarted operator finds each finalizer that it has to
// remove. Do not edit it.
const GuardAnnotation = "windlass-go.github.io/guards"

// maxGuarded is the maximum number of objects that an object guards. The
// annotations of an object have at most 256 KiB.
const maxGuarded = 100

// WithGuard keeps each object that a resource refers to until no resource of the
// kind needs it. It adds a finalizer to the referenced object before Apply, and
// removes it when the last resource that refers to the object is deleted or
// refers to another object. The finalizer names the kind of the resources, for
// example "database.example.com/in-use". So resources of several kinds guard one
// object independently. refs is called in each pass that comes to Apply, or finds
// that the cloud matches the spec. A Ref without a name is ignored.
//
// A referenced object that is missing or is being deleted blocks a resource that
// does not use it yet (ReferenceNotFound, ReferenceDeleting). A resource that uses
// it already continues. A resource that changes its reference from A to B guards
// both until it is Ready with B.
//
// The guard keeps the object in the API server, and not what the controller of
// that object deletes in the cloud. Give the object's own reconciler the check
// checks.Unused on DeleteCheck, if there is one.
//
// Every step survives the end of the process at any moment, and a former leader
// whose last request arrives late. The resource records in [GuardAnnotation] what
// it guards before it changes the referenced object. Its own finalizer keeps it
// until the record is handled. Users of an object are counted by live lists of
// metadata. A finalizer is removed only from an object that did not change since
// it was read, before that list. If a person removes the finalizer of a resource
// by force, the guarded object keeps its finalizer until another resource of the
// kind refers to it and releases it, or until that person removes it, too.
//
// These are errors that only a change of the spec ends: a reference without a
// kind, a reference to the resource itself, a reference from one namespace into
// another, and more than 100 references. A nil function panics, and so does a
// second WithGuard: return all references from one function.
//
// The manager needs the rights to get and patch the referenced kinds, and to list
// the resources: in all namespaces, if the referenced kind has no namespace.
func WithGuard[T client.Object](refs func(resource T) []checks.Ref) Option {
	if refs == nil {
		panic("ctrlx: WithGuard: the function is nil")
	}
	return func(o *options) {
		if o.guard != nil {
			panic("ctrlx: WithGuard is given twice: return all references from one function")
		}
		o.guard = refs
	}
}

// guard adds and removes the finalizers of guarded objects.
//
// The protocol has two orders. A resource that begins to use an object writes its
// record, and then reads the object live. A resource that releases an object
// changes its record, marks the object, and then lists the other records. The mark
// replaces the finalizer by another one, which also keeps the object. So one of
// the two sees the other: if the first one read the object before the mark, the
// list shows its record. Otherwise it replaces the mark by the finalizer, and the
// removal of the mark meets a conflict. An object that is being deleted needs no
// mark, because no resource begins to use it.
//
// Of two resources that release an object at the same time, at least one list
// shows neither, because each changes its record before it lists.
type guard[T client.Object] struct {
	r         *Reconciler[T]
	refs      func(T) []checks.Ref
	mapper    meta.RESTMapper
	finalizer string // keeps a guarded object
	mark      string // keeps a guarded object that a resource is releasing
}

// The states of a guarded object in a record.
const (
	stateHeld     = "held"     // the resource may use it
	stateReleased = "released" // the resource does not use it any more; the finalizer may have to be removed
)

// guardRecord is the value of GuardAnnotation.
type guardRecord struct {
	UID  types.UID         `json:"uid"`  // of the resource: a copied record counts for nothing
	Refs map[string]string `json:"refs"` // the states, by target.key
}

// recordOf returns the states in the record of an object; nil: there are none.
func recordOf(obj client.Object) (map[string]string, error) {
	value, ok := obj.GetAnnotations()[GuardAnnotation]
	if !ok {
		return nil, nil
	}
	var rec guardRecord
	if err := json.Unmarshal([]byte(value), &rec); err != nil {
		return nil, reconcile.TerminalError(fmt.Errorf("the annotation %s cannot be read; remove it: %w", GuardAnnotation, err))
	}
	if rec.UID != obj.GetUID() {
		return nil, nil
	}
	return rec.Refs, nil
}

// target is an object that a resource refers to.
type target struct {
	key     string // in records
	ref     checks.Ref
	gvk     schema.GroupVersionKind
	missing bool // the kind is not installed
}

// setUp sets what the manager gives.
func (g *guard[T]) setUp(mapper meta.RESTMapper) {
	g.mapper = mapper
	g.finalizer = strings.TrimSuffix(strings.ToLower(g.r.kind.Kind)+"."+g.r.kind.Group, ".") + "/in-use"
	g.mark = g.finalizer + "-releasing"
}

// extended returns ext with the links of the guard.
func (g *guard[T]) extended(ext flow.Extensions[T], gets bool) flow.Extensions[T] {
	const name = "Guard"
	ext.PreCheck = ext.PreCheck.Append(chain.Named(name, checks.Gate(name, g.check)))
	if gets {
		ext.Get = ext.Get.Prepend(chain.Named(name, inSync(g.inSync)))
	}
	ext.Pass = ext.Pass.Prepend(chain.Named(name, func(next flow.PassHandler[T]) flow.PassHandler[T] {
		return func(ctx context.Context, obj T) (flow.Outcome, error) {
			out, err := next(ctx, obj)
			if err != nil {
				return out, err
			}
			switch out.State() {
			case flow.StateReady:
				return out, g.releaseOthers(ctx, obj)
			case flow.StateGone:
				return out, g.release(ctx, obj, func(string) bool { return true })
			}
			return out, nil
		}
	}))
	return ext
}

// check protects the objects that a resource refers to, before Apply.
func (g *guard[T]) check(ctx context.Context, req *checks.Request[T]) (checks.Result, error) {
	obj := req.Resource
	wanted, err := g.wanted(obj)
	if err != nil || len(wanted) == 0 {
		return checks.Proceed(), err
	}
	t, state, err := g.hold(ctx, obj, wanted, false)
	if err == nil && state != protected && req.Resolver != nil {
		// Registers the object, so that a change after the next live read wakes the resource.
		if _, err := req.Resolver(ctx, t.ref); err == nil {
			t, state, err = g.hold(ctx, obj, wanted, false)
			if err != nil {
				return checks.Result{}, err
			}
		}
	}
	switch {
	case err != nil:
		return checks.Result{}, err
	case state == absent:
		return checks.Block(checks.ReasonReferenceNotFound, t.ref.String()+" was not found: waiting until it is created",
			checks.WithRetry(classify.Fast), checks.WithWaitingFor(t.ref)), nil
	case state == ending:
		return checks.Block(ReasonReferenceDeleting, t.ref.String()+" is being deleted: refer to another object, or wait until it is created again",
			checks.WithRetry(classify.Fast), checks.WithWaitingFor(t.ref)), nil
	}
	return checks.Proceed(), nil
}

// inSync protects the objects that a resource uses already.
func (g *guard[T]) inSync(ctx context.Context, obj T) error {
	wanted, err := g.wanted(obj)
	if err != nil || len(wanted) == 0 {
		return err
	}
	_, _, err = g.hold(ctx, obj, wanted, true)
	return err
}

// releaseOthers releases the objects that a Ready resource does not refer to.
func (g *guard[T]) releaseOthers(ctx context.Context, obj T) error {
	if p := passOf(ctx); p != nil && p.settledFor > 0 {
		return nil
	}
	if states, err := recordOf(obj); err == nil && len(states) == 0 {
		return nil
	}
	wanted, err := g.wanted(obj)
	if err != nil {
		return err
	}
	return g.release(ctx, obj, func(key string) bool {
		return !slices.ContainsFunc(wanted, func(t target) bool { return t.key == key })
	})
}

// wanted returns the objects that a resource refers to, each once.
func (g *guard[T]) wanted(obj T) (all []target, err error) {
	for _, ref := range g.refs(obj) {
		if ref.Name == "" && ref.Set == "" {
			continue
		}
		t, err := g.target(ref.Group, ref.Kind, cmp.Or(ref.Namespace, obj.GetNamespace()), ref.Name)
		wrong := ""
		switch own := g.r.kind.GroupKind(); {
		case ref.Set != "":
			wrong = "is a set: refer to its objects"
		case ref.Kind == "":
			wrong = "has no kind"
		case strings.Contains(ref.Group+ref.Kind+ref.Namespace+ref.Name, "/"):
			wrong = "is no name of an object"
		case err != nil:
			return nil, err
		case obj.GetNamespace() != "" && t.ref.Namespace != "" && t.ref.Namespace != obj.GetNamespace():
			wrong = "is in another namespace: a guard counts the users of one namespace"
		case obj.GetNamespace() == "" && g.r.opt.foreign.refused("", t.ref) != nil:
			wrong = "is in a namespace that ctrlx.WithForeignReferences does not allow"
		case t.gvk.GroupKind() == own && t.ref.Name == obj.GetName() && t.ref.Namespace == obj.GetNamespace():
			wrong = "is the resource itself, which could never be deleted"
		case len(all) == maxGuarded:
			wrong = fmt.Sprintf("is one of more than %d references", maxGuarded)
		}
		if wrong != "" {
			return nil, reconcile.TerminalError(fmt.Errorf("the guarded reference %s %s; correct the reference", ref, wrong))
		}
		if !slices.ContainsFunc(all, func(o target) bool { return o.key == t.key }) {
			all = append(all, t)
		}
	}
	return all, nil
}

// target returns an object of a kind that discovery knows.
func (g *guard[T]) target(group, kind, namespace, name string) (target, error) {
	gk := schema.GroupKind{Group: group, Kind: kind}
	mapping, err := g.mapper.RESTMapping(gk)
	t := target{missing: meta.IsNoMatchError(err)}
	switch {
	case t.missing:
		t.gvk = gk.WithVersion("")
	case err != nil:
		return t, fmt.Errorf("the guarded kind %s: %w", gk, err)
	default:
		t.gvk = mapping.GroupVersionKind
		if mapping.Scope.Name() == meta.RESTScopeNameRoot {
			namespace = ""
		}
	}
	t.ref = checks.Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}
	t.key = keyOfRef(t.ref)
	return t, nil
}

// keyOfRef returns the key of an object in a record.
func keyOfRef(ref checks.Ref) string {
	return strings.Join([]string{ref.Group, ref.Kind, ref.Namespace, ref.Name}, "/")
}

// cycle returns the path if the object of a pass waits for an object that a user
// deletes, and that the object itself keeps. Each of them waits for the other.
func (g *guard[T]) cycle(p *pass, obj T, out flow.Outcome) []checks.Ref {
	if g == nil || out.State() != flow.StateBlocked {
		return nil
	}
	for _, ref := range out.WaitingFor() {
		if f := p.seenAs(p.engine.Resolved(p, ref)); f.Object != nil && g.holds(obj, f.Ref, f.Object) {
			self := p.engine.Waiter()
			path := checks.Ref{Group: self.Group, Kind: self.Kind, Namespace: self.Namespace, Name: self.Name}
			return []checks.Ref{path, f.Ref, path}
		}
	}
	return nil
}

// holds reports whether a user deletes at, the object of ref, and the guard of obj
// keeps it.
func (g *guard[T]) holds(obj client.Object, ref checks.Ref, at client.Object) bool {
	if at.GetDeletionTimestamp().IsZero() || !g.keeps(at) {
		return false
	}
	states, err := recordOf(obj)
	ref.ID = ""
	return err == nil && states[keyOfRef(ref)] == stateHeld
}

// targetOf returns the object of a key.
func (g *guard[T]) targetOf(key string) (target, error) {
	parts := strings.Split(key, "/")
	if len(parts) != 4 {
		return target{}, reconcile.TerminalError(fmt.Errorf("the annotation %s names no object by %q; remove it", GuardAnnotation, key))
	}
	return g.target(parts[0], parts[1], parts[2], parts[3])
}

// protection is the state of a referenced object.
type protection int

const (
	protected protection = iota
	absent               // it does not exist
	ending               // a user deletes it, and the resource must not begin to use it
)

// hold records that a resource uses objects, and adds their finalizers. uses
// reports that the resource uses them already. If an object is not protected,
// hold returns the first such object.
func (g *guard[T]) hold(ctx context.Context, obj T, wanted []target, uses bool) (first target, state protection, err error) {
	defer func() {
		if err != nil && first.key != "" {
			err = fmt.Errorf("the guard of %s: %w", first.ref, err)
		}
	}()
	was, err := recordOf(obj)
	if err != nil {
		return target{}, 0, err
	}
	next := maps.Clone(was)
	for _, t := range wanted {
		if !uses && was[t.key] != stateHeld { // in most cases, a resource that must not begin writes nothing
			if _, state, err := g.look(ctx, t, false); state != protected || err != nil {
				return t, state, err
			}
		}
		if next == nil {
			next = map[string]string{}
		}
		next[t.key] = stateHeld
	}
	if err := g.r.finalized(ctx, obj); err != nil {
		return target{}, 0, err
	}
	if err := g.record(ctx, obj, was, next); err != nil {
		return target{}, 0, err
	}
	for _, t := range wanted {
		s, err := g.protect(ctx, t, uses || was[t.key] == stateHeld)
		if err != nil {
			return t, s, err
		}
		if s != protected && state == protected {
			first, state = t, s
		}
		if s == ending && !uses && was[t.key] != stateHeld { // the object must not wait for this resource
			if err := g.release(ctx, obj, func(key string) bool { return key == t.key }); err != nil {
				return t, s, err
			}
		}
	}
	return first, state, nil
}

// look reads an object live, and reports whether a resource may use it: protected,
// absent or ending. uses reports that the resource may use it already.
func (g *guard[T]) look(ctx context.Context, t target, uses bool) (at *metav1.PartialObjectMetadata, state protection, err error) {
	if t.missing {
		return nil, absent, nil
	}
	at, err = g.read(ctx, t)
	switch {
	case at == nil || err != nil:
		return nil, absent, err
	case !at.GetDeletionTimestamp().IsZero() && !(uses && g.keeps(at)):
		return at, ending, nil
	}
	return at, protected, nil
}

// keeps reports whether a guard of the kind keeps an object.
func (g *guard[T]) keeps(at client.Object) bool {
	return controllerutil.ContainsFinalizer(at, g.finalizer) || controllerutil.ContainsFinalizer(at, g.mark)
}

// attempts bounds the repetitions of a write after a conflict.
const attempts = 5

// protect adds the finalizer to an object that a resource may use.
func (g *guard[T]) protect(ctx context.Context, t target, uses bool) (protection, error) {
	for range attempts {
		at, state, err := g.look(ctx, t, uses)
		if err != nil || state != protected || !at.GetDeletionTimestamp().IsZero() ||
			controllerutil.ContainsFinalizer(at, g.finalizer) && !controllerutil.ContainsFinalizer(at, g.mark) {
			return state, err
		}
		err = g.patch(ctx, at, func() {
			controllerutil.AddFinalizer(at, g.finalizer)
			controllerutil.RemoveFinalizer(at, g.mark)
		})
		if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return protected, err
		}
	}
	return 0, g.busy(t)
}

// release ends the use of the objects that drop chooses, and of the objects whose
// release an earlier pass began. It removes the finalizer of each object that no
// other resource uses. The resource does not use these objects any more.
func (g *guard[T]) release(ctx context.Context, obj T, drop func(key string) bool) error {
	was, err := recordOf(obj)
	if err != nil {
		return err
	}
	next := maps.Clone(was)
	var keys []string
	for key, state := range was {
		if state == stateReleased || drop(key) {
			next[key] = stateReleased
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	if err := g.record(ctx, obj, was, next); err != nil {
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
	}
	if len(errs) > 0 || deleting(obj) { // the record of a deleted resource vanishes with it
		return errors.Join(errs...)
	}
	was, next = next, maps.Clone(next)
	maps.DeleteFunc(next, func(key, _ string) bool { return slices.Contains(keys, key) })
	return g.record(ctx, obj, was, next)
}

// unprotect removes the finalizer of an object that no other resource uses.
func (g *guard[T]) unprotect(ctx context.Context, obj T, t target) error {
	if used, err := g.used(ctx, obj, t); used || err != nil { // the user releases the object later
		return err
	}
	for range attempts {
		at, err := g.read(ctx, t)
		switch {
		case at == nil || err != nil:
			return err
		case !g.keeps(at):
			return nil
		}
		ends := !at.GetDeletionTimestamp().IsZero()
		if !ends && !controllerutil.ContainsFinalizer(at, g.mark) {
			err = g.patch(ctx, at, func() {
				controllerutil.AddFinalizer(at, g.mark)
				controllerutil.RemoveFinalizer(at, g.finalizer)
			})
		}
		used := false
		if err == nil {
			used, err = g.used(ctx, obj, t)
		}
		if err == nil && !(used && ends) {
			err = g.patch(ctx, at, func() {
				controllerutil.RemoveFinalizer(at, g.finalizer)
				controllerutil.RemoveFinalizer(at, g.mark)
				if used {
					controllerutil.AddFinalizer(at, g.finalizer)
				}
			})
		}
		if !apierrors.IsConflict(err) {
			return client.IgnoreNotFound(err)
		}
	}
	return g.busy(t)
}

// busy returns the error of an object that other writers change all the time. It
// is retried as a conflict.
func (g *guard[T]) busy(t target) error {
	return apierrors.NewConflict(schema.GroupResource{Group: t.gvk.Group, Resource: t.gvk.Kind}, t.ref.Name,
		fmt.Errorf("it changed %d times while its finalizers were written", attempts))
}

// used reports whether the record of a resource holds an object. A record that
// cannot be read counts as one that does. The record of obj does not, unless a
// later leader has changed it. The list is live.
func (g *guard[T]) used(ctx context.Context, obj T, t target) (bool, error) {
	namespace, page := t.ref.Namespace, ""
	if obj.GetNamespace() == "" {
		namespace = ""
	}
	for limit := int64(10); ; limit = min(limit*10, 1000) { // the first page usually shows a user, if there is one
		var list metav1.PartialObjectMetadataList
		list.SetGroupVersionKind(g.r.kind.GroupVersion().WithKind(g.r.kind.Kind + "List"))
		err := g.r.engine.Live().List(ctx, &list, client.InNamespace(namespace), client.Limit(limit), client.Continue(page))
		if apierrors.IsResourceExpired(err) && page != "" {
			page = ""
			continue
		}
		if err != nil {
			return false, fmt.Errorf("the list of its users: %w", err)
		}
		for i := range list.Items {
			states, err := recordOf(&list.Items[i])
			if err != nil || states[t.key] == stateHeld {
				return true, nil
			}
		}
		if page = list.GetContinue(); page == "" {
			return false, nil
		}
	}
}

// read reads the metadata of an object live; nil: it does not exist.
func (g *guard[T]) read(ctx context.Context, t target) (*metav1.PartialObjectMetadata, error) {
	at := &metav1.PartialObjectMetadata{}
	at.SetGroupVersionKind(t.gvk)
	err := g.r.engine.Live().Get(ctx, client.ObjectKey{Namespace: t.ref.Namespace, Name: t.ref.Name}, at)
	if kubernetes.NotFound(err) {
		return nil, nil
	}
	return at, err
}

// patch writes a change of the finalizers of an object, if the object is still as
// at was read.
func (g *guard[T]) patch(ctx context.Context, at *metav1.PartialObjectMetadata, change func()) error {
	base := at.DeepCopy()
	change()
	id := engine.ID(at.GroupVersionKind().GroupKind(), client.ObjectKeyFromObject(at))
	err := g.r.engine.Touch(ctx, id, base.ResourceVersion, func(ctx context.Context) (string, error) {
		err := g.r.client.Patch(ctx, at, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
		return at.GetResourceVersion(), err
	})
	if err == nil {
		passOf(ctx).touched(base, at)
	}
	return err
}

// record writes the record of a resource, if it changes. It does not write an
// orphan, which the API server has deleted.
func (g *guard[T]) record(ctx context.Context, obj T, was, next map[string]string) error {
	p := passOf(ctx)
	if maps.Equal(was, next) || p != nil && p.orphan {
		return nil
	}
	value := ""
	if len(next) > 0 {
		data, err := json.Marshal(guardRecord{obj.GetUID(), next})
		if err != nil {
			return err
		}
		value = string(data)
	}
	now, err := g.r.writer().SetAnnotation(ctx, obj, GuardAnnotation, value)
	if err != nil {
		return &finalizerError{fmt.Errorf("ctrlx: %s: the annotation %s: %w", g.r.name, GuardAnnotation, err)}
	}
	g.r.metadataWritten(ctx, obj, now)
	if p != nil { // as if the pass had read it: the write is no change of the inputs
		read := p.read.DeepCopyObject().(client.Object)
		read.SetAnnotations(obj.GetAnnotations())
		p.read = read
	}
	return nil
}

// sameAnnotations reports whether two versions of an object have the same
// annotations. A new record of a guard is no difference, because the reconciler
// wrote it. A removed record is one. The annotations of an ApplySet do not count.
func sameAnnotations(old, now map[string]string) bool {
	if maps.Equal(old, now) {
		return true
	}
	_, recorded := now[GuardAnnotation]
	old, now = maps.Clone(old), maps.Clone(now)
	for _, m := range []map[string]string{old, now} {
		maps.DeleteFunc(m, func(key, _ string) bool {
			return recorded && key == GuardAnnotation || strings.HasPrefix(key, applySetPrefix)
		})
	}
	return maps.Equal(old, now)
}
