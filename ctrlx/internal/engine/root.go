package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/flow/why"
)

// The root cause of a wait is found in steps of one wait. Each pass records the
// root cause of its object: that of the worst awaited object, or the awaited
// object itself if it waits for nothing. So a pass looks at its own awaited objects
// only, however long the chain is, and it reads nothing for that.
//
// A root cause that changes goes back along the chain in the same steps:
//
//   - An event of an awaited object wakes its waiters, as for any change.
//   - A pass that finds another root cause and writes a status causes such an event.
//   - A pass that finds another root cause and has nothing to write wakes the
//     waiters itself ([Engine.RootChanged]).
//
// So no waiter keeps a false root cause for longer than the passes between it and
// the root take, and a change that leaves the root as it is, such as a longer
// chain, stops at the first pass. The text of a root cause is part of the status
// and of its digest: the event of its change is the wake-up of the next waiter.
//
// Objects on a cycle find the cycle themselves, so no root cause goes around in it.

// RootCause is a root cause as texts.
type RootCause struct {
	Ref  checks.Ref // of a cycle: the first object by name
	Text string     // "Subnet apps/batch was not found"; empty: there is none
}

// Named reports whether a text names the root cause.
func (c *RootCause) Named(in string) bool {
	if strings.HasPrefix(c.Text, cyclePrefix) {
		return strings.Contains(in, cyclePrefix)
	}
	return names(in, c.Ref.String())
}

func endsInName(s string) bool   { return s != "" && inName(s[len(s)-1]) }
func startsInName(s string) bool { return s != "" && inName(s[0]) }

// inName reports whether a byte may be part of a name or a kind.
func inName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-./_", c) >= 0
}

// cyclePrefix begins the text of a cycle.
const cyclePrefix = "dependency cycle: "

// names reports whether a text has a name, and not only one that begins or ends
// with it.
func names(in, name string) bool {
	for at := 0; ; {
		i := strings.Index(in[at:], name)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(name)
		if !endsInName(in[:start]) && !startsInName(strings.TrimLeft(in[end:], ".")) {
			return true
		}
		at = end
	}
}

// Seen has the objects that a pass read.
type Seen interface {
	// Object returns an object as the pass read it; nil: it did not.
	Object(ref checks.Ref) *checks.Object
	// Members returns the members of a set as the pass listed them; ok is false if it
	// did not, or if it listed their names only.
	Members(set checks.Ref) (members []checks.Object, ok bool)
}

const (
	// maxRoots is the number of the awaited objects, and of the members of a set,
	// whose root causes a pass compares.
	maxRoots = 50
	// maxCycle is the number of objects of a cycle that its text names.
	maxCycle = 20
)

// found is a root cause of an awaited object.
type found struct {
	index.Root
	sure bool // false: the awaited object may wait for another one that is not known yet
	late bool // the pass read an awaited object before the pass over it found that it waits
}

// add takes over the root cause of another awaited object if it is worse, or if first is
// true.
func (f *found) add(o found, first bool) {
	sure, late := f.sure && o.sure, f.late || o.late
	if first || worse(&o.Root, &f.Root) {
		*f = o
	}
	f.sure, f.late = sure, late
}

// Waits reports whether the last pass over an object ended in a wait. ref has the
// namespace, as [Pass.Read] returns it.
func (p *Pass) Waits(ref checks.Ref) bool {
	_, waits := p.engine.index.Root(ref)
	return waits
}

// root finds the root cause of the object of a pass that waits for ids.
func (p *Pass) root(ctx context.Context, end End, ids, cycle []index.ID) found {
	if len(cycle) > 1 {
		return found{Root: rootOfCycle(cycle), sure: true}
	}
	best := found{sure: true}
	for i, id := range ids[:min(len(ids), maxRoots)] {
		if id.Set == "" {
			best.add(p.engine.rootOf(ctx, p.Waiter, id, end.Seen.Object(id)), i == 0)
		} else {
			best.add(p.rootOfSet(ctx, end.Seen, id), i == 0)
		}
	}
	if why.State(best.State) == why.Ready {
		// A check of this object objects to an object that is ready.
		best.Root = index.Root{ID: p.Waiter, State: string(why.Blocked)}
	}
	return best
}

// setRoot records the root cause of the object of a pass, after its waits. It
// records none that is not sure, so that no waiter names an object that waits for
// another one.
func (p *Pass) setRoot(ctx context.Context, end End, w *Waiting, ids []index.ID) {
	if end.Seen == nil {
		return
	}
	f := p.root(ctx, end, ids, w.Cycle)
	if f.late { // the message quotes the object; the next pass knows better
		p.engine.wake(p.Waiter)
	}
	if !f.sure {
		w.RootChanged = p.engine.index.SetRoot(p.Waiter, index.Root{})
		w.RootUnknown = !w.RootChanged
		return
	}
	w.RootChanged = p.engine.index.SetRoot(p.Waiter, f.Root)
	switch {
	case f.Cycle == "" && (f.ID == p.Waiter || f.ID == ids[0]):
	case f.Cycle == "" && slices.Contains(ids, f.ID):
		w.Root = &RootCause{Ref: f.ID}
	default:
		w.Root = causeOf(f.Root)
	}
}

// rootOfSet finds the worst root cause of the members of a set. Members that wait
// for the set themselves compete for something, so they are left out.
func (p *Pass) rootOfSet(ctx context.Context, seen Seen, set index.ID) found {
	members, ok := seen.Members(set)
	best := found{Root: index.Root{ID: set, State: string(why.Blocked)}, sure: true}
	if ok && len(members) == 0 {
		best.State = string(why.Missing)
	}
	compared := 0
	for i := range members {
		o := &members[i]
		if o.Readiness.State == checks.Ready {
			continue
		}
		id := p.Resolved(ctx, o.Ref)
		if id == p.Waiter || slices.Contains(p.engine.index.Waits(id), set) {
			continue
		}
		best.add(p.engine.rootOf(ctx, p.Waiter, id, o), best.ID == set)
		if compared++; compared == maxRoots {
			break
		}
	}
	return best
}

// rootOf returns the root cause of an awaited object: the one that its last pass
// recorded, or the object itself. o is the object as the pass read it; nil: a check
// of the user read it by other means.
func (e *Engine) rootOf(ctx context.Context, waiter, id index.ID, o *checks.Object) found {
	root, waits := e.index.Root(id)
	late := o != nil && o.Readiness.Message != ""
	switch {
	case root != (index.Root{}):
		return found{Root: root, sure: !late, late: late}
	case waits:
		return found{Root: index.Root{ID: id, State: string(why.Blocked)}, late: late}
	}
	state, sure := why.Unknown, true
	if o != nil {
		state = stateOf(o)
	} else if view := e.reporterOf(waiter); view != nil {
		state = e.look(ctx, id, view).State
	}
	if state != why.Missing && state != why.Deleting && state != why.Ready {
		state = why.Blocked // other states alternate, and each change would wake all waiters
	}
	if own := e.reporterOf(id); own != nil && state != why.Missing && state != why.Ready {
		sure = own.Decided(ctx, nameOf(id))
	}
	return found{Root: index.Root{ID: id, State: string(state)}, sure: sure}
}

// worse reports whether a is less likely to end by itself than b.
func worse(a, b *index.Root) bool {
	if (a.Cycle == "") != (b.Cycle == "") {
		return a.Cycle != ""
	}
	return cmp.Or(why.State(a.State).Compare(why.State(b.State)), compareIDs(a.ID, b.ID), strings.Compare(a.Cycle, b.Cycle)) < 0
}

// compareIDs orders objects by kind, namespace and name.
func compareIDs(a, b index.ID) int {
	return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Group, b.Group), strings.Compare(a.Namespace, b.Namespace),
		strings.Compare(a.Name, b.Name), strings.Compare(a.Set, b.Set))
}

// rootOfCycle returns the root cause of the objects of a cycle, which is the same
// for each of them. The first object of the cycle is also its last.
func rootOfCycle(cycle []index.ID) index.Root {
	ids := cycle[:len(cycle)-1]
	first := slices.Index(ids, slices.MinFunc(ids, compareIDs))
	ids = slices.Concat(ids[first:], ids[:first])
	return index.Root{ID: ids[0], Cycle: CycleText(append(ids, ids[0]))}
}

// CycleText returns the text of a cycle of waits: "dependency cycle: A -> B -> A".
// The first object is also the last one. The text of a large cycle leaves out
// objects.
func CycleText(cycle []checks.Ref) string {
	last := len(cycle) - 1
	var b strings.Builder
	b.WriteString(cyclePrefix)
	for _, ref := range cycle[:min(last, maxCycle)] {
		b.WriteString(ref.String() + " -> ")
	}
	if last > maxCycle {
		b.WriteString("... -> ")
	}
	b.WriteString(cycle[last].String())
	return why.Line(b.String())
}

// causeOf returns the texts of a root cause.
func causeOf(root index.Root) *RootCause {
	c := &RootCause{Ref: root.ID, Text: root.Cycle}
	if c.Text != "" {
		return c
	}
	c.Text = why.Line(c.Ref.String() + " " + stateWords[why.State(root.State)])
	return c
}

// stateWords holds the states of root causes as they read after a name.
var stateWords = map[why.State]string{why.Missing: "was not found", why.Blocked: "is not ready", why.Deleting: "is being deleted"}

// stateOf returns the state of an object as checks see it.
func stateOf(o *checks.Object) why.State {
	switch r := o.Readiness; {
	case !o.Found():
		return why.Missing
	case o.Deleting:
		return why.Deleting
	case r.State == checks.Ready && r.Observed >= r.Generation:
		return why.Ready
	case r.State != checks.Unknown:
		return why.Blocked
	}
	return why.Unknown
}

// Root returns the root cause that the last pass over an object recorded, and the
// number of the other objects that wait for it, directly or not, up to a bound. The
// text has the present reason of the object. A nil RootCause is none.
func (e *Engine) Root(ctx context.Context, waiter index.ID) (c *RootCause, others int) {
	root, _ := e.index.Root(waiter)
	if root == (index.Root{}) {
		return nil, 0
	}
	c = causeOf(root)
	if view := e.reporterOf(waiter); view != nil && root.Cycle == "" {
		if reason := e.look(ctx, root.ID, view).Reason; reason != "" {
			c.Text = why.Line(c.Text + ": " + reason)
		}
	}
	return c, e.index.AllWaiters(root.ID, waiter)
}

// RootChanged wakes the waiters of an object, and of the sets that contain it,
// because its root cause has changed and its status has not. It reads the object
// from the cache into obj: the object may have entered a set since its pass began.
func (e *Engine) RootChanged(ctx context.Context, id index.ID, obj client.Object) {
	e.index.Changed(id, index.Change{Root: true})
	gk := KindOf(id)
	if !e.sets.has(gk) || e.cache.Get(ctx, nameOf(id), obj, FromCache...) != nil {
		return // the event of a deletion wakes the waiters of its sets
	}
	s := e.stateOf(obj, e.fieldsOf(gk))
	for _, t := range e.sets.touch(gk, &s, &s) {
		e.index.Changed(t.set.id, index.Change{Root: true, By: id})
	}
}

// reporterOf returns the reconciler of an object; nil: there is none here.
func (e *Engine) reporterOf(id index.ID) Reporter {
	if r, ok := e.reporterOfKind.Load(KindOf(id)); ok {
		return r.(Reporter)
	}
	return nil
}

// look describes an awaited object that no reconciler reports. It reads the
// cache, and watches nothing.
func (e *Engine) look(ctx context.Context, id index.ID, view Reporter) why.Object {
	o := why.Object{Ref: id, State: why.Unknown}
	w, state := e.watchOf(KindOf(id))
	if state != synced {
		if w == nil && e.catalog.lacks(KindOf(id)) {
			o.State, o.Reason, o.Message = why.Missing, "KindNotFound", "its kind is not installed"
		}
		return o
	}
	obj := e.newObject(w.kind)
	switch err := e.cache.Get(ctx, nameOf(id), obj, FromCache...); {
	case apierrors.IsNotFound(err):
		o.State = why.Missing
		return o
	case err != nil:
		return o
	}
	v, err := viewOf(view, obj, o.Ref)
	if err != nil {
		o.Message = err.Error()
		return o
	}
	o.Reason, o.Message = v.Readiness.Reason, v.Readiness.Message
	o.State = stateOf(&v)
	return o
}

// viewOf returns the view of an object. The function of the user that computes the
// readiness may panic.
func viewOf(r Reporter, obj client.Object, ref checks.Ref) (view checks.Object, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("its readiness is not known: the function of ctrlx.WithReadiness panicked: %v", v)
		}
	}()
	return r.View(obj, ref), nil
}
