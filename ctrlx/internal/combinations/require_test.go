package combinations_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/simulation"
	"github.com/windlass-go/windlass/ctrlx/inuse"
)

// require notes what does not hold at the end of a story, after hours without a
// step. passes, writes and operations of the cloud are those of the last hours.
func (w *world) require(passes int, writes []string, operations int) {
	all := w.all()
	waits, awaited := map[use][]use{}, map[use][]use{}
	for what, o := range all {
		waits[what] = append(waits[what], guardedBy(what, o, all)...)
		r, ours := o.(resource)
		if !ours {
			if o.GetDeletionTimestamp() != nil && len(waits[what]) == 0 {
				w.wrong("%s is being deleted, and no object uses it: its finalizers are %q", what, o.GetFinalizers())
			}
			continue
		}
		if w.leaves(what, o) {
			continue
		}
		design := w.design(what)
		because, problem := w.explained(what, r.base(), design.Deletes || design.Guards, all)
		if problem != "" {
			w.wrong("%s %s", what, problem)
		}
		awaited[what] = because
		waits[what] = append(waits[what], because...)
	}
	w.requireCycles(all, waits, awaited)
	w.requireCloud(all)
	if most := 100 * (len(all) + 1); passes > most {
		w.wrong("%d passes ran in %s, after hours without a change, over %d objects", passes, atRest, len(all))
	}
	if most := 16 * len(all); len(writes) > most {
		w.wrong("the operator wrote %d times in %s, after hours without a change, to %d objects: %q", len(writes), atRest, len(all), writes[:10])
	}
	if most := 8 * len(all); operations > most {
		w.wrong("%d operations began in %s, after hours without a change, over %d objects", operations, atRest, len(all))
	}
	if len(w.Faults()) > 0 {
		for _, o := range w.Objects() {
			w.Tell("run", "%s at the end: generation %d%s", simulation.Name(o), o.GetGeneration(), simulation.Described(o))
		}
	}
}

// The rules of this test.
const (
	atEnd   = "the end"
	ofCloud = "the cloud"
)

func (w *world) wrong(format string, args ...any) { w.Wrong(atEnd, format, args...) }

func sorted[V any](of map[use]V) []use {
	return slices.SortedFunc(maps.Keys(of), func(a, b use) int { return strings.Compare(a.String(), b.String()) })
}

// named finds the objects that a message names, as "Cluster.example.com default/a".
var named = regexp.MustCompile(`\b([A-Z][A-Za-z]+)(?:\.[a-z0-9.-]+)? ` + namespace + `/([a-z0-9-]+)`)

func namedIn(message string) (all []use) {
	for _, m := range named.FindAllStringSubmatch(message, -1) {
		all = append(all, use{m[1], m[2]})
	}
	return all
}

func (w *world) design(what use) design { return w.plan.Designs[slices.Index(kindNames, what.Kind)] }

// leaves reports whether the operator leaves an object alone, which another one
// owns or which is finished. Its conditions are not for its present spec.
func (w *world) leaves(what use, o client.Object) bool {
	r, ours := o.(resource)
	return ours && w.design(what).Roles && (r.base().Spec.Role == foreign ||
		conditionOf(r.base(), "Finished").Status == metav1.ConditionTrue && o.GetDeletionTimestamp() == nil)
}

// explained returns the objects for which an object waits, as its message says.
// problem is empty if the object is Ready, or if a person finds the cause that its
// message names. finalizes reports that the operator adds a finalizer to the kind.
func (w *world) explained(what use, o *object, finalizes bool, all map[use]client.Object) (waits []use, problem string) {
	ready := conditionOf(o, "Ready")
	deleting := o.GetDeletionTimestamp() != nil
	switch {
	case left(o) && finalizes && ready.Reason != ctrlx.ReasonDeleted && ready.Status != metav1.ConditionTrue:
		// The operator never added its finalizer, because it made nothing, and a
		// finalizer of another kind keeps the object. After a restart, ctrlx does not
		// know that the status is its own, and leaves it as it was.
		return nil, ""
	case ready.Type == "":
		return nil, "has no condition Ready"
	case ready.ObservedGeneration != o.Generation && !(deleting && ready.Reason == ctrlx.ReasonDeleted): // no pass goes over it
		return nil, fmt.Sprintf("has generation %d, and its condition Ready is for %d", o.Generation, ready.ObservedGeneration)
	case ready.Status == metav1.ConditionTrue && deleting:
		return nil, "is being deleted, and Ready"
	case ready.Status == metav1.ConditionTrue:
		return nil, ""
	}
	text := fmt.Sprintf("says %s: %s", ready.Reason, ready.Message)
	switch ready.Reason {
	case ctrlx.ReasonDeleted:
		if !left(o) {
			return nil, text + ", and no finalizer of others keeps it"
		}
		return nil, ""
	case checks.ReasonPaused:
		if !o.Spec.Paused {
			return nil, text + ", and is not paused"
		}
		return nil, ""
	case checks.ReasonOwnerNotSet:
		if o.Spec.Owner != "" {
			return nil, text + ", and has the owner " + o.Spec.Owner
		}
		return nil, ""
	case ctrlx.ReasonDependencyCycle:
		for _, other := range namedIn(ready.Message) {
			if other != what {
				waits = append(waits, other)
			}
		}
		return waits, "" // requireCycles compares it
	}
	if o.Spec.Size == refusedSize && strings.Contains(ready.Message, errRefused.Error()) {
		return nil, ""
	}
	waits = namedIn(ready.Message)
	if len(waits) == 0 {
		return nil, text + ", which names no cause"
	}
	if w.leaves(waits[0], all[waits[0]]) {
		waits = waits[:1] // the rest quotes what was true of it before
	}
	for _, other := range waits {
		if why := fault(ready.Reason, what, other, all); why != "" {
			return nil, fmt.Sprintf("%s, and %s %s", text, other, why)
		}
	}
	return waits, ""
}

// left reports whether an object is being deleted, and only finalizers of others
// keep it.
func left(o *object) bool {
	return o.GetDeletionTimestamp() != nil && !slices.Contains(o.Finalizers, ctrlx.Finalizer) && len(o.Finalizers) > 0
}

// fault returns why an object is no cause of a wait; empty: it is one.
func fault(reason string, waiter, of use, all map[use]client.Object) string {
	o := all[of]
	if of == waiter {
		return "is the object itself"
	}
	if o == nil {
		if reason == checks.ReasonInUse || reason == checks.ReasonNotUnique {
			return "is gone"
		}
		return ""
	}
	switch reason {
	case checks.ReasonInUse:
		return ""
	case checks.ReasonNotUnique:
		if claimOf(o.(resource)) != claimOf(all[waiter].(resource)) {
			return "has another claim"
		}
		return ""
	}
	if o.GetDeletionTimestamp() != nil {
		return ""
	}
	r, ours := o.(resource)
	if !ours {
		return "exists"
	}
	ready := conditionOf(r.base(), "Ready")
	switch {
	case ready.Status != metav1.ConditionTrue, ready.ObservedGeneration != o.GetGeneration():
		return ""
	case reason == checks.ReasonOwnerUnsuitable && r.base().Spec.Size == 0:
		return ""
	}
	return "is Ready"
}

// guardedBy returns the objects that keep an object that is being deleted.
func guardedBy(what use, o client.Object, all map[use]client.Object) (waits []use) {
	if o.GetDeletionTimestamp() == nil {
		return nil
	}
	for _, f := range o.GetFinalizers() {
		for _, kind := range kindNames {
			if f != strings.ToLower(kind)+"."+groupVersion.Group+"/in-use" {
				continue
			}
			for _, other := range sorted(all) {
				if other.Kind == kind && keeps(all[other], what) {
					waits = append(waits, other)
				}
			}
		}
	}
	return waits
}

// keeps reports whether an object guards another one by its record, which may name
// an object to which the spec does not refer any more.
func keeps(o client.Object, what use) bool {
	return strings.Contains(o.GetAnnotations()[inuse.Annotation], "/"+what.Kind+"/"+namespace+"/"+what.Name+`"`)
}

// keepsItsOwn reports whether an object guards one that it owns, and for whose end its deletion waits. docs/ctrlx/guarded-references.md
// forbids that.
func (w *world) keepsItsOwn(what use, all map[use]client.Object) bool {
	return slices.Contains(kindNames, what.Kind) && w.design(what).Guards && slices.Contains(w.design(what).Delete, "unused") &&
		slices.ContainsFunc(sorted(all), func(o use) bool {
			return o.Kind == below(what.Kind) && all[o].(resource).base().Spec.Owner == what.Name && keeps(all[what], o)
		})
}

// requireCycles notes the cycles of waits that are no cycles for the operator, and
// those that are cycles for it alone. awaited has the waits that the objects name; the others
// are of objects that others keep. The operator sees such a wait only if the object waits for one
// that it keeps itself. In a longer cycle, its users see the object that is being deleted.
func (w *world) requireCycles(all map[use]client.Object, waits, awaited map[use][]use) {
	reach, sees := simulation.Reach(waits), simulation.Reach(awaited)
	for _, what := range sorted(all) {
		r, ours := all[what].(resource)
		if !ours || w.leaves(what, all[what]) || slices.ContainsFunc(sorted(all), func(o use) bool { return reach[what][o] && reach[o][what] && w.keepsItsOwn(o, all) }) {
			continue
		}
		ready := conditionOf(r.base(), "Ready")
		called := ready.Reason == ctrlx.ReasonDependencyCycle
		direct, _, _ := strings.Cut(ready.Message, "root cause")
		switch {
		case reach[what][what] && !called && !left(r.base()) && (sees[what][what] || slices.ContainsFunc(namedIn(direct), func(o use) bool { return slices.Contains(guardedBy(o, all[o], all), what) })):
			w.wrong("%s waits for itself by way of other objects, and says %s: %s", what, ready.Reason, ready.Message)
		case called && !reach[what][what]:
			w.wrong("%s says %s: %s, and does not wait for itself", what, ready.Reason, ready.Message)
		case called && conditionOf(r.base(), "Stalled").Status != metav1.ConditionTrue:
			w.wrong("%s says %s and is not Stalled", what, ready.Reason)
		}
		if !reach[what][what] {
			continue
		}
		var kept []string
		for _, other := range sorted(all) {
			if reach[what][other] && reach[other][what] && all[other].GetDeletionTimestamp() == nil {
				kept = append(kept, other.String())
			}
		}
		if len(kept) == 0 {
			w.wrong("%s is in a deadlock: users delete all objects of its cycle: %s: %s", what, ready.Reason, ready.Message)
		}
	}
}

// requireCloud notes what is left in the cloud.
func (w *world) requireCloud(all map[use]client.Object) {
	objects := map[types.UID]client.Object{}
	for _, o := range all {
		objects[o.GetUID()] = o
	}
	w.cloud.mu.Lock()
	defer w.cloud.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	for uid, r := range w.cloud.resources {
		kind, _, _ := strings.Cut(r.what, " ")
		deletes := w.design(use{Kind: kind}).Deletes
		o, exists := objects[uid]
		switch {
		case !exists && (r.exists || r.op != nil) && deletes && !w.free[uid]:
			w.wrong("%s is gone, and its resource is left in the cloud", r.what)
		case exists && r.op != nil && !w.leaves(use{Kind: kind, Name: o.GetName()}, o) && conditionOf(o.(resource).base(), "Ready").Status == metav1.ConditionTrue:
			w.wrong("%s is Ready, and its %s %s is still under way", r.what, r.op.verb, r.op.token)
		}
	}
}
