package component

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

// redundant deletes the objects that the inventory has and the set lacks, when
// all waves are ready.
func redundant(next Handler) Handler {
	return func(ctx context.Context, s *Set) (checks.Result, error) {
		res, err := next(ctx, s)
		if err != nil || !res.Proceeds() {
			return res, err
		}
		needed, former := make(map[checks.Ref]bool, len(s.objects)), map[checks.Ref]bool{}
		for _, o := range s.objects {
			needed[o.ref] = true
			if bare := o.ref; o.known && bare.Namespace != "" {
				bare.Namespace = ""
				former[bare] = true
			}
			if !o.known { // only in a plan: its namespace may be that of the component
				needed[o.placed(s.Component)] = true
			}
		}
		// The kind of such an item has got namespaces since, so its object is gone. A deletion
		// would look for it in the namespace of the component, and find the new one.
		s.drop(former)
		items := slices.DeleteFunc(slices.Clone(s.inventory), func(i Item) bool { return needed[i.Ref] })
		return s.teardown(ctx, items)
	}
}

// teardown deletes objects wave by wave, and drops from the inventory those
// that are gone or kept.
func (s *Set) teardown(ctx context.Context, items []Item) (res checks.Result, err error) {
	if s.cleared != nil {
		items = s.cleared
	} else if items, res, err = s.decide(ctx, items); err != nil || !res.Proceeds() {
		return res, err
	}
	gone, name := map[checks.Ref]bool{}, "redundant, wave %d"
	if s.deleted() {
		name = "deletion wave %d"
	}
	waves, released := s.deletionWaves(items), false
	for n, wave := range waves {
		if released { // its type or its namespace, in a later wave, would take an object of another owner
			if _, res, err = s.decide(ctx, slices.Concat(waves[n:]...)); err != nil || !res.Proceeds() {
				return res, err
			}
		}
		res, err = s.deleteItems(ctx, wave, func(i Item, r dependents.Result) {
			if s.Plan != nil {
				s.Plan.delete(fmt.Sprintf(name, n+1), i.Ref, r)
			} else {
				gone[i.Ref] = true
				released = released || r.Object != nil && !s.keeps(&i)
			}
		})
		s.drop(gone)
		if err != nil {
			return checks.Result{}, err
		}
		if !res.Proceeds() {
			stays := func(i Item) bool { return gone[i.Ref] || i.Purged || s.keeps(&i) }
			left := len(slices.DeleteFunc(slices.Clone(items), stays))
			return reworded(res, fmt.Sprintf("%d objects are left: %s", left, res.Message())), nil
		}
	}
	return checks.Proceed(), nil
}

// deleteItems deletes objects, and calls settled for each one that is gone or
// kept. A plan tries each deletion, and calls settled for all.
func (s *Set) deleteItems(ctx context.Context, items []Item, settled func(Item, dependents.Result)) (checks.Result, error) {
	d, reason := s.system.dependents, reasonProcessing
	if s.Plan != nil {
		d = s.system.dryRun
	}
	if s.deleted() {
		reason = reasonDeletionProcessing
	}
	if err := s.upToDate(ctx); err != nil {
		return checks.Result{}, err
	}
	var errs []error
	var texts []string
	var awaited []checks.Ref
	var after time.Duration
	for _, i := range items {
		switch r, err := s.deleteItem(ctx, d, i); {
		case err != nil:
			errs = append(errs, err)
		case s.Plan != nil || r.IsSettled():
			settled(i, r)
		default:
			texts = append(texts, short(i.Ref)+": "+r.Message+s.heldBy(ctx, r))
			awaited = append(awaited, i.Ref)
			if holdsObjects(i.groupKind()) {
				after = deletionDelay
			}
		}
	}
	if err := errors.Join(errs...); err != nil || len(texts) == 0 {
		return checks.Proceed(), err
	}
	return s.block(reason, listed(texts), after, awaited), nil
}

// holdsObjects reports whether the API server deletes other objects before an
// object of a kind. A condition of such an object says what keeps it. No event
// of the watch causes a pass when only this condition changes.
func holdsObjects(gk schema.GroupKind) bool { return gk == kindNamespace || gk == kindDefinition }

// heldBy returns the finalizers of an object in deletion, and the problem that
// a Namespace or a definition reports. The latter is read live. If it cannot be
// read, only the message lacks it.
func (s *Set) heldBy(ctx context.Context, r dependents.Result) (text string) {
	if r.Object == nil {
		return ""
	}
	if f := r.Object.GetFinalizers(); len(f) > 0 {
		text = ", held by the finalizers " + strings.Join(f, ", ")
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(r.Object.GetObjectKind().GroupVersionKind())
	if !holdsObjects(u.GroupVersionKind().GroupKind()) ||
		s.access.Live.Get(ctx, client.ObjectKeyFromObject(r.Object), u) != nil {
		return text
	}
	if problem := ready.Problem(u); problem != "" {
		text += ": " + problem
	}
	return text
}

// deletionWaves sorts objects into waves: by their order, and in each order the
// stages of an apply backwards. An API service, a definition and a namespace come
// after the objects in them. An API service comes before the others, because its
// group can be discovered while its server runs. Inside a wave, an object comes
// before those of kinds that its own usually needs.
func (s *Set) deletionWaves(items []Item) (waves [][]Item) {
	types := slices.Clone(s.types)
	for _, i := range s.inventory {
		if i.Manages != nil {
			types = append(types, *i.Manages)
		}
	}
	type part struct {
		Item
		order, stage, priority int
	}
	parts := make([]part, 0, len(items))
	for _, i := range slices.Backward(items) {
		gk := i.groupKind()
		of := placeOf(gk)
		p := part{i, int(i.DeleteOrder), -2 * int(of.stage), of.priority}
		switch {
		case gk == kindDefinition:
			p.stage = -1 // after all but the namespaces
		case !i.isOuter() && anyMatches(types, gk.WithVersion("")):
			p.stage = -2 * int(stageInstances)
		}
		for at := 0; i.isOuter() && at < len(items); at++ {
			if inner := &items[at]; i.has(inner) {
				p.order = max(p.order, int(inner.DeleteOrder))
			}
		}
		parts = append(parts, p)
	}
	slices.SortStableFunc(parts, func(a, b part) int {
		return cmp.Or(a.order-b.order, a.stage-b.stage, b.priority-a.priority)
	})
	for n, p := range parts {
		if n == 0 || p.order != parts[n-1].order || p.stage != parts[n-1].stage {
			waves = append(waves, nil)
		}
		last := &waves[len(waves)-1]
		*last = append(*last, p.Item)
	}
	return waves
}

// purge deletes the objects whose purge order a wave has reached, and waits
// until they are gone. The inventory stores the decision first, so that no
// later pass applies such an object again.
func (s *Set) purge(ctx context.Context, order int) (checks.Result, error) {
	var due []Item
	for _, o := range s.objects {
		if o.purgeOrder == nil || int(max(*o.purgeOrder, o.applyOrder)) > order {
			continue
		}
		item := s.find(o.ref)
		switch {
		case item != nil:
			if digest := o.request.Digest(); item.Purge != digest {
				item.Purge, item.Purged = digest, false
			}
			if item.Purged {
				continue
			}
			due = append(due, *item)
		case s.Plan == nil:
			return checks.Result{}, fmt.Errorf("%s: the inventory lacks it", o.ref)
		}
		if s.Plan != nil && !s.Plan.has(remove, o.ref) { // in a plan, its kind may not be served yet
			s.Plan.delete(fmt.Sprintf("purge after the apply-order %d", max(*o.purgeOrder, o.applyOrder)), o.ref, dependents.Result{})
		}
	}
	if len(due) == 0 {
		return checks.Proceed(), nil
	}
	if err := s.save(ctx); err != nil {
		return checks.Proceed(), err
	}
	res, err := s.deleteItems(ctx, due, func(i Item, _ dependents.Result) { s.find(i.Ref).Purged = true })
	if err != nil || res.Proceeds() {
		return res, err
	}
	return s.block(res.Reason(), "waiting for the objects that are purged: "+res.Message(), deletionDelay, res.WaitingFor()), nil
}
