package flowtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// World is one resource, its flow, and the scripted answers of the cloud. Set
// its fields and call its scripting methods first. Then run it once, by
// [World.Run] or [World.RunUntil]. It must not be copied.
type World[T any] struct {
	// Kind is the name of the reconciler in messages of checks. Empty means
	// "Resource".
	Kind string
	// Resource is the reconciled resource. Each pass reads this field again.
	Resource T
	// Extensions are the links under test.
	Extensions flow.Extensions[T]
	// Operations are the user's own operations. They answer the calls for which
	// no script has an answer. Owner, Get and Delete are nil in the flow if
	// they are neither set here nor scripted. Apply must be set or scripted.
	// The default Key returns "resource".
	Operations flow.Operations[T]
	// Options are further options of the flow, such as [flow.WithErrors]. The
	// World sets the clock and the back-off ([flow.NewBackoff] without jitter),
	// and the resolver and the lister if objects or sets are scripted.
	Options []flow.Option

	// Scripts of the operations. They answer before Operations.
	Owner  Script[checks.Object]
	Get    Script[flow.Observation]
	Apply  Script[flow.Progress]
	Delete Script[flow.Progress]

	stage   stage
	objects map[checks.Ref]*Script[checks.Object]
	sets    map[checks.Query]*Script[[]checks.Object]
	scripts []scripted // objects and sets, in the order of their creation
	ran     bool
}

// Object returns the script of the resolver's answers for ref. A later call
// with the same ref returns the same script. Each answer of [Script.From] after
// time zero is also a change of that object, which wakes the resource if it
// waits for the object or follows it.
func (w *World[T]) Object(ref checks.Ref) *Script[checks.Object] {
	name := "Object(" + ref.String() + ")"
	return scriptOf(w, &w.objects, ref, name, wakenBy(name))
}

// scriptOf returns the script of an object or a set, and makes it if there is
// none. A pass makes one for an object that the test does not script.
func scriptOf[K comparable, R, T any](w *World[T], all *map[K]*Script[R], of K, name string, wakes func(R) (string, []checks.Ref)) *Script[R] {
	w.stage.mu.Lock()
	defer w.stage.mu.Unlock()
	s := (*all)[of]
	if s == nil {
		s = &Script[R]{name: name, stage: &w.stage, wakes: wakes}
		if *all == nil {
			*all = map[K]*Script[R]{}
		}
		(*all)[of] = s
		w.scripts = append(w.scripts, s)
	}
	return s
}

// wakenBy returns the text and the refs of a change of an object.
func wakenBy(name string) func(checks.Object) (string, []checks.Ref) {
	return func(o checks.Object) (string, []checks.Ref) {
		if o.Ref == (checks.Ref{}) {
			return name + " changes", nil
		}
		return o.Ref.String() + " changes", []checks.Ref{o.Ref}
	}
}

// Set returns the script of the lister's answers for q, from the oldest object
// to the newest. Queries that differ only in NamesOnly have the same script; an
// answer for names only has no content. As for [World.Object], each answer of
// [Script.From] after time zero is also a change of that set.
func (w *World[T]) Set(q checks.Query) *Script[[]checks.Object] {
	q.NamesOnly = false
	names := q
	names.NamesOnly = true
	return scriptOf(w, &w.sets, q, "Set("+q.String()+")", func([]checks.Object) (string, []checks.Ref) {
		return q.String() + " changes", []checks.Ref{q.Ref(), names.Ref()}
	})
}

// Now returns the virtual time, for the clock of operations. A run begins at
// midnight of January 1, 2026, UTC.
func (w *World[T]) Now() time.Time { return w.stage.engine.Now() }

// Elapsed returns the virtual time since the run began.
func (w *World[T]) Elapsed() time.Duration { return w.stage.engine.Elapsed() }

// wire connects the scripts to the world.
func (w *World[T]) wire() []scripted {
	w.Owner.name, w.Owner.stage, w.Owner.wakes = "Owner", &w.stage, wakenBy("the owner")
	w.Get.name, w.Get.stage = "Get", &w.stage
	w.Apply.name, w.Apply.stage = "Apply", &w.stage
	w.Delete.name, w.Delete.stage = "Delete", &w.stage
	all := append([]scripted{&w.Owner, &w.Get, &w.Apply, &w.Delete}, w.scripts...)
	for _, s := range all {
		s.schedule()
	}
	return all
}

// operations returns the operations of the flow. They record the calls, and
// answer by the scripts or by the user's own operations.
func (w *World[T]) operations() flow.Operations[T] {
	own, ops := w.Operations, w.Operations
	if own.Key == nil {
		ops.Key = func(T) string { return "resource" }
	}
	if own.Owner != nil || w.Owner.given() {
		ops.Owner = func(ctx context.Context, resource T) (checks.Object, error) {
			return w.Owner.answer("Owner", bound(own.Owner, ctx, resource))
		}
	}
	if own.Get != nil || w.Get.given() {
		ops.Get = func(ctx context.Context, req *flow.Request[T]) (flow.Observation, error) {
			return w.Get.answer("Get", bound(own.Get, ctx, req))
		}
	}
	ops.Apply = named(flow.PointApply, &w.Apply, own.Apply)
	if own.Delete != nil || w.Delete.given() {
		ops.Delete = named(flow.PointDelete, &w.Delete, own.Delete)
	}
	return ops
}

// call is the type of Apply and Delete.
type call[T any] = func(context.Context, *flow.Request[T]) (flow.Progress, error)

// named returns Apply or Delete. The name of a poll has its token.
func named[T any](request string, s *Script[flow.Progress], own call[T]) call[T] {
	return func(ctx context.Context, req *flow.Request[T]) (flow.Progress, error) {
		request := request
		if req.Token != "" {
			request += "(" + req.Token + ")"
		}
		return s.answer(request, bound(own, ctx, req))
	}
}

// bound binds f to its arguments. It returns nil if f is nil.
func bound[In, Out any](f func(context.Context, In) (Out, error), ctx context.Context, in In) func() (Out, error) {
	if f == nil {
		return nil
	}
	return func() (Out, error) { return f(ctx, in) }
}

// list lists a set that a script has.
func (w *World[T]) list(_ context.Context, q checks.Query) ([]checks.Object, error) {
	objects, err := w.Set(q).answer("List("+q.String()+")", nil)
	if !q.NamesOnly {
		return objects, err
	}
	names := make([]checks.Object, len(objects))
	for i, o := range objects {
		names[i] = checks.Object{Ref: o.Ref, Value: struct{}{}, Deleting: o.Deleting, Self: o.Self, Partial: "the query reads names only"}
	}
	return names, err
}

// begin makes the flow as a new process does, without the memory of the old
// one.
func (w *World[T]) begin() *flow.Reconciler[T] {
	opts := append(slices.Clone(w.Options), flow.WithClock(w.Now),
		flow.WithBackoff(flow.NewBackoff(flow.WithBackoffJitter(0, 0), flow.WithBackoffClock(w.Now))))
	if len(w.objects) > 0 {
		opts = append(opts, flow.WithResolver(func(_ context.Context, ref checks.Ref) (checks.Object, error) {
			return w.Object(ref).answer("Resolve("+ref.String()+")", nil)
		}))
	}
	if len(w.sets) > 0 {
		opts = append(opts, flow.WithLister(w.list))
	}
	return flow.New(cmp.Or(w.Kind, "Resource"), w.operations(), w.Extensions, opts...)
}

// Edit calls change at a time of the run, as if a user edits the resource: its
// spec and generation, or its deletion. change may be nil. The resource is
// reconciled at once. what is a line of the timeline; an empty text has no line.
func (w *World[T]) Edit(at time.Duration, what string, change func()) {
	w.at(at, what, change, func() { w.stage.engine.Edit(checks.Ref{}) })
}

// Change calls change at a time of the run, for a change outside of the
// resource, or of its status. The resource is reconciled at once if it waits for
// one of refs or follows one, and otherwise after its delay. The zero Ref names
// the status of the resource ([checks.WithWaitingForSelf]). The other arguments
// are those of [World.Edit]. Scripted objects and sets need no Change.
func (w *World[T]) Change(at time.Duration, what string, change func(), refs ...checks.Ref) {
	w.at(at, what, change, func() { w.stage.engine.Wake(refs...) })
}

func (w *World[T]) at(at time.Duration, what string, change, wake func()) {
	w.stage.from(fmt.Sprintf("event %q", what), at)
	w.stage.engine.At(at, "", what, func() {
		if change != nil {
			change()
		}
		wake()
	})
}

// Restart ends the process and starts another one. It cancels the context of
// the running pass. Tokens that are not stored with the resource, and the
// counts of the back-off, are lost. The resource is reconciled at once. Call
// Restart from an operation or a link, or at a time: w.Change(time.Minute, "",
// w.Restart).
func (w *World[T]) Restart() { w.stage.restart() }
