package component

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/definition"
)

// mostBlocking is the number of objects of one kind that a verdict names.
const mostBlocking = 5

// The times after which a pass over a component in deletion reads again what no
// event reports: the longest one is that of a deletion that a person must unblock.
const (
	deletionDelay  = 5 * time.Second
	longestBlocked = 5 * time.Minute
)

// blocks returns the result of a blocked deletion. The deletion is read again
// after as long as it has waited.
func (s *Set) blocks(message string, awaited ...checks.Ref) checks.Result {
	after, reason := deletionDelay, reasonProcessing // of redundant objects
	if since := s.Component.GetDeletionTimestamp(); since != nil {
		after, reason = min(max(time.Since(since.Time), after), longestBlocked), reasonDeletionBlocked
	}
	return s.waits(s.block(reason, message, after, awaited))
}

// finalizers blocks a deletion while the component has finalizers of others.
// They may need the dependents.
func finalizers(next Handler) Handler {
	return func(ctx context.Context, s *Set) (checks.Result, error) {
		own := func(f string) bool { return f == s.system.finalizer }
		if others := slices.DeleteFunc(slices.Clone(s.Component.GetFinalizers()), own); len(others) > 0 {
			text := "other controllers must remove their finalizers first: " + strings.Join(others, ", ")
			if res := s.waits(s.block(reasonDeletionBlocked, text, 0, nil)); !res.Proceeds() { // the change of the component is an event
				return res, nil
			}
		}
		return next(ctx, s)
	}
}

// guard blocks a deletion while objects of managed types exist that the
// inventory lacks: they would be lost with their type. Without the link, they
// block no deletion of the component.
func guard(next Handler) Handler {
	return func(ctx context.Context, s *Set) (checks.Result, error) {
		s.guarded = true
		items, res, err := s.decide(ctx, s.spared(s.inventory))
		if err != nil || !res.Proceeds() {
			return res, err
		}
		s.cleared = items
		return next(ctx, s)
	}
}

// decide gives the verdict about each item of a deletion, and returns the items
// that it may delete or keep. The result is not done if it may lose an object that is
// needed, or that the component does not own. An item that must stay leaves the
// inventory if its object is not one of the component any more.
func (s *Set) decide(ctx context.Context, items []Item) (left []Item, _ checks.Result, _ error) {
	goes := make(map[checks.Ref]bool, len(items))
	for _, i := range items {
		goes[i.Ref] = true
	}
	guarded, deletes := s.guarded || !s.deleted(), false
	var types []managedType // whose objects would be lost
	var texts []string
	var awaited []checks.Ref
	for _, i := range items {
		why, kept := s.holds(&i, goes), s.keeps(&i)
		if why == "" {
			left = append(left, i)
		}
		deletes = deletes || !kept
		if why == "" && (kept || i.Manages == nil || !guarded) {
			continue
		}
		res, err := s.deleteItem(ctx, s.system.readOnly, i)
		ours := !res.IsSettled() // it exists, belongs to the component, and no policy keeps it
		switch {
		case err != nil:
			return nil, checks.Result{}, err
		case ours && why != "":
			texts = append(texts, fmt.Sprintf("%s: %s", i.Ref, why))
			awaited = append(awaited, i.Ref)
		case ours:
			of, err := s.typesIn(ctx, &i)
			if err != nil {
				return nil, checks.Result{}, err
			}
			types = append(types, of...)
		case why != "": // a deletion leaves it alone
			s.drop(map[checks.Ref]bool{i.Ref: true})
		}
	}
	if s.deleted() && guarded && deletes {
		types = append(types, s.types...)
	}
	if len(texts) > 0 {
		res := s.blocks(fmt.Sprintf("objects are kept; delete them, or remove their label %s: %s", s.labelKey, listed(texts)), awaited...)
		if !res.Proceeds() {
			return nil, res, nil
		}
	}
	res, err := s.lost(ctx, types)
	return left, res, err
}

// holds returns why an item must not be deleted; empty: it may be. goes has the
// objects that are deleted, too.
func (s *Set) holds(outer *Item, goes map[checks.Ref]bool) string {
	if outer.Rebuilt && !s.keeps(outer) {
		why := "the inventory was lost, or lacked it, and only the label says that this component made it"
		for _, i := range s.inventory {
			if goes[i.Ref] && !i.Rebuilt && !s.keeps(&i) && i.has(outer) && !s.isIn(&i) { // else it is spared
				why += fmt.Sprintf(", and it is deleted with %s, even without its label", i.Ref)
			}
		}
		return why
	}
	if s.keeps(outer) || !outer.isOuter() {
		return ""
	}
	if !s.deleted() && s.isIn(outer) {
		return "it would be deleted with the component, which is in it"
	}
	for at := range s.inventory {
		inner := &s.inventory[at]
		if inner.Purged || !outer.has(inner) {
			continue
		}
		if !goes[inner.Ref] || s.keeps(inner) {
			return fmt.Sprintf("it would be deleted with %s, which stays", inner.Ref)
		}
	}
	return ""
}

// isIn reports whether a deletion of outer deletes the component, too.
func (s *Set) isIn(outer *Item) bool {
	owner := s.Component
	gvk, err := s.access.Client.GroupVersionKindFor(owner)
	return err == nil && !s.remote() && outer.has(&Item{Ref: checks.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: owner.GetNamespace()}})
}

// spared returns the items of a component in deletion. It keeps the namespace of
// the component and the definition of its kind: they cannot go before the
// component, and it would wait for them.
func (s *Set) spared(items []Item) []Item {
	items = slices.Clone(items)
	for i := range items {
		if item := &items[i]; s.isIn(item) {
			item.DeletePolicy = dependents.DeleteOrphan // also of one that only its label names
		}
	}
	return items
}

// deleteItem deletes one object. The inventory has its policy.
func (s *Set) deleteItem(ctx context.Context, d *dependents.Dependents, i Item) (dependents.Result, error) {
	policy := cmp.Or(s.policyOf(&i), dependents.DeleteDelete)
	if i.Purge != "" {
		policy = dependents.DeleteDelete
	}
	obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: i.Namespace, Name: i.Name,
		Annotations: map[string]string{s.system.name + "/delete-policy": string(policy)},
	}}
	obj.SetGroupVersionKind(i.groupKind().WithVersion("v1")) // package dependents finds the version that is served
	return d.DeleteObject(ctx, s.Component, obj)
}

// typesIn returns the types of a definition: as the inventory has it, and as it is
// live, because the API server may have refused a manifest with another type.
func (s *Set) typesIn(ctx context.Context, i *Item) ([]managedType, error) {
	if defined(i.groupKind(), nil) == nil { // a user has edited the inventory
		return []managedType{*i.Manages}, nil
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(i.groupKind().WithVersion("v1"))
	err := s.access.Live.Get(ctx, client.ObjectKey{Name: i.Name}, u)
	if ctrlx.Errors().NotFound(err) {
		return nil, nil
	}
	return []managedType{*i.Manages, *defined(i.groupKind(), u.Object)}, err
}

// lost returns a result that is not done if an object of the types exists that the
// inventory lacks. A label is no proof, because people copy objects with their
// labels. It reads past the cache.
func (s *Set) lost(ctx context.Context, types []managedType) (checks.Result, error) {
	if err := s.findable(types); err != nil {
		return checks.Result{}, invalid(err)
	}
	kinds, err := s.kinds(ctx, types)
	if errors.Is(err, errUndiscovered) {
		if res := s.blocks(err.Error()); !res.Proceeds() {
			return res, nil
		}
	} else if err != nil {
		return checks.Result{}, err
	}
	ours := map[checks.Ref]bool{}
	for _, i := range s.inventory {
		ours[i.Ref] = !i.Purged // another person may have made one of the name of a purged one
	}
	var names []string
	var awaited []checks.Ref
	for _, gvk := range kinds {
		left := mostBlocking
		err := s.list(ctx, gvk, func(obj *metav1.PartialObjectMetadata) bool {
			ref := checks.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: obj.Namespace, Name: obj.Name}
			switch {
			case ours[ref], obj.UID == s.Component.GetUID():
				return true
			case left == 0:
				names = append(names, "more of "+gvk.GroupKind().String())
				return false
			}
			left, names, awaited = left-1, append(names, ref.String()), append(awaited, ref)
			return true
		})
		if errors.Is(err, definition.ErrHidden) {
			names = append(names, err.Error())
		} else if err != nil {
			return checks.Result{}, fmt.Errorf("listing objects of the managed type %s: %w", gvk.GroupKind(), err)
		}
	}
	if len(names) == 0 {
		return checks.Proceed(), nil
	}
	return s.blocks("objects of managed types would be lost, because this component does not own them; delete them first: "+
		strings.Join(names, ", "), awaited...), nil
}

// discoverable is a manager, or a cluster.Cluster of controller-runtime.
type discoverable interface {
	GetConfig() *rest.Config
	GetHTTPClient() *http.Client
}

// errUndiscovered says that the kinds of a group are not known.
var errUndiscovered = errors.New("cannot be discovered, so objects of managed types may exist")

// kinds returns the kinds of types that can be listed and deleted: other objects
// hold no data, as measurements. An exact type that the
// API server does not serve has no version. Groups that cannot be discovered
// matter only if a type may be in them: then the error is errUndiscovered, and
// the exact kinds are returned with it. Discovery leaves out a kind whose
// definition serves no version, so for a pattern the definitions are read, too.
// The mapper belongs to the client of the pass.
func (s *Set) kinds(ctx context.Context, types []managedType) (kinds []schema.GroupVersionKind, err error) {
	add := func(gvk schema.GroupVersionKind) {
		if !slices.Contains(kinds, gvk) {
			kinds = append(kinds, gvk)
		}
	}
	var patterns []managedType
	for _, t := range types {
		if !isExact(t) {
			patterns = append(patterns, t)
			continue
		}
		mapping, err := s.access.Client.RESTMapper().RESTMapping(schema.GroupKind{Group: t.Group, Kind: t.Kind})
		switch {
		case err == nil:
			add(mapping.GroupVersionKind)
		case meta.IsNoMatchError(err):
			add(schema.GroupVersionKind{Group: t.Group, Kind: t.Kind})
		default:
			return nil, fmt.Errorf("finding the managed type %s: %w", nameOf(t), err)
		}
	}
	if len(patterns) == 0 {
		return kinds, nil
	}
	if s.system.preferred == nil {
		return kinds, fmt.Errorf("the managed type %s %w: give Plan a manager or a cluster of controller-runtime",
			nameOf(patterns[0]), errUndiscovered)
	}
	anyInGroup := func(group string) bool {
		return slices.ContainsFunc(patterns, func(t managedType) bool { return inGroup(t, group) })
	}
	lists, err := s.system.preferred()
	failed, partly := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !partly {
		return nil, fmt.Errorf("finding the managed types: %w", err)
	}
	for gv, err := range failed {
		if anyInGroup(gv.Group) {
			return kinds, fmt.Errorf("the group %s %w: repair its server, or delete its APIService %s.%s: %w",
				gv, errUndiscovered, gv.Version, gv.Group, err)
		}
	}
	served := map[schema.GroupResource]bool{}
	deletable := discovery.SupportsAllVerbs{Verbs: []string{"list", "delete"}}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("finding the managed types: %w", err)
		}
		for _, r := range list.APIResources {
			served[gv.WithResource(r.Name).GroupResource()] = true
			if gvk := gv.WithKind(r.Kind); anyMatches(patterns, gvk) && deletable.Match(list.GroupVersion, &r) {
				add(gvk)
			}
		}
	}
	hidden, err := definition.Kinds(ctx, s.access.Live, func(r schema.GroupResource) bool {
		return !served[r] && anyInGroup(r.Group)
	})
	if err != nil {
		return nil, fmt.Errorf("finding the managed types: %w", err)
	}
	for _, gk := range hidden {
		if gvk := gk.WithVersion(""); anyMatches(patterns, gvk) {
			add(gvk)
		}
	}
	return kinds, nil
}

// findable returns an error if a pattern of types must be found in another
// cluster: only the groups of the manager's cluster can be discovered.
func (s *Set) findable(types []managedType) error {
	i := slices.IndexFunc(types, func(t managedType) bool { return !isExact(t) })
	if i < 0 || !s.remote() {
		return nil
	}
	return fmt.Errorf("%w: the managed type %s cannot be found in the cluster of the target client: "+
		"name each kind with its group, and leave out APIServices", dependents.ErrInvalid, nameOf(types[i]))
}
