// Package inuse keeps each object that a resource refers to until no resource of the kind needs it. It consists of links on
// public names of package ctrlx.
//
//	ops, ext := databaseOperations(cloud), databaseExtensions()
//	guard := inuse.Add(mgr, passwordOf, &ops, &ext)
//	databases := ctrlx.New("Database", ops, ext, guard)
//
// The files: inuse.go has the links, record.go what a resource records, and finalizers.go how objects are protected and
// released.
package inuse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/flow"
)

// ReasonReferenceDeleting: a referenced object is being deleted, so the resource must not begin to use it.
const ReasonReferenceDeleting = "ReferenceDeleting"

// maxGuarded is the maximum number of objects that a resource guards, and maxRecorded of those in its record, which also has
// objects that are being released. The release of one takes some requests.
const maxGuarded, maxRecorded = 100, 1000

// Add adds the links of a guard to operations and extensions, and returns the option that [ctrlx.New] needs with them. A
// guard adds a finalizer to each object that a resource refers to before Apply, and removes it when the last resource that
// refers to the object is deleted or refers to another object. The finalizer names the kind of the resources, for example
// "database.example.com/in-use". So resources of several kinds guard one object independently. refs is called in each pass
// that comes to Apply, or finds that the cloud matches the spec. A Ref without a name is ignored. Operations.Delete is set
// if it is nil.
//
// A referenced object that is missing blocks each resource that comes to Apply (ReferenceNotFound). An object that is being
// deleted blocks a resource that does not use it yet (ReferenceDeleting). A resource that uses it already continues, as long as
// a finalizer of the guard keeps the object. A resource that changes its reference from A to B guards both until it is Ready
// with B. If a link leaves out Apply ([flow.Skip]), the Ready resource guards both until Apply is done, or Get finds that the
// cloud matches the spec. If a link skips the check of the objects ([checks.Skip]), Apply makes it: it fails where the check
// would block. Set Operations.Apply before Add: an Apply that is set later is not guarded.
//
// The guard keeps the object in the API server, and not what the controller of that object deletes in the cloud. Give the
// object's own reconciler the check checks.Unused on DeleteCheck, if there is one.
//
// Every step survives the end of the process at any moment, and a former leader whose last request arrives late. The resource
// records in [Annotation] what it guards before it changes the referenced object. Its own finalizer keeps it until the record
// is handled. If the process ends after the release of a deleted resource, the next pass ends the deletion: no check and no
// Delete runs. Users of an object are counted by live lists of metadata. A finalizer is removed only from an object that did
// not change since it was read, before that list. If a person removes the finalizer of a resource by force, the guarded object
// keeps its finalizer until another resource of the kind refers to it and releases it, or until that person removes it, too.
//
// These are errors that only a change of the spec ends: a reference without a kind, a reference to the resource itself, a
// reference from one namespace into another, and more than 100 references. A resource without a namespace may refer to the
// objects that [ctrlx.WithForeignReferences] allows. A nil argument or Operations.Apply panics, and so does a kind that the
// scheme of the manager does not know. A second guard of a kind panics in [ctrlx.New]: return all references from one function.
//
// The manager needs the rights to get and patch the referenced kinds, and to list the resources: in all namespaces, if the
// referenced kind has no namespace.
func Add[T client.Object](mgr manager.Manager, refs func(resource T) []checks.Ref, ops *flow.Operations[T], ext *flow.Extensions[T]) ctrlx.Option {
	if mgr == nil || refs == nil || ops == nil || ext == nil || ops.Apply == nil {
		panic("inuse: Add: an argument or Operations.Apply is nil")
	}
	gvk, err := apiutil.GVKForObject(reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T), mgr.GetScheme())
	if err != nil {
		panic(fmt.Sprintf("inuse: Add: add the type to the manager's scheme: %v", err))
	}
	finalizer := strings.TrimSuffix(strings.ToLower(gvk.Kind)+"."+gvk.Group, ".") + "/in-use"
	g := &guard[T]{refs: refs, live: mgr.GetAPIReader(), mapper: mgr.GetRESTMapper(), gvk: gvk, finalizer: finalizer, mark: finalizer + "-releasing"}
	const name = "Guard"
	ext.EntryCheck = ext.EntryCheck.Prepend(chain.Named(name, checks.Gate(name, g.ends)))
	ext.PreCheck = ext.PreCheck.Append(chain.Named(name, checks.Gate(name, g.check)))
	if ops.Get != nil || ext.Get.Len() > 0 {
		ext.Get = ext.Get.Prepend(chain.Named(name, chain.After(g.inSync)))
	}
	ops.Apply = g.guarded(ops.Apply)
	ext.Apply = ext.Apply.Prepend(chain.Named(name, chain.After(g.applied)))
	ext.Pass = ext.Pass.Prepend(chain.Named(name, g.releases))
	if ops.Delete == nil { // so that a resource has a finalizer until it has released all objects
		ops.Delete = func(context.Context, *flow.Request[T]) (flow.Progress, error) { return flow.Done(), nil }
	}
	return ctrlx.WithKeeping(func(obj T, ref checks.Ref, other client.Object) bool {
		states, err := recordOf(obj)
		return err == nil && g.keeps(other) && states[keyOf(ref)] == stateHeld
	})
}

// guard adds and removes the finalizers of guarded objects.
type guard[T client.Object] struct {
	refs      func(T) []checks.Ref
	live      client.Reader
	mapper    meta.RESTMapper
	gvk       schema.GroupVersionKind
	finalizer string // keeps a guarded object
	mark      string // keeps a guarded object that a resource is releasing
}

// ends ends a deletion whose last pass released the objects and did not remove the finalizer of the resource: its process
// ended, or a write failed. The other checks would wait for objects that may have vanished since then.
func (g *guard[T]) ends(_ context.Context, req *checks.Request[T]) (checks.Result, error) {
	if req.Deleting && isGone(req.Resource) {
		return checks.Release(""), nil // without a text, ctrlx reports no release without a deletion
	}
	return checks.Proceed(), nil
}

// check protects the objects that a resource refers to, before Apply.
func (g *guard[T]) check(ctx context.Context, req *checks.Request[T]) (checks.Result, error) {
	wanted, err := g.wanted(ctx, &req.OwnerRequest, req.Resource)
	if len(wanted) == 0 { // also after an error
		return checks.Proceed(), err
	}
	t, err := g.hold(ctx, req.Resource, wanted, false)
	if err == nil && t.state != protected {
		// Registers the object, so that a change after the next live read wakes the resource.
		if _, unseen := req.Resolver(ctx, t.ref); unseen == nil {
			t, err = g.hold(ctx, req.Resource, wanted, false)
		}
	}
	reason, why := "", ""
	switch {
	case err != nil:
		return checks.Result{}, err
	case t.state == protected:
		g.pass(ctx).held = true
		return checks.Proceed(), nil
	case t.state == absent:
		reason, why = checks.ReasonReferenceNotFound, " was not found: waiting until it is created"
	default:
		reason, why = ReasonReferenceDeleting, " is being deleted: refer to another object, or wait until it is created again"
	}
	return checks.Block(reason, t.ref.String()+why, checks.WithRetry(classify.Fast), checks.WithWaitingFor(t.ref)), nil
}

// guarded returns an Apply that protects the objects first, if check did not: a link may skip it, or start Apply in a poll.
func (g *guard[T]) guarded(apply flow.Handler[T]) flow.Handler[T] {
	return func(ctx context.Context, req *flow.Request[T]) (flow.Progress, error) {
		if req.Token == "" && !g.pass(ctx).held {
			if res, err := g.check(ctx, &req.Request); err != nil || !res.Proceeds() {
				blocked := ctrlx.NewRetriableError(errors.New(res.Message()), nil).WithReason(res.Reason())
				return flow.Progress{}, cmp.Or(err, flow.WaitFor(blocked, res.WaitingFor()...))
			}
		}
		return apply(ctx, req)
	}
}

// applied notes whether a Ready resource was applied. After a Skip, the cloud may use objects of an earlier spec.
func (g *guard[T]) applied(ctx context.Context, _ *flow.Request[T], p flow.Progress) error {
	g.pass(ctx).matches = !p.Skipped()
	return nil
}

// pass notes that check protected the objects, and that the cloud matches the spec, so that it uses no other objects.
type pass struct{ held, matches bool }

// pass returns the notes of a pass. They are empty if a link of the user replaced the context.
func (g *guard[T]) pass(ctx context.Context) *pass {
	if p, ok := ctx.Value(g).(*pass); ok {
		return p
	}
	return new(pass)
}

// inSync protects the objects that a resource uses already, if Get reports that the cloud matches the spec, so that the pass
// leaves out PreCheck.
func (g *guard[T]) inSync(ctx context.Context, req *flow.Request[T], seen flow.Observation) error {
	if req.Deleting || req.Applied || !seen.InSync || seen.Presence != checks.Present {
		return nil
	}
	g.pass(ctx).matches = true
	wanted, err := g.wanted(ctx, &req.OwnerRequest, req.Resource)
	if len(wanted) == 0 { // also after an error
		return err
	}
	_, err = g.hold(ctx, req.Resource, wanted, true)
	return err
}

// releases releases what a Ready resource does not refer to, if the cloud matches the spec, and all objects of one that is gone.
func (g *guard[T]) releases(next flow.PassHandler[T]) flow.PassHandler[T] {
	return func(ctx context.Context, obj T) (flow.Outcome, error) {
		var notes pass
		out, err := next(context.WithValue(ctx, g, &notes), obj)
		switch {
		case err != nil:
		case out.State() == flow.StateReady && obj.GetAnnotations()[Annotation] != "":
			needed := map[string]bool{}
			for _, ref := range g.refs(obj) {
				ref.Namespace = cmp.Or(ref.Namespace, obj.GetNamespace())
				needed[keyOf(ref)] = true
				ref.Namespace = "" // of a kind without namespaces
				needed[keyOf(ref)] = true
			}
			err = g.release(ctx, obj, stateReleased, func(key string) bool { return notes.matches && !needed[key] })
		case out.State() == flow.StateGone:
			err = g.release(ctx, obj, stateGone, func(string) bool { return true })
		}
		return out, err
	}
}

// target is an object that a resource refers to.
type target struct {
	key     string // in records
	ref     checks.Ref
	gvk     schema.GroupVersionKind
	missing bool // the kind is not installed
	state   protection
}

// wanted returns the objects that a resource refers to, each once.
func (g *guard[T]) wanted(ctx context.Context, req *checks.OwnerRequest, obj T) (all []target, err error) {
	for _, ref := range g.refs(obj) {
		if ref.Name == "" && ref.Set == "" {
			continue
		}
		t, err := g.target(ref.Group, ref.Kind, cmp.Or(ref.Namespace, obj.GetNamespace()), ref.Name)
		wrong := ""
		switch {
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
		case t.gvk.GroupKind() == g.gvk.GroupKind() && t.ref.Name == obj.GetName() && t.ref.Namespace == obj.GetNamespace():
			wrong = "is the resource itself, which could never be deleted"
		case len(all) == maxGuarded:
			wrong = fmt.Sprintf("is one of more than %d references", maxGuarded)
		}
		if wrong != "" {
			return nil, reconcile.TerminalError(fmt.Errorf("the guarded reference %s %s; correct the reference", ref, wrong))
		}
		if obj.GetNamespace() == "" && t.ref.Namespace != "" { // ctrlx.WithForeignReferences may not allow it
			if _, err := req.Resolver(ctx, t.ref); err != nil {
				return nil, fmt.Errorf("the guarded reference %s: %w", ref, err)
			}
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
	t := target{gvk: gk.WithVersion("")}
	mapping, err := g.mapper.RESTMapping(gk)
	switch {
	case meta.IsNoMatchError(err):
		t.missing = true
	case err != nil:
		return t, fmt.Errorf("the guarded kind %s: %w", gk, err)
	default:
		t.gvk = mapping.GroupVersionKind
		if mapping.Scope.Name() == meta.RESTScopeNameRoot {
			namespace = ""
		}
	}
	t.ref = checks.Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}
	t.key = keyOf(t.ref)
	return t, nil
}
