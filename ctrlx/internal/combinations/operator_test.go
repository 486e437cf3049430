package combinations_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/inuse"
	"github.com/windlass-go/windlass/flow"
)

// design is how an operator treats a kind.
type design struct {
	Reads     bool          // it has a Get
	Deletes   bool          // it has a Delete
	Takes     time.Duration // an operation of the cloud; 0: it is over at once
	FailsOnce bool          // the first operation on each resource fails
	Guards    bool          // it keeps what its objects refer to
	Signs     bool          // it signs the stored operations
	Loud      bool          // a restart reconciles everything
	FromStart bool          // time-outs begin with the first pass
	Edits     string        // how its chains of checks are made, see made
	Entry     []string      // the checks at EntryCheck, by the names of checkNames
	Owner     []string
	Pre       []string
	Post      []string
	Delete    []string
	Roles     bool     // it has the check for each of roles
	Links     []string // around Apply and Delete, by the names of linkNames
}

// The checks of each point.
var (
	entryChecks  = []string{"references", "references", "paused", "unique", "passes on"} // also while an object is deleted
	ownerChecks  = []string{"owner ready", "owner found", "owner fits", "follows owner", "needs owner"}
	preChecks    = []string{"references", "owner ready", "paused", "passes on", "unique"}
	postChecks   = []string{"references", "warm", "passes on"}
	deleteChecks = []string{"references", "references", "unused", "owner ready", "passes on"}
	linkNames    = []string{"restores", "copies", "passes on", "looks after"}
	edits        = []string{"New", "Prepend", "InsertAfter", "InsertBefore", "Replace", "Without"}
)

// drawDesign draws a design.
func drawDesign(t *rapid.T, kind string) design {
	some := func(label string, of []string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(of), 0, 2, rapid.ID[string]).Draw(t, kind+label)
	}
	yes := func(label string) bool { return rapid.Bool().Draw(t, kind+label) }
	d := design{
		Reads: yes(" reads"), Deletes: yes(" deletes"),
		Takes:     rapid.SampledFrom([]time.Duration{0, 20 * time.Second, 4 * time.Minute}).Draw(t, kind+" takes"),
		FailsOnce: yes(" fails once"), Guards: rapid.IntRange(0, 2).Draw(t, kind+" guards") > 0, Signs: yes(" signs"), Loud: yes(" loud"), FromStart: yes(" from start"),
		Edits: rapid.SampledFrom(edits).Draw(t, kind+" edits"),
		Entry: some(" EntryCheck", entryChecks), Owner: some(" OwnerCheck", ownerChecks), Pre: some(" PreCheck", preChecks),
		Roles: yes(" roles"), Post: some(" PostCheck", postChecks), Delete: some(" DeleteCheck", deleteChecks), Links: some(" links", linkNames),
	}
	return d
}

// made makes a chain of links by edits.
func made[Req, Res any](how string, links []chain.Middleware[Req, Res], never chain.Middleware[Req, Res]) chain.Chain[Req, Res] {
	if len(links) == 0 {
		return chain.Chain[Req, Res]{}
	}
	first, others := links[:1], links[1:]
	edited := func(c chain.Chain[Req, Res], err error) chain.Chain[Req, Res] {
		if err != nil {
			panic(err)
		}
		return c
	}
	switch how {
	case "Prepend":
		return chain.New(others...).Prepend(first...)
	case "InsertAfter":
		c := chain.New(first...)
		return edited(c.InsertAfter(c.Links()[0].Name, others...))
	case "InsertBefore":
		c := chain.New(links[len(links)-1])
		return edited(c.InsertBefore(c.Links()[0].Name, links[:len(links)-1]...))
	case "Replace":
		return edited(chain.New(chain.Named("never", never)).Replace("never", links...))
	case "Without":
		return edited(chain.New(first...).Append(chain.Named("never", never)).Append(others...).Without("never"))
	}
	return chain.New(links...)
}

// neverCheck blocks for ever. A chain with it was edited wrongly.
func neverCheck[R any]() chain.Middleware[R, checks.Result] {
	return checks.Check("never", func(context.Context, R) (checks.Result, error) {
		return checks.Block("Never", "an edit of the chain has left this check in it"), nil
	})
}

func references[T resource](o T) (refs []checks.Ref) {
	for _, u := range o.base().Spec.Uses {
		refs = append(refs, u.ref())
	}
	return refs
}

// above returns the kind of the owners of a kind; empty: its objects have no owner.
func above(kind string) string {
	if i := slices.Index(kindNames, kind); i > 0 {
		return kindNames[i-1]
	}
	return ""
}

// below returns the kind of the objects that a kind owns; empty: none.
func below(kind string) string {
	if i := slices.Index(kindNames, kind); i < len(kindNames)-1 {
		return kindNames[i+1]
	}
	return ""
}

func ownerOf[T resource](kind string) func(o T) checks.Ref {
	return func(o T) checks.Ref {
		if above(kind) == "" || o.base().Spec.Owner == "" {
			return checks.Ref{}
		}
		return use{above(kind), o.base().Spec.Owner}.ref()
	}
}

// objectsOf is a set of objects of a kind, by an indexed field.
func objectsOf(kind, field, value string) checks.Query {
	return checks.Query{Group: groupVersion.Group, Kind: kind, Field: field, Value: value}
}

// checkOf returns a check of a resource by its name.
func checkOf[T resource](w *world, kind, name string) checks.Middleware[T] {
	switch name {
	case "references":
		return checks.ReferenceReady("uses", references[T])
	case "paused":
		return checks.Paused(func(o T) bool { return o.base().Spec.Paused })
	case "unique":
		return checks.Unique("spec.claim", func(o T) checks.Query { return objectsOf(kind, "spec.claim", claimOf(o)) })
	case "owner ready":
		return checks.OnOwner[T](checks.OwnerReady())
	case "unused":
		return checks.Unused("objects", func(o T) checks.Query { return objectsOf(below(kind), "spec.owner", o.GetName()) })
	case "warm":
		return checks.Check("Warm", func(_ context.Context, req *checks.Request[T]) (checks.Result, error) {
			if !w.once(fmt.Sprint("warm ", req.Resource.GetUID(), req.Resource.GetGeneration())) {
				return checks.Proceed(), nil
			}
			return checks.Block("Cold", "it has to warm up", checks.WithAfter(30*time.Second)), nil
		})
	case "passes on":
		return chain.Named("PassesOn", func(next checks.Handler[T]) checks.Handler[T] {
			return func(ctx context.Context, req *checks.Request[T]) (checks.Result, error) {
				c := *req
				return next(ctx, &c)
			}
		})
	}
	panic("unknown check " + name)
}

// The roles of an object: the results of checks that are neither a wait nor a failure.
const (
	foreign  = "foreign"  // EntryCheck ignores it
	finished = "finished" // PreCheck calls it finished for good
	released = "released" // DeleteCheck releases it without a Delete
)

// roleOf returns the check of a role.
func roleOf[T resource](w *world, role string) checks.Middleware[T] {
	return checks.Check("Role("+role+")", func(_ context.Context, req *checks.Request[T]) (checks.Result, error) {
		if req.Resource.base().Spec.Role != role {
			return checks.Proceed(), nil
		}
		switch role {
		case foreign:
			return checks.Ignore("it belongs to another operator"), nil
		case finished:
			return checks.Finished("Finished", "its work is done"), nil
		}
		w.releases(req.Resource.GetUID())
		return checks.Release("it stays in the cloud"), nil
	})
}

// claimOf returns the claim of an object. One without a claim has its own.
func claimOf(o resource) string {
	if c := o.base().Spec.Claim; c != "" {
		return c
	}
	return "own " + o.GetName()
}

// ownerCheckOf returns a check of an owner by its name.
func ownerCheckOf(name string) checks.OwnerMiddleware {
	switch name {
	case "owner ready":
		return checks.OwnerReady()
	case "owner found":
		return checks.OwnerFound()
	case "follows owner":
		return chain.Named("FollowsOwner", checks.OwnerReady(checks.WithFollowing(true)))
	case "needs owner":
		return chain.Named("NeedsOwner", checks.OwnerFound(checks.WithRequiredOwner()))
	case "owner fits":
		return checks.OwnerIs("Large", func(owner resource) string {
			if owner.base().Spec.Size > 0 {
				return ""
			}
			return "its size is 0"
		})
	}
	panic("unknown check " + name)
}

// linkOf returns a link on Apply and Delete by its name.
func linkOf[T resource](name string) flow.Middleware[T] {
	return chain.Named(name, func(next flow.Handler[T]) flow.Handler[T] {
		return func(ctx context.Context, req *flow.Request[T]) (flow.Progress, error) {
			switch name {
			case "restores":
				saved := *req
				p, err := next(ctx, req)
				*req = saved
				return p, err
			case "copies":
				c := *req
				return next(ctx, &c)
			case "looks after":
				p, err := next(ctx, req)
				return p, errors.Join(nil, err)
			}
			return next(ctx, req)
		}
	})
}

// setUp adds the reconciler of a kind to a manager.
func setUp[T resource](w *world, mgr ctrl.Manager, kind string, d design) error {
	of := func(req *flow.Request[T]) about {
		o := req.Resource.base()
		return about{
			what: kind + " " + o.Name, uid: o.UID, generation: o.Generation, size: o.Spec.Size, takes: d.Takes, failsOnce: d.FailsOnce, reads: d.Reads,
		}
	}
	operation := func(start func(about) (string, error)) func(context.Context, *flow.Request[T]) (flow.Progress, error) {
		return func(_ context.Context, req *flow.Request[T]) (flow.Progress, error) {
			token, err := req.Token, error(nil)
			if token == "" {
				if token, err = start(of(req)); err != nil || token == "" {
					return flow.Done(), err
				}
				return flow.InProgress(token, 10*time.Second), nil
			}
			switch over, err := w.cloud.poll(of(req), token); {
			case errors.Is(err, errBroken):
				return flow.Progress{}, flow.Failed(err)
			case err != nil:
				return flow.Progress{}, err
			case !over:
				return flow.InProgress(token, 10*time.Second), nil
			}
			return flow.Done(), nil
		}
	}
	put := operation(w.cloud.put)
	ops := flow.Operations[T]{Apply: func(ctx context.Context, req *flow.Request[T]) (flow.Progress, error) {
		p, err := put(ctx, req)
		if err == nil && p.IsDone() {
			req.Resource.base().Status.Size = req.Resource.base().Spec.Size
		}
		return p, err
	}}
	if d.Reads {
		ops.Get = func(_ context.Context, req *flow.Request[T]) (flow.Observation, error) {
			size, exists, err := w.cloud.get(of(req))
			return flow.Observation{Presence: checks.PresenceOf(exists), InSync: exists && size == req.Resource.base().Spec.Size}, err
		}
	}
	if d.Deletes {
		ops.Delete = operation(w.cloud.remove)
	}
	checksOf := func(names []string) (links []checks.Middleware[T]) {
		for _, name := range names {
			if name != "unused" || below(kind) != "" {
				links = append(links, checkOf[T](w, kind, name))
			}
		}
		return links
	}
	var owner []checks.OwnerMiddleware
	for _, name := range d.Owner {
		if above(kind) != "" {
			owner = append(owner, ownerCheckOf(name))
		}
	}
	points := func(names []string) checks.Chain[T] {
		return made(d.Edits, checksOf(names), neverCheck[*checks.Request[T]]())
	}
	ext := flow.Extensions[T]{
		Pass:       chain.New(chain.Named("Tell", tell[T](w, kind))),
		EntryCheck: points(d.Entry), PreCheck: points(d.Pre), PostCheck: points(d.Post), DeleteCheck: points(d.Delete),
		OwnerCheck: made(d.Edits, owner, neverCheck[*checks.OwnerRequest]()),
		Classify:   classify.Table{{Is: errRefused, Retry: classify.OnChange}}.Chain(),
	}
	if d.Roles {
		ext.EntryCheck = ext.EntryCheck.Prepend(roleOf[T](w, foreign))
		ext.PreCheck, ext.DeleteCheck = ext.PreCheck.Append(roleOf[T](w, finished)), ext.DeleteCheck.Append(roleOf[T](w, released))
	}
	for _, name := range d.Links {
		ext.Apply, ext.Delete = ext.Apply.Append(linkOf[T](name)), ext.Delete.Append(linkOf[T](name))
	}
	opts := []ctrlx.Option{
		ctrlx.WithOwner(ownerOf[T](kind)),
		ctrlx.WithIndex(objectsOf(kind, "spec.owner", ""), func(o T) []string { return []string{o.base().Spec.Owner} }),
		ctrlx.WithIndex(objectsOf(kind, "spec.claim", ""), func(o T) []string { return []string{claimOf(o)} }),
		ctrlx.WithoutTelemetry(),
	}
	if d.Guards {
		opts = append(opts, inuse.Add(mgr, references[T], &ops, &ext))
	}
	if d.Signs {
		opts = append(opts, ctrlx.WithTokenKey([]byte(strings.Repeat("k", 32))))
	}
	if d.Loud {
		opts = append(opts, ctrlx.WithoutQuietRestart())
	}
	if d.FromStart {
		opts = append(opts, ctrlx.WithTimeoutFromStart())
	}
	r := ctrlx.New(kind, ops, ext, opts...)
	w.pokes(kind, func(name string) { r.Poke(types.NamespacedName{Namespace: namespace, Name: name}) })
	return r.SetupWithManager(mgr)
}

// tell is a link on Pass that reports the outcome of each pass.
func tell[T resource](w *world, kind string) flow.PassMiddleware[T] {
	return func(next flow.PassHandler[T]) flow.PassHandler[T] {
		return func(ctx context.Context, o T) (flow.Outcome, error) {
			out, err := next(ctx, o)
			if strings.Contains(out.String(), "the next pass polls it again") {
				w.cloud.keepsToken(o.GetUID())
			}
			w.passed(o.base().what(kind), out, err)
			return out, err
		}
	}
}
