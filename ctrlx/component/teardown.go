package component

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component/dependents"
)

// redundant deletes the objects that the inventory has and the set lacks, when all
// waves are ready.
func redundant(next Handler) Handler {
	return func(ctx context.Context, s *Set) (Result, error) {
		res, err := next(ctx, s)
		if err != nil || !res.Done {
			return res, err
		}
		needed := map[checks.Ref]bool{}
		for _, o := range s.Objects {
			needed[o.Ref] = true
		}
		var items []Item
		for _, i := range s.Inventory.Items {
			if !needed[i.Ref()] {
				items = append(items, i)
			}
		}
		if res, err = s.teardown(ctx, items, false); err != nil || res.Done {
			return res, err
		}
		res.Reason = ReasonProcessing
		return res, nil
	}
}

// removeAll deletes all objects of the inventory. It is the end of the delete
// chain.
func (y *system) removeAll(ctx context.Context, s *Set) (Result, error) {
	total := len(s.Inventory.Items)
	res, err := s.teardown(ctx, s.Inventory.Items, true)
	s.Component.GetStatus().Progress = &Progress{Ready: len(s.Inventory.Items), Objects: total}
	return res, err
}

// teardown deletes objects wave by wave, and drops from the inventory those that
// are gone or kept. deleted reports that the component is deleted.
func (s *Set) teardown(ctx context.Context, items []Item, deleted bool) (Result, error) {
	items, res, err := s.held(ctx, items, deleted)
	if err != nil || !res.Done {
		return res, err
	}
	number := 0
	for _, wave := range s.deletionWaves(items) {
		number++
		res, err := s.deleteWave(ctx, wave, deleted, number)
		if err == nil && !res.Done && res.Reason == ReasonDeletionProcessing {
			left := 0
			for _, i := range items {
				left += min(s.Inventory.find(i.Ref())+1, 1)
			}
			res.Message = fmt.Sprintf("%d of %d objects are left: %s", left, len(items), res.Message)
		}
		if err != nil || !res.Done {
			return res, err
		}
	}
	return Result{Done: true}, nil
}

// deleteWave deletes the objects of one wave.
func (s *Set) deleteWave(ctx context.Context, items []Item, deleted bool, number int) (Result, error) {
	if !deleted || number > 1 { // else the link Guard has done so
		if res, err := s.blocked(ctx, typesIn(items, deleted)); err != nil || !res.Done {
			return res, err
		}
	}
	res := Result{Done: true, Reason: ReasonDeletionProcessing}
	var texts []string
	var errs []error
	for _, i := range items {
		r, err := s.deleteItem(ctx, i, deleted, number)
		switch {
		case err != nil:
			errs = append(errs, err)
		case s.Plan != nil:
		case r.IsSettled():
			s.Inventory.drop(i.Ref())
		default:
			texts = append(texts, short(i.Ref())+": "+r.Message+heldBy(r))
			res.WaitingFor = append(res.WaitingFor, i.Ref())
			if !s.system.watched(i.groupKind()) || s.access.find == nil {
				res.After = deletionDelay
			}
		}
	}
	res.Done = len(texts) == 0
	res.Message = listed(texts)
	return res, errors.Join(errs...)
}

// heldBy returns the finalizers of an object in deletion.
func heldBy(r dependents.Result) string {
	if r.Object == nil || len(r.Object.GetFinalizers()) == 0 {
		return ""
	}
	return ", held by the finalizers " + strings.Join(r.Object.GetFinalizers(), ", ")
}

// deleteItem deletes one object. The inventory has its policy.
func (s *Set) deleteItem(ctx context.Context, i Item, deleted bool, number int) (dependents.Result, error) {
	policy, m := i.DeletePolicy, writing
	if i.Purge != "" {
		policy = dependents.DeleteDelete
	}
	if s.Plan != nil {
		m = trying
	}
	res, err := s.removeItem(ctx, i, deleted, policy, m)
	if err == nil && s.Plan != nil {
		s.Plan.remove(number, i.Ref(), res)
	}
	return res, err
}

// removeItem calls package dependents for the deletion of one object.
func (s *Set) removeItem(ctx context.Context, i Item, deleted bool, policy dependents.DeletePolicy, m mode) (dependents.Result, error) {
	if err := s.known(i.groupKind()); err != nil {
		return dependents.Result{}, err
	}
	obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: i.Namespace, Name: i.Name, Annotations: map[string]string{}}}
	obj.SetGroupVersionKind(i.groupKind().WithVersion("v1")) // package dependents finds the version that is served
	obj.Annotations[s.system.name+"/delete-policy"] = string(cmp.Or(policy, dependents.DeleteDelete))
	ctx, _ = s.in(ctx, m)
	if deleted {
		return s.system.dependents.DeleteObject(ctx, s.Component, obj)
	}
	return s.system.dependents.PruneObject(ctx, s.Component, obj)
}

// deletionWaves sorts objects into waves: by their order, and in each order
// instances of managed types first, then API services, others, definitions, and
// namespaces. An API service, a definition and a namespace come after the objects
// in them.
func (s *Set) deletionWaves(items []Item) (waves [][]Item) {
	types := slices.Clone(s.config.types)
	for _, i := range s.Inventory.Items {
		if i.Manages != nil {
			types = append(types, *i.Manages)
		}
	}
	type key struct{ order, part int }
	at := func(i Item) key {
		k := key{int(i.DeleteOrder), 2}
		switch gk := i.groupKind(); {
		case gk == kindNamespace:
			k.part = 4
		case gk == kindAPIService:
			k.part = 1 // its group can be discovered while its server runs
		case i.Manages != nil:
			k.part = 3
		case slices.ContainsFunc(types, func(t TypeInfo) bool { return t.matches(gk.WithVersion("")) }):
			k.part = 0
		}
		for _, inner := range items {
			if i.has(inner) {
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
		waves = append(waves, parts[k])
	}
	return waves
}
