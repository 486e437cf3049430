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

// World is one resource, the flow that it goes through, and what the cloud answers when. Its fields are set, and its
// methods that script something are called, before it is run, once, by [World.Run], [World.RunUntil] or [World.RunPasses].
// It must not be copied.
type World[T any] struct {
	// Kind is the name of the reconciler, which is in the messages of checks. Empty: "Resource".
	Kind string
	// Resource is what is reconciled, read anew at the beginning of each pass.
	Resource T
	// Extensions are what is tested.
	Extensions flow.Extensions[T]
	// Operations are the user's own. They are asked where no script has an answer. Of Owner, Get, Apply and Delete those that
	// are neither given nor scripted are nil in the flow; Apply has to be one or the other. A nil Key is replaced by one that
	// says "resource".
	Operations flow.Operations[T]
	// Resolver finds the objects that [World.Object] does not script. If it is nil and no object is scripted, the flow has none.
	Resolver checks.Resolver
	// Options are further options of the flow, such as [flow.WithErrors]. The clock, the back-off, and the resolver if there is
	// one are always the world's.
	Options []flow.Option
	// Backoff changes the delays, which are those of [flow.NewBackoff] without jitter. The clock is always the world's.
	Backoff []flow.BackoffOption
	// New makes the flow, at the beginning and after each [World.Restart], of the operations that it is given. The options
	// have to be handed on to [flow.New] or [flow.Registry.For], which may have more. Nil: flow.New with Kind and Extensions,
	// which have to be zero otherwise.
	New func(ops flow.Operations[T], opts ...flow.Option) flow.Runner[T]
	// MaxPasses is how many passes a run may take that is not over before. Zero: 1,000.
	MaxPasses int
	// Patience limits the time that a pass may take by the real clock before it
	// counts as stuck. Zero means 10 s. Only time that the test was given counts,
	// so that a busy machine fails no test.
	Patience time.Duration

	// Scripts of the operations, which are asked before Operations are.
	Owner  Script[checks.Object]
	Get    Script[flow.Observation]
	Apply  Script[flow.Progress]
	Delete Script[flow.Progress]

	stage   stage
	objects map[checks.Ref]*Script[checks.Object]
	scripts []scripted // objects and services, in the order in which they were made
	events  []event
	ran     bool
}

// Object scripts what the resolver says of ref. From its second answer on, [Script.From] is also a change of that object,
// which wakes the resource if it waits for it. It is called as often as there is something to say.
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

// Now is the virtual time, for what else needs a clock: checks.Clock, the user's own operations. A run begins at midnight
// of the first of January 2026, UTC.
func (w *World[T]) Now() time.Time { return w.stage.now() }

// Elapsed is the virtual time since the run began.
func (w *World[T]) Elapsed() time.Duration { return w.stage.elapsed() }

// Requests lists all that was asked so far, as in [Pass], the call under way included: for operations that answer by what
// was called before.
func (w *World[T]) Requests() []string { return w.stage.requests() }

// wire connects the scripts to the world.
func (w *World[T]) wire() []scripted {
	w.Owner.name, w.Owner.stage = "Owner", &w.stage
	w.Get.name, w.Get.stage = "Get", &w.stage
	w.Apply.name, w.Apply.stage = "Apply", &w.stage
	w.Delete.name, w.Delete.stage = "Delete", &w.stage
	return append([]scripted{&w.Owner, &w.Get, &w.Apply, &w.Delete}, w.scripts...)
}

// mistake is what is wrong with the world itself; empty: nothing.
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
		return "World.New is given beside Kind or Extensions, which it would not know of: put them into New"
	case w.Operations.Apply == nil && !w.Apply.given():
		return "Apply is missing: script World.Apply, or give Operations.Apply"
	}
	return ""
}

// operations are those that the flow is given: they keep the record of what is called, and answer by script or as the
// user's own.
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
			st.got(seen, err)
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
			st.kept(err == nil)
			return err
		}
	}
	return ops
}

// call is what Apply and Delete are.
type call[T any] = func(context.Context, *flow.Request[T]) (flow.Progress, error)

// recorded is Apply or Delete.
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

// bound is a call of f with its arguments; nil if f is.
func bound[In, Out any](f func(context.Context, In) (Out, error), ctx context.Context, in In) func() (Out, error) {
	if f == nil {
		return nil
	}
	return func() (Out, error) { return f(ctx, in) }
}

// resolver is that of the flow; nil if there is none.
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

// begin makes the flow as a new process does: nothing that was in memory is left.
func (w *World[T]) begin() (runner flow.Runner[T], mistake string) {
	defer func() {
		if v := recover(); v != nil {
			mistake = fmt.Sprintf("the flow cannot be made: %v", v)
		}
	}()
	backoff := append([]flow.BackoffOption{flow.BackoffJitter(0, 0)}, w.Backoff...)
	opts := append(slices.Clone(w.Options),
		flow.WithClock(w.Now),
		flow.WithBackoff(flow.NewBackoff(append(backoff, flow.BackoffClock(w.Now))...)),
		flow.WithObserver(&w.stage),
	)
	if resolver := w.resolver(); resolver != nil {
		opts = append(opts, flow.WithResolver(resolver))
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
		return nil, "World.New gave a nil reconciler"
	}
	return runner, ""
}
