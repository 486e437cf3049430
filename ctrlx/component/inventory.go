package component

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/again"
	"github.com/windlass-go/windlass/ctrlx/internal/definition"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
)

// find returns the item of an object; nil: the inventory lacks it.
func (s *Set) find(ref checks.Ref) *Item {
	for i := range s.inventory {
		if s.inventory[i].Ref == ref {
			return &s.inventory[i]
		}
	}
	return nil
}

// drop removes the items of refs from the inventory.
func (s *Set) drop(refs map[checks.Ref]bool) {
	s.inventory = slices.DeleteFunc(slices.Clone(s.inventory), func(i Item) bool { return refs[i.Ref] })
}

var errTooLarge = errors.New("the inventory is too large")

// fits returns an error if the status of the component does not take an inventory. In
// a plan it is a problem, once: each wave would make another one.
func (s *Set) fits(items []Item) error {
	text, _ := json.Marshal(items)                                        // texts and numbers
	if len(items) <= mostItems && len(text) <= mostBytes || s.deleted() { // a deletion only makes it smaller
		return nil
	}
	err := fmt.Errorf("%w: it has %d objects in %d bytes, and the status of a component takes %d objects in %d bytes: "+
		"split the component, or rename its objects in steps",
		errTooLarge, len(items), len(text), mostItems, mostBytes)
	if s.Plan == nil {
		return err
	}
	if !slices.ContainsFunc(s.Plan.Problems, func(p string) bool { return strings.HasPrefix(p, errTooLarge.Error()) }) {
		s.Plan.Problems = append(s.Plan.Problems, err.Error())
	}
	return nil
}

// save stores the inventory in the status of the component if it changed. It
// refuses to overwrite another version of the component. An error means that it
// may not be stored, so the caller must not write. In a plan, an inventory that is
// too large is a problem.
func (s *Set) save(ctx context.Context) error {
	if s.unstored != nil {
		return s.unstored
	}
	c, items, cl := s.Component, s.stored(), s.system.clients.Client
	if s.Plan == nil && s.isStored && slices.EqualFunc(c.GetStatus().Inventory, items, Item.equal) {
		return nil // as in most passes
	}
	if err := s.fits(items); err != nil || s.Plan != nil {
		return err
	}
	patch, _ := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": c.GetUID(), "resourceVersion": c.GetResourceVersion()},
		"status":   map[string]any{"inventory": items}, // not null, which removes it
	})
	gvk, _ := cl.GroupVersionKindFor(c) // configure has found it
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(gvk)
	stored.SetNamespace(c.GetNamespace())
	stored.SetName(c.GetName())
	err := again.Do(ctx, func() error {
		return cl.Status().Patch(ctx, stored, client.RawPatch(types.MergePatchType, patch), strict)
	})
	if err == nil {
		err = complete(stored, items)
	} else if apierrors.IsInvalid(err) && strings.Contains(err.Error(), "unknown field") { // it quotes the whole object
		err = errPruned
	}
	if err != nil {
		s.unstored = fmt.Errorf("storing the inventory: %w", err)
		return s.unstored
	}
	c.GetStatus().Inventory, s.isStored = items, true
	c.SetResourceVersion(stored.GetResourceVersion())
	return nil
}

// stored returns the inventory as its status has it: never nil, and an object of the
// set keeps what is in it, while a policy of the inventory keeps an inner object.
// That is the old policy of an object whose wave has not begun. With the new policy of
// the outer one, a deletion of the component would need both.
func (s *Set) stored() []Item {
	items := append([]Item{}, s.inventory...)
	for at := range items {
		outer := &items[at]
		if !outer.isOuter() || !slices.ContainsFunc(s.objects, func(o *object) bool { return o.ref == outer.Ref }) {
			continue // as most items
		}
		for i := range items {
			if inner := &items[i]; !inner.Purged && outer.has(inner) {
				outer.DeletePolicy = s.safer(outer, inner)
			}
		}
	}
	return items
}

// strict makes the API server refuse fields that the definition lacks. Stored without
// them, the inventory would look complete to the next pass.
const strict = client.FieldValidation(metav1.FieldValidationStrict)

var errPruned = errors.New("the API server drops a part of status.inventory, because the CustomResourceDefinition lacks it: " +
	"generate the definition again, and apply it")

// readable returns an error about a policy of an inventory: the API server dropped it,
// or a person wrote it.
func readable(items []Item) error {
	for _, i := range items {
		if i.Manages == nil && !i.Rebuilt && defined(i.groupKind(), nil) != nil {
			return fmt.Errorf("the item of %s in status.inventory has no manages: %w", i.Ref, errPruned)
		}
		switch i.DeletePolicy {
		case inherited, dependents.DeleteDelete, dependents.DeleteOrphan, dependents.DeleteOrphanOnApply, dependents.DeleteOrphanOnDelete:
		case "":
			return errPruned
		default:
			return fmt.Errorf("the deletePolicy of %s in status.inventory is %q: write Delete, Orphan, OrphanOnApply, OrphanOnDelete or default",
				i.Ref, i.DeletePolicy)
		}
	}
	return nil
}

// complete returns an error if a component lacks a part of the inventory that
// was written to it: the API server drops fields that the definition lacks.
func complete(stored *unstructured.Unstructured, written []Item) error {
	content, _, err := unstructured.NestedMap(stored.Object, "status")
	var got Status
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(content, &got)
	}
	if err == nil && !slices.EqualFunc(got.Inventory, written, Item.equal) {
		err = errPruned
	}
	if err != nil {
		return fmt.Errorf("%s: %w", stored.GroupVersionKind().GroupKind(), err)
	}
	return nil
}

// inventory loads the inventory. [Set.ahead] adds the objects that it lacks. A
// change by an inner link is stored at the end.
func inventory(next Handler) Handler {
	return func(ctx context.Context, s *Set) (checks.Result, error) {
		var err error
		s.inventory = s.Component.GetStatus().Inventory
		if s.isStored = s.inventory != nil; !s.isStored {
			s.inventory, err = s.rebuilt(ctx)
		} else {
			err = readable(s.inventory)
		}
		if err != nil {
			return checks.Result{}, fmt.Errorf("loading the inventory: %w", err)
		}
		if err := s.include(ctx); err != nil {
			return checks.Result{}, err
		}
		if s.isStored || len(s.inventory) > 0 || len(s.next) == 0 { // else the first wave stores the first items
			if err := s.save(ctx); err != nil {
				return checks.Result{}, err
			}
		}
		res, err := next(ctx, s)
		if lost := s.save(ctx); err == nil {
			err = lost
		}
		return res, err
	}
}

// once makes the inventory a copy with one item for each object, and returns where
// the items are. Users may write doubles, and two options may name the same kind.
// Each double may keep its object.
func (s *Set) once() map[checks.Ref]int {
	items, at := s.inventory, make(map[checks.Ref]int, len(s.inventory))
	s.inventory = nil
	for _, i := range items {
		i.ID, i.Set = "", "" // the object would count as another one
		n, twice := at[i.Ref]
		if !twice {
			at[i.Ref], s.inventory = len(at), append(s.inventory, i)
			continue
		}
		first := &s.inventory[n]
		first.Rebuilt, first.Adopted = first.Rebuilt || i.Rebuilt, first.Adopted || i.Adopted
		if s.keeps(&i) {
			first.DeletePolicy = i.DeletePolicy
		}
	}
	return at
}

// include finds the items of the objects that the inventory lacks, or has with other
// policies. They stay out of it until their wave begins, because the API server may
// refuse the wave, and the component may give up the change without a write. An
// object whose kind is not installed yet comes later, because its namespace may
// not be known.
func (s *Set) include(ctx context.Context) error {
	at := s.once()
	s.next = map[checks.Ref]Item{}
	all := slices.Clone(s.inventory)
	for _, o := range s.objects {
		item := o.item()
		if !o.known {
			for _, ref := range []checks.Ref{o.ref, o.placed(s.Component)} {
				if i, found := at[ref]; found {
					s.inventory[i].DeletePolicy = s.safer(&s.inventory[i], &item)
				}
			}
			continue
		}
		var old Item
		i, found := at[o.ref]
		if found {
			old = s.inventory[i]
		}
		item.Rebuilt = old.Rebuilt // until the object is written
		if o.purgeOrder != nil {
			item.Purge, item.Purged = old.Purge, old.Purged
		}
		if o.stage == stageNamespaces {
			existed := old.Adopted || old.Rebuilt // a label is no proof
			if !found {
				live, err := s.liveNamespace(ctx, o.ref.Name)
				if err != nil {
					return fmt.Errorf("%s: %w", o.ref, err)
				}
				existed = live != nil // one in deletion makes room for ours, see Set.ahead
			}
			if existed {
				item.adopt(o)
			}
		}
		if !found {
			i, all = len(all), append(all, item)
		}
		if all[i] = item; !found || !old.equal(item) {
			s.next[o.ref] = item
		}
		if found {
			s.inventory[i].DeletePolicy = s.safer(&old, &item)
		}
	}
	if len(s.next) == 0 {
		return nil
	}
	return s.fits(all) // no wave is written then
}

// safer returns the delete policy of an item until its wave begins: each of both
// policies may keep the object.
func (s *Set) safer(old, next *Item) dependents.DeletePolicy {
	either := func(deleted bool) bool { return keeps(s.policyOf(old), deleted) || keeps(s.policyOf(next), deleted) }
	switch redundant, deleted := either(false), either(true); {
	case redundant == keeps(s.policyOf(old), false) && deleted == keeps(s.policyOf(old), true):
		return old.DeletePolicy
	case redundant && deleted:
		return dependents.DeleteOrphan
	case redundant:
		return dependents.DeleteOrphanOnApply
	}
	return dependents.DeleteOrphanOnDelete
}

// item returns the item of the inventory for an object.
func (o *object) item() Item {
	i := Item{Ref: o.ref, DeleteOrder: o.deleteOrder, DeletePolicy: o.request.Policies.Delete, Manages: o.manages}
	if o.deletePolicy == "" {
		i.DeletePolicy = inherited // the policy of the component counts when the object is deleted
	}
	return i
}

// adopt marks the item of a namespace that existed before. Its deletion would
// delete the objects of others in it. So the component keeps it, unless the
// manifest itself asks for the deletion. A policy of the component or of an
// option does not count.
func (i *Item) adopt(o *object) {
	i.Adopted = true
	if o.deletePolicy == "" || o.deletePolicy == "default" || o.request.Policies.Delete != dependents.DeleteDelete {
		i.DeletePolicy = dependents.DeleteOrphan
	}
}

// ahead stores what the inventory must have before the writes of a wave:
//
//   - The objects that it lacks, and the new policies of the others. A new object
//     that has the label of the component already is in doubt until it is written.
//   - An object that was purged exists again.
//   - A namespace that lacks the label of the component existed before. One that
//     does not exist any more will be that of the component.
func (s *Set) ahead(ctx context.Context) error {
	for i, o := range s.members {
		item, differs := s.next[o.ref]
		if delete(s.next, o.ref); !differs {
			continue
		}
		if old := s.find(o.ref); old != nil {
			*old = item
			continue
		}
		pending := s.results[i].Pending
		item.Rebuilt = pending != nil && pending.Live != nil && pending.Live.GetLabels()[s.labelKey] == s.label
		s.inventory = append(s.inventory, item)
	}
	if len(s.pending) == 0 {
		return nil
	}
	for _, i := range s.pending {
		o := s.members[i]
		item := s.find(o.ref)
		if item == nil { // it would be forgotten after the write
			return fmt.Errorf("%s: the inventory lacks it", o.ref)
		}
		item.Purge, item.Purged = "", false
		if o.stage == stageNamespaces {
			live, err := s.liveNamespace(ctx, o.ref.Name)
			switch {
			case err != nil:
				return err
			case live == nil:
				item.Adopted, item.DeletePolicy = false, o.item().DeletePolicy
			case live.GetLabels()[s.labelKey] != s.label:
				item.adopt(o)
			}
		}
	}
	if err := s.save(ctx); err != nil {
		return err
	}
	return s.upToDate(ctx)
}

// proven ends the doubt about objects that only a label named: they have the
// content of their manifests now.
func (s *Set) proven() {
	for i := range s.inventory {
		item := &s.inventory[i]
		if !item.Rebuilt {
			continue // as most items
		}
		at := slices.IndexFunc(s.members, func(o *object) bool { return o.known && o.ref == item.Ref })
		if at < 0 {
			continue // it is in another wave, or redundant, or its kind is not served
		}
		switch r := s.results[at]; r.Outcome {
		case dependents.Created, dependents.Updated, dependents.InSync, dependents.Waiting:
			item.Rebuilt = r.After > 0 || r.Pending != nil
		}
	}
}

// rebuilt returns the inventory of a component that has none stored: a new
// component, or one that lost its status, for example in a backup. It lists the
// objects of [WithKinds] that have the label of the component, past the cache. A
// label is no proof, because people copy objects with their labels. So the items
// are marked as rebuilt. An object that its policy keeps is left out.
func (s *Set) rebuilt(ctx context.Context) (items []Item, _ error) {
	if pass, ok := ctx.Value(engine.PassKey{}).(*engine.InPass); ok && pass.New {
		return nil, nil // it had no finalizer, and a stranger may have used its label
	}
	for _, gvk := range s.system.options.kinds {
		var unread error
		add := func(obj *metav1.PartialObjectMetadata) bool {
			obj.SetGroupVersionKind(gvk)
			r, err := s.system.dependents.Check(ctx, s.Component, obj)
			invalid := errors.Is(err, dependents.ErrInvalid) // such a policy keeps nothing
			if invalid || err == nil && r[0].Policies.Delete == dependents.DeleteDelete {
				ref := checks.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: obj.Namespace, Name: obj.Name}
				items = append(items, Item{Ref: ref, DeletePolicy: inherited, Rebuilt: true})
			}
			if !invalid {
				unread = err
			}
			return unread == nil
		}
		label := client.MatchingLabels{s.labelKey: s.label}
		err := s.list(ctx, gvk, add, label)
		if apierrors.IsForbidden(err) {
			err = s.list(ctx, gvk, add, label, client.InNamespace(s.Component.GetNamespace()))
		}
		if err := errors.Join(err, unread); err != nil {
			return nil, fmt.Errorf("listing %s: %w", gvk.GroupKind(), err)
		}
	}
	return items, nil
}

// liveNamespace reads a namespace past the cache; nil: it does not exist.
func (s *Set) liveNamespace(ctx context.Context, name string) (client.Object, error) {
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(kindNamespace.WithVersion("v1"))
	err := s.access.Live.Get(ctx, client.ObjectKey{Name: name}, live)
	if err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return live, nil
}

// listPage is the number of objects in one page of a list.
const listPage = 500

// list calls visit for the metadata of the objects of a kind, until it returns
// false. It reads past the cache. A kind without a definition has no objects. The
// error of a kind with one that the API server does not serve wraps
// definition.ErrHidden.
func (s *Set) list(
	ctx context.Context, gvk schema.GroupVersionKind, visit func(*metav1.PartialObjectMetadata) bool, opts ...client.ListOption,
) error {
	in := func(version string) error {
		for page := ""; ; {
			list := &metav1.PartialObjectMetadataList{}
			list.SetGroupVersionKind(schema.GroupVersionKind{Group: gvk.Group, Version: version, Kind: gvk.Kind + "List"})
			if err := s.access.Live.List(ctx, list, append(opts, client.Limit(listPage), client.Continue(page))...); err != nil {
				return err
			}
			for i := range list.Items {
				if !visit(&list.Items[i]) {
					return nil
				}
			}
			if page = list.GetContinue(); page == "" {
				return nil
			}
		}
	}
	var err error
	if gvk.Version != "" {
		err = in(gvk.Version)
	}
	if gvk.Version == "" || definition.Unserved(err) {
		err = definition.Read(ctx, s.access.Live, gvk.GroupKind(), in)
	}
	if errors.Is(err, definition.ErrNone) {
		return nil
	}
	return err
}
