package component

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/dependents"
)

// check checks all objects of a set before any write, and sorts them. The
// error names all that are invalid, and wraps dependents.ErrInvalid.
func (s *Set) check(ctx context.Context, manifests []client.Object) (all []*object, _ error) {
	if len(manifests) > mostItems {
		return nil, fmt.Errorf("%w: the generator made %d objects: a component has at most %d",
			dependents.ErrInvalid, len(manifests), mostItems)
	}
	requests, err := s.system.dependents.Check(ctx, s.Component, manifests...)
	errs := []error{err}
	for i, r := range requests {
		if r == nil {
			continue
		}
		o, err := s.object(r)
		if err != nil {
			errs = append(errs, fmt.Errorf("object %d: %w", i+1, err))
			continue
		}
		o.number, all = i+1, append(all, o)
	}
	first := make(map[checks.Ref]int, len(all))
	unknown := map[schema.GroupVersionKind]error{} // each lookup of an unknown kind may be a request
	for _, o := range all {
		if o.stage != stageNamespaces && anyMatches(s.types, o.gvk) {
			o.stage = stageInstances
		}
		missing, asked := unknown[o.gvk]
		if !o.known && !asked {
			_, missing = s.access.Client.RESTMapper().RESTMapping(o.gvk.GroupKind(), o.gvk.Version)
			unknown[o.gvk] = missing
		}
		err := s.validate(o, missing)
		inNamespace := func(d *object) bool { return d.namespaced && d.has(o) }
		if !o.known && o.ref.Namespace == "" && slices.ContainsFunc(all, inNamespace) {
			o.ref.Namespace = s.Component.GetNamespace()
		}
		ref := o.ref
		if !o.known { // the scope may be unknown: with and without a namespace is the same object
			ref = o.placed(s.Component)
		}
		if n, twice := first[ref]; err == nil && twice {
			err = fmt.Errorf("%w: %s: it is given twice, as number %d and number %d", dependents.ErrInvalid, o.ref, n, o.number)
		}
		errs, first[ref] = append(errs, err), o.number
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b *object) int {
		return cmp.Or(cmp.Compare(a.applyOrder, b.applyOrder), cmp.Compare(a.stage, b.stage),
			cmp.Compare(a.priority, b.priority))
	})
	return all, outlives(all)
}

// object reads what the set needs of a manifest, and adds the type that it defines.
func (s *Set) object(r *dependents.Request) (*object, error) {
	if _, partial := r.Object.(*metav1.PartialObjectMetadata); partial {
		return nil, fmt.Errorf("%w: %s: it has only metadata: give the whole object", dependents.ErrInvalid, r.Ref())
	}
	gvk, _ := apiutil.GVKForObject(r.Object, s.system.clients.Client.Scheme()) // Check has found it
	o := &object{
		request: r, gvk: gvk, place: placeOf(gvk.GroupKind()), ref: r.Ref(), known: r.Digest() != "",
		deletePolicy: r.Object.GetAnnotations()[s.system.name+"/delete-policy"],
	}
	if gk := gvk.GroupKind(); defined(gk, nil) != nil {
		// Passes may share the content, so it is only read.
		content, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(r.Object) // Check has marshaled it
		if o.manages = defined(gk, content); o.manages.Group == "" || o.manages.Kind == "" {
			return nil, fmt.Errorf("%w: %s: it names no group or no kind", dependents.ErrInvalid, o.ref)
		}
		s.types = append(s.types, *o.manages)
		scope, _, _ := unstructured.NestedString(content, "spec", "scope")
		o.namespaced = gk == kindDefinition && scope == "Namespaced"
	}
	return o, nil
}

// validate checks an object, and sets its orders. missing is the error of the mapper if
// the kind is not known.
func (s *Set) validate(o *object, missing error) error {
	var problems []string
	note := func(problem string) {
		if problem != "" {
			problems = append(problems, problem)
		}
	}
	if !o.known {
		isDown := missing != nil && !meta.IsNoMatchError(missing)
		switch {
		case isDown && o.stage != stageInstances:
			return fmt.Errorf("%s: finding the kind: %w", o.ref, missing)
		case isDown:
			o.down = ": " + missing.Error()
		case o.stage != stageInstances:
			note(fmt.Sprintf("the API server does not serve the kind %s in the version %s: "+
				"install its definition, or add it to the set", o.gvk.GroupKind(), o.gvk.Version))
		}
	}
	note(s.system.outside(s.Component, o))
	if o.request.Policies.Update == dependents.UpdateRecreate && o.isOuter() {
		note(fmt.Sprintf("the update policy Recreate would delete all objects in it: "+
			"set %s/update-policy to another one", s.system.name))
	}
	annotations := o.request.Object.GetAnnotations()
	order := func(key string, order *int16) {
		key = s.system.name + "/" + key
		text, found := annotations[key]
		n, err := strconv.ParseInt(text, 10, 16)
		if found && err != nil {
			note(fmt.Sprintf("%s is %q: it must be a whole number from -32768 to 32767", key, text))
		}
		*order = int16(n)
	}
	order("apply-order", &o.applyOrder)
	order("delete-order", &o.deleteOrder)
	if annotations[s.system.name+"/purge-order"] != "" {
		o.purgeOrder = new(int16)
		if order("purge-order", o.purgeOrder); o.isOuter() {
			note(fmt.Sprintf("%s/purge-order is set: a namespace and a definition of a type stay "+
				"as long as the component", s.system.name))
		}
	}
	if len(problems) > 0 {
		slices.Sort(problems)
		return fmt.Errorf("%w: %s: %s", dependents.ErrInvalid, o.ref, strings.Join(problems, "; "))
	}
	return nil
}

// placed returns the ref of the object, in the namespace of the component if it
// names none.
func (o *object) placed(c Component) checks.Ref {
	ref := o.ref
	ref.Namespace = cmp.Or(ref.Namespace, c.GetNamespace())
	return ref
}

// outlives returns an error for each object that would be applied before its
// type or namespace, deleted after it, or kept without it.
func outlives(all []*object) error {
	var errs []error
	for _, outer := range all {
		if !outer.isOuter() {
			continue // as most objects
		}
		for _, inner := range all {
			problem := ""
			switch {
			case !outer.has(inner):
			case inner.applyOrder < outer.applyOrder:
				problem = fmt.Sprintf("its apply-order %d is lower than %d of %s", inner.applyOrder, outer.applyOrder, outer.ref)
			case inner.deleteOrder > outer.deleteOrder:
				problem = fmt.Sprintf("its delete-order %d is higher than %d of %s",
					inner.deleteOrder, outer.deleteOrder, outer.ref)
			case keeps(inner.request.Policies.Delete, true) && !keeps(outer.request.Policies.Delete, true),
				keeps(inner.request.Policies.Delete, false) && !keeps(outer.request.Policies.Delete, false):
				problem = fmt.Sprintf("its delete policy %s keeps it, and %s is deleted with all that is in it",
					inner.request.Policies.Delete, outer.ref)
			}
			if problem != "" {
				errs = append(errs, fmt.Errorf("%w: %s: %s", dependents.ErrInvalid, inner.ref, problem))
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

// deleted reports whether the pass deletes the component.
func (s *Set) deleted() bool { return !s.Component.GetDeletionTimestamp().IsZero() }

// keeps reports whether its policy keeps an item in this pass.
func (s *Set) keeps(i *Item) bool { return keeps(s.policyOf(i), s.deleted()) }

// policyOf returns the delete policy of an item: its own one, or else that of the
// component now.
func (s *Set) policyOf(i *Item) dependents.DeletePolicy {
	if i.DeletePolicy == inherited {
		return s.policy
	}
	return i.DeletePolicy
}

// outside returns the problem of an object at a place that the options do not
// allow; empty: there is none.
func (o *options) outside(c Component, obj *object) string {
	switch ns := obj.ref.Namespace; {
	case !o.ownOnly || slices.Contains(o.clusterOK, obj.gvk.GroupKind()):
	case ns == "" && obj.known:
		return fmt.Sprintf("its kind %s has no namespaces, and WithOwnNamespaceOnly does not name it", obj.gvk.GroupKind())
	case ns != "" && ns != c.GetNamespace():
		return fmt.Sprintf("it is outside of the namespace %q of the component (WithOwnNamespaceOnly)", c.GetNamespace())
	}
	return ""
}
