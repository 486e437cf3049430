package ctrlx

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/why"
)

// WhyPath is the path on which kubectl windlass expects the handler of [Why].
const WhyPath = "/debug/windlass"

// Why returns a handler that says why objects of the reconcilers of mgr are not
// ready: the root causes, their waiters, and the paths between them. Add it to
// the metrics server of the manager, whose authentication and authorization then
// apply:
//
//	err := mgr.AddMetricsServerExtraHandler(ctrlx.WhyPath, ctrlx.Why(mgr))
//
// The handler answers GET with the JSON of a [why.Document], or with a page if
// the request accepts text/html. The parameters kind, group, namespace and name
// select one object. Without a kind, the answer has all root causes, or with a
// namespace those of its objects ([why.Graph.DocumentIn]). An unknown object has
// the code 404.
//
// The answer has the same information as conditions: no tokens, no data of
// objects. It has the last five passes of about 1,000 objects that are not ready,
// each with its verdict, the link that decided, and the duration. [flow.WithExplanations]
// adds the steps of the last pass. An
// object that failed for good is reported from its conditions. The handler reads
// only caches. A request costs memory and time in proportion to the objects that
// are not ready, and looks at the conditions of all others. After a start, the
// answer counts the objects that no pass has reached ([why.Document.Unseen]). It counts
// the objects that are ready ([why.Document.Ready]), and has them if the parameter
// ready is true. While a cache cannot be
// listed, the answer has the code 503. An object whose kind has no cache is not
// described. If a function of the user panics, the message of its object says so.
//
// A replica that is not the leader does not reconcile all kinds, so it answers with the code
// 421 (Misdirected Request), unless no controller needs the leader. Ask again: a service sends the request to another
// replica.
//
// mgr must be a pointer, as every manager of controller-runtime is; anything else
// panics.
func Why(mgr manager.Manager) http.Handler {
	e, err := engine.Of(mgr)
	if err != nil {
		panic("ctrlx: Why: " + err.Error())
	}
	return e.Handler()
}

// reporter reports the objects of a reconciler.
type reporter[T client.Object] struct{ *Reconciler[T] }

// Unready implements [engine.Reporter].
func (r reporter[T]) Unready(ctx context.Context, healthy bool, add func(why.Object)) (good, unseen int, err error) {
	reported := map[types.NamespacedName]bool{}
	describing := func(name types.NamespacedName) why.Object {
		return why.Object{Ref: r.id(name), Reconciler: r.name}
	}
	for _, u := range slices.DeleteFunc(r.memory.All(), func(u memory.Named) bool { return u.Verdict == (memory.Verdict{}) }) {
		if err = ctx.Err(); err != nil {
			return
		}
		reported[u.NamespacedName] = true
		o, v := describing(u.NamespacedName), u.Verdict
		o.State, o.Reason, o.Point, o.Link, o.Since = why.State(v.State.String()), v.Reason, v.Point, v.Link, time.Unix(u.Since, 0)
		if u.TimedOut {
			o.State, o.Reason = why.Failed, ReasonTimeout
		}
		if u.Again > 0 {
			o.Again = time.Unix(u.Again, 0)
		}
		r.describe(ctx, u.NamespacedName, &o)
		add(o)
	}
	ctx, cancel := context.WithTimeout(ctx, r.opt.sync)
	defer cancel()
	err = r.engine.Cached(ctx, r.kind.GroupVersionKind, func(obj client.Object) {
		name := client.ObjectKeyFromObject(obj)
		if reported[name] {
			return
		}
		o := describing(name)
		ready, final := r.stored(obj)
		if ready != nil {
			o.Reason, o.Message, o.Since = ready.Reason, ready.Message, ready.LastTransitionTime.Time
		}
		switch {
		case final && ready != nil && ready.Status == metav1.ConditionFalse:
			o.State = why.Failed
			add(o)
		case final || ready != nil && ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == obj.GetGeneration():
			if good++; healthy {
				o.State = why.Ready
				r.describe(ctx, name, &o) // a copy, for the functions of the user
				add(o)
			}
		case r.stripped(obj): // no pass goes over it
		default:
			if e := r.memory.Get(name); e.Verdict == (memory.Verdict{}) && !e.Silent {
				unseen++
			}
		}
	})
	if err != nil {
		err = fmt.Errorf("the objects of %s cannot be listed from the cache: %w", r.name, err)
	}
	return good, unseen, err
}

// stored returns the condition Ready of an object, and whether its last pass was
// final. A function of the user may panic; then nothing is known.
func (r reporter[T]) stored(obj client.Object) (ready *metav1.Condition, final bool) {
	defer func() { _ = recover() }()
	return meta.FindStatusCondition(r.kind.Conditions(obj), "Ready"), r.kind.Finished(obj)
}

// Decided implements [engine.Reporter]. An object that is finished gets no pass
// after a restart, so its conditions count. Of an ignored object there is no verdict.
func (r reporter[T]) Decided(ctx context.Context, name types.NamespacedName) bool {
	if e := r.memory.Get(name); e.Verdict != (memory.Verdict{}) || e.Silent {
		return true
	}
	obj := r.kind.New()
	if r.engine.Cache().Get(ctx, name, obj, engine.FromCache...) != nil {
		return false
	}
	_, final := r.stored(obj)
	return final
}

// describe adds to o what an object says. It reads the cache, and not by the client
// of the manager, which may read the kind live. A function of the user may panic;
// its object then has no message of its own.
func (r reporter[T]) describe(ctx context.Context, name types.NamespacedName, o *why.Object) {
	defer func() {
		if v := recover(); v != nil {
			o.Message = fmt.Sprintf("the object cannot be described: a function of the reconciler panicked: %v", v)
		}
	}()
	obj := r.kind.New()
	if r.engine.Cache().Get(ctx, name, obj, engine.FromCache...) != nil {
		return
	}
	if c := meta.FindStatusCondition(r.kind.Conditions(obj), "Ready"); c != nil {
		o.Reason, o.Message = cmp.Or(o.Reason, c.Reason), c.Message
	}
	if o.Passes = r.explanations(obj.(T), name); len(o.Passes) > 0 {
		o.WaitsForSelf = o.Passes[0].WaitsForSelf
	}
}

// Keeps implements [engine.Reporter].
func (r reporter[T]) Keeps(ctx context.Context, name types.NamespacedName, ref checks.Ref, at client.Object) bool {
	obj := r.kind.New()
	return r.keeps != nil && r.engine.Cache().Get(ctx, name, obj, engine.FromCache...) == nil && r.keeping(obj, ref, at)
}

// View implements [engine.Reporter].
func (r reporter[T]) View(obj client.Object, ref checks.Ref) checks.Object {
	return r.opt.Readiness.Object(obj, ref, "")
}

// Describe implements [engine.Reporter].
func (r reporter[T]) Describe() why.Flow { return why.FlowOf(r.name, r.flow) }

// Explain explains the state of an object from its last pass: the deciding check, the
// awaited objects, since when, and the root cause. It needs no option for an object
// that is not ready. [flow.WithExplanations] adds the verdict of each link, and
// explains ready objects, too. Explain returns an error if no pass over the object
// is kept, or if the object cannot be read.
// client.IgnoreNotFound(err) is nil if the object is gone.
func (r *Reconciler[T]) Explain(ctx context.Context, name types.NamespacedName) (flow.Explanation, error) {
	if r.engine == nil {
		return flow.Explanation{}, r.notSetUp()
	}
	obj := r.kind.New().(T)
	if err := r.client.Get(ctx, name, obj); err != nil {
		return flow.Explanation{}, fmt.Errorf("ctrlx: %s: %w", r.name, err)
	}
	all := r.explanations(obj, name)
	if len(all) == 0 {
		return flow.Explanation{}, fmt.Errorf("ctrlx: %s: no pass over %s is kept: give New the option flow.WithExplanations(n), with an n that is large enough", r.name, client.ObjectKeyFromObject(obj))
	}
	if root, others := r.engine.Root(ctx, r.id(name)); root != nil {
		all[0].RootCause, all[0].Others = root.Text, others
	}
	return all[0], nil
}

// explanations returns the last passes over an object, the latest first. The first
// one has the steps of the pass if the flow keeps explanations.
func (r *Reconciler[T]) explanations(obj T, name types.NamespacedName) (all []flow.Explanation) {
	traced, ok := r.flow.Explain(r.ops.Key(obj))
	if ok {
		all = append(all, traced)
	}
	for _, p := range r.memory.Passes(name) {
		if ok && !p.At.Add(p.Took).Before(traced.At) {
			continue // the same pass
		}
		state := p.State.String()
		if p.Verdict == (memory.Verdict{}) {
			state = flow.StateReady.String()
		}
		all = append(all, flow.Explanation{
			Name: r.name, Key: r.ops.Key(obj), At: p.At, Since: p.At, Elapsed: p.Took, State: state, Point: p.Point, Link: p.Link, Reason: p.Reason,
		})
	}
	return all
}
