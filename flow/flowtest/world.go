package flowtest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// World is one resource, its flow, and the scripted answers of the cloud. Set
// its fields and call its scripting methods first. Then run it once, by
// [World.Run], [World.RunUntil] or [World.RunPasses]. It must not be copied.
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
	// Resolver finds the objects that [World.Object] does not script. If it is
	// nil and no object is scripted, the flow has no resolver.
	Resolver checks.Resolver
	// Lister lists the sets that [World.Set] does not script. If it is nil and
	// no set is scripted, the flow has no lister.
	Lister checks.Lister
	// Options are further options of the flow, such as [flow.WithErrors]. The
	// World sets the clock and the back-off, and the resolver and the lister if
	// there are any.
	Options []flow.Option
	// Backoff changes the delays. The default is [flow.NewBackoff] without
	// jitter. The World sets its clock.
	Backoff []flow.BackoffOption
	// New makes the flow at the beginning and after each [World.Restart]. It
	// must pass ops and opts to [flow.New] or [flow.Registry.For], and may add
	// options. Nil means flow.New with Kind and Extensions. If New is set,
	// these must be zero.
	New func(ops flow.Operations[T], opts ...flow.Option) flow.Runner[T]
	// MaxPasses limits the passes of Run and RunUntil. Zero means 1,000.
	MaxPasses int
	// Patience limits the time of a pass by the real clock. A longer pass is
	// stuck and fails the test. Zero means 10 s. Only time in which the test
	// could run counts, so a busy machine fails no test.
	Patience time.Duration

	// Scripts of the operations. They answer before Operations.
	Owner  Script[checks.Object]
	Get    Script[flow.Observation]
	Apply  Script[flow.Progress]
	Delete Script[flow.Progress]

	stage   stage
	objects map[checks.Ref]*Script[checks.Object]
	sets    map[checks.Query]*Script[[]checks.Object]
	scripts []scripted // objects and services, in the order of their creation
	events  []event
	ran     bool
}

// Object returns the script of the resolver's answers for ref. A later call
// with the same ref returns the same script. Each answer of [Script.From] after
// time zero is also a change of that object, which wakes the resource if it
// waits for the object or follows it.
func (w *World[T]) Object(ref checks.Ref) *Script[checks.Object] {
	s, ok := w.objects[ref]
	if !ok {
		s = &Script[checks.Object]{name: "Object(" + ref.String() + ")", stage: &w.stage}
		if w.objects == nil {
			w.objects = map[checks.Ref]*Script[checks.Object]{}
		}
		w.objects[ref] = s
		w.scripts = append(w.scripts, s)
	}
	return s
}

// Set returns the script of the lister's answers for q, from the oldest object
// to the newest. Queries that differ only in NamesOnly have the same script; an
// answer for names only has no content. As for [World.Object], each answer of
// [Script.From] after time zero is also a change of that set.
func (w *World[T]) Set(q checks.Query) *Script[[]checks.Object] {
	q.NamesOnly = false
	s, ok := w.sets[q]
	if !ok {
		s = &Script[[]checks.Object]{name: "Set(" + q.String() + ")", stage: &w.stage}
		if w.sets == nil {
			w.sets = map[checks.Query]*Script[[]checks.Object]{}
		}
		w.sets[q] = s
		w.scripts = append(w.scripts, s)
	}
	return s
}

// Now returns the virtual time. Use it as the clock of checks
// (checks.WithClock) and operations. A run begins at midnight of January 1,
// 2026, UTC.
func (w *World[T]) Now() time.Time { return w.stage.engine.Now() }

// Elapsed returns the virtual time since the run began.
func (w *World[T]) Elapsed() time.Duration { return w.stage.engine.Elapsed() }

// Requests lists all requests so far, as in [Pass], including the running call.
// Operations can use it to choose their answers.
func (w *World[T]) Requests() []string { return w.stage.requests() }

// wire connects the scripts to the world.
func (w *World[T]) wire() []scripted {
	w.Owner.name, w.Owner.stage = "Owner", &w.stage
	w.Get.name, w.Get.stage = "Get", &w.stage
	w.Apply.name, w.Apply.stage = "Apply", &w.stage
	w.Delete.name, w.Delete.stage = "Delete", &w.stage
	return append([]scripted{&w.Owner, &w.Get, &w.Apply, &w.Delete}, w.scripts...)
}

// mistake describes a mistake in the world, or returns "".
func (w *World[T]) mistake(scripts []scripted) string {
	for _, s := range scripts {
		if fault := s.mistake(); fault != "" {
			return fault
		}
	}
	for i := range w.events {
		if e := &w.events[i]; e.at < 0 {
			return fmt.Sprintf("%s at %s: the time is negative", e.named(), e.at)
		}
	}
	switch {
	case w.MaxPasses < 0:
		return fmt.Sprintf("World.MaxPasses is %d: give a positive number, or zero for 1,000", w.MaxPasses)
	case w.Patience < 0:
		return fmt.Sprintf("World.Patience is %s: give a positive duration, or zero for 10 s", w.Patience)
	case w.New != nil && (w.Kind != "" || !reflect.ValueOf(w.Extensions).IsZero()):
		return "World.New is set, so Kind and Extensions have no effect: use them in New"
	case w.Operations.Apply == nil && !w.Apply.given():
		return "Apply is missing: script World.Apply, or set Operations.Apply"
	}
	return ""
}

// operations returns the operations of the flow. They record the calls, and
// answer by the scripts or by the user's own operations.
func (w *World[T]) operations() flow.Operations[T] {
	own, ops, st := w.Operations, w.Operations, &w.stage
	if own.Key == nil {
		ops.Key = func(T) string { return "resource" }
	}
	if own.Owner != nil || w.Owner.given() {
		ops.Owner = func(ctx context.Context, resource T) (checks.Object, error) {
			return w.Owner.answer(ctx, "Owner", bound(own.Owner, ctx, resource))
		}
	}
	if own.Get != nil || w.Get.given() {
		ops.Get = func(ctx context.Context, req *flow.Request[T]) (flow.Observation, error) {
			seen, err := w.Get.answer(ctx, "Get", bound(own.Get, ctx, req))
			st.observed(seen, err)
			return seen, err
		}
	}
	ops.Apply = recorded(st, flow.PointApply, &w.Apply, own.Apply)
	if own.Delete != nil || w.Delete.given() {
		ops.Delete = recorded(st, flow.PointDelete, &w.Delete, own.Delete)
	}
	if own.SetToken != nil {
		ops.SetToken = func(ctx context.Context, resource T, token string, generation int64) error {
			err := own.SetToken(ctx, resource, token, generation)
			st.storedToken(err == nil)
			return err
		}
	}
	return ops
}

// call is the type of Apply and Delete.
type call[T any] = func(context.Context, *flow.Request[T]) (flow.Progress, error)

// recorded returns Apply or Delete with a record of its calls.
func recorded[T any](st *stage, point string, s *Script[flow.Progress], own call[T]) call[T] {
	return func(ctx context.Context, req *flow.Request[T]) (flow.Progress, error) {
		request := point
		if req.Token != "" {
			request += "(" + req.Token + ")"
		}
		st.begins(point, req.Token)
		p, err := s.answer(ctx, request, bound(own, ctx, req))
		st.ends(point, p, err, req.Errors)
		return p, err
	}
}

// bound binds f to its arguments. It returns nil if f is nil.
func bound[In, Out any](f func(context.Context, In) (Out, error), ctx context.Context, in In) func() (Out, error) {
	if f == nil {
		return nil
	}
	return func() (Out, error) { return f(ctx, in) }
}

// resolver returns the resolver of the flow, or nil.
func (w *World[T]) resolver() checks.Resolver {
	if w.Resolver == nil && len(w.objects) == 0 {
		return nil
	}
	return func(ctx context.Context, ref checks.Ref) (checks.Object, error) {
		s := w.objects[ref]
		if s == nil {
			s = &Script[checks.Object]{name: "Object(" + ref.String() + ")", stage: &w.stage}
		}
		return s.answer(ctx, "Resolve("+ref.String()+")", bound(w.Resolver, ctx, ref))
	}
}

// lister returns the lister of the flow, or nil.
func (w *World[T]) lister() checks.Lister {
	if w.Lister == nil && len(w.sets) == 0 {
		return nil
	}
	return func(ctx context.Context, q checks.Query) ([]checks.Object, error) {
		whole := q
		whole.NamesOnly = false
		s := w.sets[whole]
		if s == nil {
			s = &Script[[]checks.Object]{name: "Set(" + q.String() + ")", stage: &w.stage}
		}
		objects, err := s.answer(ctx, "List("+q.String()+")", bound(w.Lister, ctx, q))
		if !q.NamesOnly {
			return objects, err
		}
		names := make([]checks.Object, len(objects))
		for i, o := range objects {
			names[i] = checks.Object{Ref: o.Ref, Value: struct{}{}, Deleting: o.Deleting, Self: o.Self, Partial: "the query reads names only"}
		}
		return names, err
	}
}

// begin makes the flow as a new process does, without the memory of the old
// one.
func (w *World[T]) begin() (runner flow.Runner[T], mistake string) {
	defer func() {
		if v := recover(); v != nil {
			mistake = fmt.Sprintf("the flow cannot be made: %v", v)
		}
	}()
	backoff := append([]flow.BackoffOption{flow.WithBackoffJitter(0, 0)}, w.Backoff...)
	opts := append(slices.Clone(w.Options),
		flow.WithClock(w.Now),
		flow.WithBackoff(flow.NewBackoff(append(backoff, flow.WithBackoffClock(w.Now))...)),
		flow.WithObserver(&w.stage),
	)
	if resolver := w.resolver(); resolver != nil {
		opts = append(opts, flow.WithResolver(resolver))
	}
	if lister := w.lister(); lister != nil {
		opts = append(opts, flow.WithLister(lister))
	}
	if w.New == nil {
		kind := w.Kind
		if kind == "" {
			kind = "Resource"
		}
		return flow.New(kind, w.operations(), w.Extensions, opts...), ""
	}
	runner = w.New(w.operations(), opts...)
	if v := reflect.ValueOf(runner); runner == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, "World.New returned a nil reconciler"
	}
	return runner, ""
}
