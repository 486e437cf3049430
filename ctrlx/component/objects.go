package component

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
)

// Object is an object that the generator made.
type Object struct {
	// Manifest is the object as the generator made it, but without null labels and
	// annotations. Links do not change it.
	Manifest client.Object
	// Ref names the object, with its namespace.
	Ref checks.Ref
	// Policies are the policies of the object. No field is empty.
	Policies dependents.Policies

	applyOrder, deleteOrder int16     // the waves of the object
	purgeOrder              *int16    // the wave after which it is deleted; nil: it stays
	manages                 *TypeInfo // the type that it defines; nil: it defines none

	gvk     schema.GroupVersionKind
	request *dependents.Request
	known   bool // the API server serves the kind; otherwise the namespace may be missing
	place
	// namespaced reports that the object defines a type whose objects have
	// namespaces.
	namespaced   bool
	deletePolicy string // as the manifest itself has it; empty: it has none
}

// objects checks all objects of a set before any write, and sorts them. The
// error names all that are invalid, and wraps dependents.ErrInvalid.
func (y *system) objects(ctx context.Context, s *Set, manifests []client.Object) ([]*Object, error) {
	if len(manifests) > mostItems {
		return nil, fmt.Errorf("%w: the generator made %d objects: a component has at most %d",
			dependents.ErrInvalid, len(manifests), mostItems)
	}
	var all []*Object
	var errs []error
	for i, manifest := range manifests {
		if o, err := y.object(manifest); err == nil {
			all = append(all, o)
		} else {
			errs = append(errs, fmt.Errorf("object %d: %w", i+1, err))
		}
	}
	types := (&Set{Objects: all, config: s.config}).managed()
	first := make(map[checks.Ref]int, len(all))
	for i, o := range all {
		if o.stage != stageNamespaces && slices.ContainsFunc(types, func(t TypeInfo) bool { return t.matches(o.gvk) }) {
			o.stage = stageInstances
		}
		err := y.validate(ctx, s, o)
		inNamespace := func(d *Object) bool { return d.namespaced && d.manages.matches(o.gvk) }
		if !o.known && o.Ref.Namespace == "" && slices.ContainsFunc(all, inNamespace) {
			o.Ref.Namespace = s.Component.GetNamespace()
		}
		ref := o.Ref
		if !o.known { // the scope may be unknown: with and without a namespace is the same object
			ref = o.placed(s.Component)
		}
		if n, twice := first[ref]; err == nil && twice {
			err = fmt.Errorf("%w: %s: it is given twice, as number %d and number %d", dependents.ErrInvalid, o.Ref, n, i+1)
		}
		errs, first[ref] = append(errs, err), i+1
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b *Object) int {
		return cmp.Or(cmp.Compare(a.applyOrder, b.applyOrder), cmp.Compare(a.stage, b.stage),
			cmp.Compare(a.priority, b.priority))
	})
	return all, outlives(all)
}

// object reads what the set needs of a manifest.
func (y *system) object(manifest client.Object) (*Object, error) {
	if setup.IsNil(manifest) {
		return nil, fmt.Errorf("%w: it is nil: leave it out", dependents.ErrInvalid)
	}
	if _, partial := manifest.(*metav1.PartialObjectMetadata); partial {
		return nil, fmt.Errorf("%w: %s: it has only metadata: give the whole object",
			dependents.ErrInvalid, manifest.GetName())
	}
	gvk, err := apiutil.GVKForObject(manifest, y.cluster.GetClient().Scheme())
	if err != nil {
		return nil, fmt.Errorf("%w: %T %s: %w", dependents.ErrInvalid, manifest, manifest.GetName(), err)
	}
	o := &Object{
		Manifest: manifest, gvk: gvk, place: placeOf(gvk.GroupKind()),
		Ref: checks.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: manifest.GetNamespace(), Name: manifest.GetName()},
	}
	switch gk := gvk.GroupKind(); gk {
	case kindAPIService, kindDefinition:
		// Passes may share the content, so it is only read.
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(manifest)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", dependents.ErrInvalid, o.Ref, err)
		}
		t := defined(gk, content)
		if t.Group == "" || t.Kind == "" {
			return nil, fmt.Errorf("%w: %s: it names no group or no kind", dependents.ErrInvalid, o.Ref)
		}
		o.manages = t
		scope, _, _ := unstructured.NestedString(content, "spec", "scope")
		o.namespaced = gk == kindDefinition && scope == "Namespaced"
	}
	return o, nil
}

// validate checks an object, and sets its namespace, policies and orders.
func (y *system) validate(ctx context.Context, s *Set, o *Object) error {
	r, err := y.dependents.Check(ctx, s.owner, o.Manifest)
	if err != nil {
		return err
	}
	o.request, o.Manifest = r, r.Object // without nulls, which would hide the orders
	o.Ref, o.Policies, o.known = r.Ref(), r.Policies, r.IsServed()
	o.deletePolicy = o.Manifest.GetAnnotations()[y.name+"/delete-policy"]
	var problems []string
	switch {
	case o.known:
	case o.stage != stageInstances:
		problems = append(problems, fmt.Sprintf("the API server does not serve the kind %s in the version %s: "+
			"install its definition, or add it to the set", o.gvk.GroupKind(), o.gvk.Version))
	}
	if problem := y.outside(s.Component, o); problem != "" {
		problems = append(problems, problem)
	}
	if o.Policies.Update == dependents.UpdateRecreate && (o.manages != nil || o.stage == stageNamespaces) {
		problems = append(problems, fmt.Sprintf("the update policy Recreate would delete all objects in it: "+
			"set %s/update-policy to another one", y.name))
	}
	problems = y.order(problems, o.Manifest, annotationApplyOrder, &o.applyOrder)
	problems = y.order(problems, o.Manifest, annotationDeleteOrder, &o.deleteOrder)
	if o.Manifest.GetAnnotations()[y.name+"/"+annotationPurgeOrder] != "" {
		o.purgeOrder = new(int16)
		problems = y.order(problems, o.Manifest, annotationPurgeOrder, o.purgeOrder)
		if o.manages != nil || o.stage == stageNamespaces {
			problems = append(problems, fmt.Sprintf("%s/%s is set: a namespace and a definition of a type stay "+
				"as long as the component", y.name, annotationPurgeOrder))
		}
	}
	if len(problems) > 0 {
		slices.Sort(problems)
		return fmt.Errorf("%w: %s: %s", dependents.ErrInvalid, o.Ref, strings.Join(problems, "; "))
	}
	return nil
}

// placed returns the ref of the object, in the namespace of the component if it
// names none.
func (o *Object) placed(c Component) checks.Ref {
	ref := o.Ref
	ref.Namespace = cmp.Or(ref.Namespace, c.GetNamespace())
	return ref
}

// digest returns the digest of the manifest; empty: the kind is not served.
func (o *Object) digest() string { return o.request.Digest() }

// stage is the part of a wave to which an object belongs. Each stage waits
// until the one before is ready.
type stage int

const (
	stageNamespaces stage = iota
	stageNeeded           // objects without which the API server refuses others, even by dry-run
	stageObjects
	stageServices  // API services and webhooks, whose servers are objects
	stageInstances // instances of managed types
)

type place struct {
	stage    stage
	priority int
}

// places has the kinds whose objects are not applied with most others. The
// priority orders the objects of a stage, so that an object comes after the
// objects that it usually needs.
var places = map[schema.GroupKind]place{
	kindNamespace: {stageNamespaces, lastPriority},

	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:   {stageServices, lastPriority},
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}: {stageServices, lastPriority},

	kindDefinition: {stageObjects, 1},
	{Group: "storage.k8s.io", Kind: "StorageClass"}:     {stageObjects, 1},
	{Group: "networking.k8s.io", Kind: "IngressClass"}:  {stageObjects, 1},
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}: {stageNeeded, 1},
	{Group: "node.k8s.io", Kind: "RuntimeClass"}:        {stageNeeded, 1},

	{Kind: "ServiceAccount"}:                                  {stageNeeded, 2},
	{Group: "rbac.authorization.k8s.io", Kind: "Role"}:        {stageNeeded, 2},
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}: {stageNeeded, 2},

	{Kind: "ConfigMap"}: {stageObjects, 3},
	{Kind: "Secret"}:    {stageObjects, 3},
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:        {stageObjects, 3},
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}: {stageObjects, 3},

	kindAPIService: {stageServices, lastPriority},
}

// placeOf returns the place of a kind in its wave.
func placeOf(gk schema.GroupKind) place {
	if p, found := places[gk]; found {
		return p
	}
	return place{stageObjects, lastPriority}
}

func (i *Item) priority() int { return placeOf(i.groupKind()).priority }

// lastPriority is the priority of all other kinds.
const lastPriority = 4

// The annotations of an object that set its waves, after the name of the
// reconciler and a slash.
const (
	annotationApplyOrder  = "apply-order"
	annotationPurgeOrder  = "purge-order"
	annotationDeleteOrder = "delete-order"
)

// order reads an annotation with an order.
func (y *system) order(problems []string, obj metav1.Object, key string, order *int16) []string {
	key = y.name + "/" + key
	text, found := obj.GetAnnotations()[key]
	if !found {
		return problems
	}
	n, err := strconv.ParseInt(text, 10, 16)
	if err != nil {
		return append(problems, fmt.Sprintf("%s is %q: it must be a whole number from -32768 to 32767", key, text))
	}
	*order = int16(n)
	return problems
}

// outlives returns an error for each object that would be applied before its
// type or namespace, deleted after it, or kept without it.
func outlives(all []*Object) error {
	var errs []error
	for _, outer := range all {
		if outer.manages == nil && outer.stage != stageNamespaces {
			continue
		}
		for _, inner := range all {
			problem := ""
			switch {
			case outer.manages == nil && inner.Ref.Namespace != outer.Ref.Name,
				outer.manages != nil && !outer.manages.matches(inner.gvk):
			case inner.applyOrder < outer.applyOrder:
				problem = fmt.Sprintf("its apply-order %d is lower than %d of %s", inner.applyOrder, outer.applyOrder, outer.Ref)
			case inner.deleteOrder > outer.deleteOrder:
				problem = fmt.Sprintf("its delete-order %d is higher than %d of %s",
					inner.deleteOrder, outer.deleteOrder, outer.Ref)
			case keeps(inner.Policies.Delete, true) && !keeps(outer.Policies.Delete, true),
				keeps(inner.Policies.Delete, false) && !keeps(outer.Policies.Delete, false):
				problem = fmt.Sprintf("its delete policy %s keeps it, and %s is deleted with all that is in it",
					inner.Policies.Delete, outer.Ref)
			}
			if problem != "" {
				errs = append(errs, fmt.Errorf("%w: %s: %s", dependents.ErrInvalid, inner.Ref, problem))
			}
		}
	}
	return errors.Join(errs...)
}

// keeps reports whether a policy keeps an object when the component is deleted,
// or else when the object becomes redundant.
func keeps(p dependents.DeletePolicy, deleted bool) bool {
	return p == dependents.DeleteOrphan || deleted && p == dependents.DeleteOrphanOnDelete ||
		!deleted && p == dependents.DeleteOrphanOnApply
}
