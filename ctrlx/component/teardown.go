package component

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	return func(ctx context.Context, s *Set) (Result, error) {
		res, err := next(ctx, s)
		if err != nil || !res.Done {
			return res, err
		}
		needed := make(map[checks.Ref]bool, len(s.Objects))
		for _, o := range s.Objects {
			needed[o.Ref] = true
			if !o.known { // only in a plan: its namespace may be that of the component
				needed[o.placed(s.Component)] = true
			}
		}
		items := slices.DeleteFunc(slices.Clone(s.Inventory.Items), func(i Item) bool { return needed[i.Ref()] })
		if res, err = s.teardown(ctx, items, false); err != nil || res.Done {
			return res, err
		}
		res.Reason = reasonProcessing
		return res, nil
	}
}

// removeAll deletes all objects of the inventory. It is the end of the delete
// chain.
func (y *system) removeAll(ctx context.Context, s *Set) (Result, error) {
	return s.teardown(ctx, s.spared(s.Inventory.Items), true)
}

// teardown deletes objects wave by wave, and drops from the inventory those
// that are gone or kept. deleted reports that the component is deleted.
func (s *Set) teardown(ctx context.Context, items []Item, deleted bool) (res Result, err error) {
	if deleted && s.cleared != nil {
		items = s.cleared
	} else if items, res, err = s.decide(ctx, items, deleted); err != nil || !res.Done {
		return res, err
	}
	gone, name := map[checks.Ref]bool{}, "redundant, wave %d"
	if deleted {
		name = "deletion wave %d"
	}
	waves, released := s.deletionWaves(items), false
	for n, wave := range waves {
		if released { // its type or its namespace, in a later wave, would take an object of another owner
			if _, res, err = s.decide(ctx, slices.Concat(waves[n:]...), deleted); err != nil || !res.Done {
				return res, err
			}
		}
		res, err = s.deleteItems(ctx, wave, deleted, func(i Item, r dependents.Result) {
			if s.Plan != nil {
				s.Plan.delete(fmt.Sprintf(name, n+1), i.Ref(), r)
			} else {
				gone[i.Ref()] = true
				released = released || r.Object != nil && !keeps(i.DeletePolicy, deleted)
			}
		})
		s.Inventory.drop(gone)
		if err != nil {
			return Result{}, err
		}
		if !res.Done {
			stays := func(i Item) bool { return gone[i.Ref()] || i.Purged || keeps(i.DeletePolicy, deleted) }
			left := len(slices.DeleteFunc(slices.Clone(items), stays))
			res.Message = fmt.Sprintf("%d objects are left: %s", left, res.Message)
			return res, nil
		}
	}
	return Result{Done: true}, nil
}

// deleteItems deletes objects, and calls settled for each one that is gone or
// kept. A plan tries each deletion, and calls settled for all.
func (s *Set) deleteItems(
	ctx context.Context, items []Item, deleted bool, settled func(Item, dependents.Result),
) (Result, error) {
	res, d := Result{Done: true, Reason: reasonDeletionProcessing}, s.system.dependents
	if s.Plan != nil {
		d = s.system.dryRun
	}
	if err := s.upToDate(ctx); err != nil {
		return Result{}, err
	}
	results := make([]dependents.Result, len(items))
	errs := s.system.parallel(len(items), func(n int) int { return items[n].priority() }, func(n int) (err error) {
		results[n], err = s.deleteItem(ctx, d, items[n], deleted)
		return err
	})
	var texts []string
	for n, i := range items {
		switch r := results[n]; {
		case errs[n] != nil:
		case s.Plan != nil || r.IsSettled():
			settled(i, r)
		default:
			texts = append(texts, short(i.Ref())+": "+r.Message+s.heldBy(ctx, r))
			res.WaitingFor = append(res.WaitingFor, i.Ref())
			if holdsObjects(i.groupKind()) {
				res.After = deletionDelay
			}
		}
	}
	res.Done = len(texts) == 0
	res.Message = listed(texts)
	return res, errors.Join(errs...)
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
		s.access.live.Get(ctx, client.ObjectKeyFromObject(r.Object), u) != nil {
		return text
	}
	if problem := ready.Problem(u); problem != "" {
		text += ": " + problem
	}
	return text
}

// deleteItem deletes one object. The inventory has its policy.
func (s *Set) deleteItem(
	ctx context.Context, d *dependents.Dependents, i Item, deleted bool,
) (dependents.Result, error) {
	policy := cmp.Or(i.DeletePolicy, dependents.DeleteDelete)
	if i.Purge != "" {
		policy = dependents.DeleteDelete
	}
	obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: i.Namespace, Name: i.Name,
		Annotations: map[string]string{s.system.name + "/delete-policy": string(policy)},
	}}
	obj.SetGroupVersionKind(i.groupKind().WithVersion("v1")) // package dependents finds the version that is served
	if deleted {
		return d.DeleteObject(ctx, s.Component, obj)
	}
	return d.PruneObject(ctx, s.Component, obj)
}

// deletionWaves sorts objects into waves: by their order, and in each order the
// stages of an apply backwards. An API service, a definition and a namespace come
// after the objects in them. An API service comes before the others, because its
// group can be discovered while its server runs. Inside a wave, an object comes
// before those of kinds that its own usually needs.
func (s *Set) deletionWaves(items []Item) (waves [][]Item) {
	types := slices.Clone(s.config.types)
	for _, i := range s.Inventory.Items {
		if i.Manages != nil {
			types = append(types, *i.Manages)
		}
	}
	type key struct{ order, part int }
	at := func(i Item) key {
		gk := i.groupKind()
		k := key{int(i.DeleteOrder), -2 * int(placeOf(gk).stage)}
		managed := func(t TypeInfo) bool { return t.matches(gk.WithVersion("")) }
		switch {
		case gk == kindDefinition:
			k.part = -1 // after all but the namespaces
		case !i.isOuter() && slices.ContainsFunc(types, managed):
			k.part = -2 * int(stageInstances)
		}
		for at := 0; i.isOuter() && at < len(items); at++ {
			if inner := &items[at]; i.has(inner) {
				k.order = max(k.order, int(inner.DeleteOrder))
			}
		}
		return k
	}
	parts := map[key][]Item{}
	var keys []key
	for _, i := range items {
		k := at(i)
		if _, found := parts[k]; !found {
			keys = append(keys, k)
		}
		parts[k] = append(parts[k], i)
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.order != b.order {
			return a.order - b.order
		}
		return a.part - b.part
	})
	for _, k := range keys {
		slices.Reverse(parts[k])
		slices.SortStableFunc(parts[k], func(a, b Item) int { return b.priority() - a.priority() })
		waves = append(waves, parts[k])
	}
	return waves
}

// purge deletes the objects whose purge order a wave has reached, and waits
// until they are gone. The inventory stores the decision first, so that no
// later pass applies such an object again.
func (s *Set) purge(ctx context.Context, order int16) (Result, error) {
	done := Result{Done: true}
	var due []Item
	var indexes map[checks.Ref]int // most sets need none
	for _, o := range s.Objects {
		if o.purgeOrder == nil || *o.purgeOrder > order || o.applyOrder > order {
			continue
		}
		if indexes == nil {
			indexes = s.Inventory.byRef()
		}
		i, found := indexes[o.Ref]
		if !found && s.Plan != nil {
			continue // its kind is not served yet
		}
		if !found {
			return Result{}, fmt.Errorf("%s: the inventory lacks it", o.Ref)
		}
		item := &s.Inventory.Items[i]
		if item.Purge != o.digest() {
			item.Purge, item.Purged = o.digest(), false
		}
		if !item.Purged {
			due = append(due, *item)
		}
	}
	if err := s.save(ctx); err != nil || len(due) == 0 || s.Plan != nil {
		return done, err
	}
	res, err := s.deleteItems(ctx, due, false, func(i Item, _ dependents.Result) {
		s.Inventory.Items[indexes[i.Ref()]].Purged = true
	})
	res.Reason, res.After = reasonProcessing, deletionDelay
	res.Message = "waiting for the objects that are purged: " + res.Message
	return res, err
}
