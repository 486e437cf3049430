package component

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component/dependents"
)

// Object is an object that the generator made.
type Object struct {
	// Manifest is the object as the generator made it. Links do not change it.
	Manifest client.Object
	// Ref names the object, with its namespace.
	Ref checks.Ref
	// Policies are the policies of the object. No field is empty.
	Policies dependents.Policies
	// ApplyOrder and DeleteOrder are the waves of the object.
	ApplyOrder, DeleteOrder int16
	// PurgeOrder is the wave after which the object is deleted; nil: it stays.
	PurgeOrder *int16
	// Manages is the type that the object defines; nil: it defines none.
	Manages *TypeInfo

	gvk   schema.GroupVersionKind
	known bool // the API server serves the kind; otherwise the namespace may be missing
	stage stage
	// namespaced reports that the object defines a type whose objects have namespaces.
	namespaced bool
	digest     string // of the manifest; only with a PurgeOrder
}

// stage is the part of a wave to which an object belongs. Each stage waits until
// the one before is ready.
type stage int

const (
	stageNamespaces stage = iota
	stageNeeded           // objects without which the API server refuses others, also by dry-run
	stageObjects
	stageServices  // API services, whose servers are objects
	stageInstances // instances of managed types
)

// mostObjects is the largest number of objects of a set.
const mostObjects = 10_000

// The annotations of an object that set its waves, after the name of the
// reconciler and a slash.
const (
	annotationApplyOrder  = "apply-order"
	annotationPurgeOrder  = "purge-order"
	annotationDeleteOrder = "delete-order"
)

// objects checks all objects of a set before any write, and sorts them. The error
// names all that are invalid, and wraps dependents.ErrInvalid.
func (y *system) objects(ctx context.Context, s *Set, manifests []client.Object) ([]*Object, error) {
	if len(manifests) > mostObjects {
		return nil, fmt.Errorf("%w: the generator made %d objects: a component has at most %d",
			dependents.ErrInvalid, len(manifests), mostObjects)
	}
	var all []*Object
	var errs []error
	for i, manifest := range manifests {
		o, err := y.object(manifest)
		if err != nil {
			errs = append(errs, fmt.Errorf("object %d: %w", i+1, err))
			continue
		}
		all = append(all, o)
	}
	types := slices.Clone(s.config.types)
	for _, o := range all {
		if o.Manages != nil {
			types = append(types, *o.Manages)
		}
	}
	first := map[checks.Ref]int{}
	for i, o := range all {
		if slices.ContainsFunc(types, func(t TypeInfo) bool { return t.matches(o.gvk) }) {
			o.stage = stageInstances
		}
		err := y.validate(ctx, s, o)
		inNamespace := func(d *Object) bool { return d.namespaced && d.Manages.matches(o.gvk) }
		if !o.known && o.Ref.Namespace == "" && slices.ContainsFunc(all, inNamespace) {
			o.Ref.Namespace = s.Component.GetNamespace()
		}
		ref := o.Ref
		if !o.known { // the scope may be unknown: with and without a namespace is the same object
			ref.Namespace = cmp.Or(ref.Namespace, s.Component.GetNamespace())
		}
		if n, twice := first[ref]; err == nil && twice {
			err = fmt.Errorf("%w: %s: it is given twice, as number %d and number %d", dependents.ErrInvalid, o.Ref, n, i+1)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		first[ref] = i + 1
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b *Object) int {
		if a.ApplyOrder != b.ApplyOrder {
			return int(a.ApplyOrder) - int(b.ApplyOrder)
		}
		if a.stage != b.stage {
			return int(a.stage - b.stage)
		}
		return a.priority() - b.priority()
	})
	return all, outlives(all)
}

// object reads what the set needs of a manifest.
func (y *system) object(manifest client.Object) (*Object, error) {
	if isNil(manifest) {
		return nil, fmt.Errorf("%w: it is nil: leave it out", dependents.ErrInvalid)
	}
	if isPartial(manifest) {
		return nil, fmt.Errorf("%w: %s: it has only metadata: give the whole object", dependents.ErrInvalid, manifest.GetName())
	}
	gvk, err := apiutil.GVKForObject(manifest, y.cluster.GetClient().Scheme())
	if err != nil {
		return nil, fmt.Errorf("%w: %T %s: %w", dependents.ErrInvalid, manifest, manifest.GetName(), err)
	}
	o := &Object{
		Manifest: manifest, gvk: gvk, stage: stageObjects,
		Ref: checks.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: manifest.GetNamespace(), Name: manifest.GetName()},
	}
	switch gk := gvk.GroupKind(); gk {
	case kindNamespace:
		o.stage = stageNamespaces
	case schema.GroupKind{Kind: "ServiceAccount"},
		schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "Role"}, schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"},
		schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}, schema.GroupKind{Group: "node.k8s.io", Kind: "RuntimeClass"}:
		o.stage = stageNeeded
	case kindAPIService, kindDefinition:
		u, ok := manifest.(*unstructured.Unstructured) // has its kind, and passes may share it
		if !ok {
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(manifest)
			if err != nil {
				return nil, fmt.Errorf("%w: %s: %w", dependents.ErrInvalid, o.Ref, err)
			}
			u = &unstructured.Unstructured{Object: content}
			u.SetGroupVersionKind(gvk)
		}
		t := defined(u)
		if t.Group == "" || t.Kind == "" {
			return nil, fmt.Errorf("%w: %s: it names no group or no kind", dependents.ErrInvalid, o.Ref)
		}
		o.Manages = t
		scope, _, _ := unstructured.NestedString(u.Object, "spec", "scope")
		o.namespaced = gk == kindDefinition && scope == "Namespaced"
		if gk == kindAPIService {
			o.stage = stageServices
		}
	}
	return o, nil
}

// validate checks an object, and sets its namespace, policies and orders.
func (y *system) validate(ctx context.Context, s *Set, o *Object) (err error) {
	if o.known, err = y.served(o.gvk); err != nil {
		return fmt.Errorf("%s: finding the kind: %w", o.Ref, err)
	}
	// A deletion accepts a kind that is not installed yet.
	ctx, c := s.in(ctx, validating)
	if _, err := y.dependents.PruneObject(ctx, s.Component, o.Manifest); err != nil {
		return err
	}
	if c.request == nil {
		return fmt.Errorf("%s: the link Component did not see it: add it to both chains again", o.Ref)
	}
	o.Ref, o.Policies = c.request.Ref(), c.request.Policies
	var problems []string
	if !o.known && o.stage != stageInstances {
		problems = append(problems, fmt.Sprintf("the API server does not serve the kind %s in the version %s: "+
			"install its definition, or add it to the set", o.gvk.GroupKind(), o.gvk.Version))
	}
	if problem := y.outside(s.Component, o); problem != "" {
		problems = append(problems, problem)
	}
	for key, order := range map[string]*int16{annotationApplyOrder: &o.ApplyOrder, annotationDeleteOrder: &o.DeleteOrder} {
		problems = y.order(problems, o.Manifest, key, order)
	}
	if o.Manifest.GetAnnotations()[y.name+"/"+annotationPurgeOrder] != "" {
		o.PurgeOrder = new(int16)
		problems = y.order(problems, o.Manifest, annotationPurgeOrder, o.PurgeOrder)
		if o.Manages != nil || o.stage == stageNamespaces {
			problems = append(problems, fmt.Sprintf("%s/%s is set: a namespace and a definition of a type stay "+
				"as long as the component", y.name, annotationPurgeOrder))
		}
		text, err := json.Marshal(o.Manifest)
		if err != nil {
			problems = append(problems, err.Error())
		}
		sum := sha256.Sum256(text)
		o.digest = hex.EncodeToString(sum[:16])
	}
	if len(problems) > 0 {
		slices.Sort(problems)
		return fmt.Errorf("%w: %s: %s", dependents.ErrInvalid, o.Ref, strings.Join(problems, "; "))
	}
	return nil
}

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

// served reports whether the API server serves a kind.
func (y *system) served(gvk schema.GroupVersionKind) (bool, error) {
	if _, known := y.kinds.Load(gvk); known {
		return true, nil
	}
	_, err := y.cluster.GetClient().RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
	switch {
	case err == nil:
		y.kinds.Store(gvk, true)
		y.missing.Delete(gvk)
		return true, nil
	case meta.IsNoMatchError(err):
		return false, nil
	}
	return false, err
}

// installDelay returns the time after which a pass looks for a kind again that is
// being installed. A kind that stays missing is looked for less and less often, down
// to once a minute, because each look costs requests.
func (y *system) installDelay(gvk schema.GroupVersionKind) time.Duration {
	const least, most = 2 * time.Second, time.Minute
	since, _ := y.missing.LoadOrStore(gvk, time.Now()) // since a wave needs it
	return min(max(time.Since(since.(time.Time)), least), most)
}

// outlives returns an error for each object that would be applied before its type
// or namespace, deleted after it, or kept without it.
func outlives(all []*Object) error {
	var errs []error
	for _, outer := range all {
		if outer.Manages == nil && outer.stage != stageNamespaces {
			continue
		}
		for _, inner := range all {
			inside := outer.stage == stageNamespaces && inner.Ref.Namespace == outer.Ref.Name
			if outer.Manages != nil {
				inside = outer.Manages.matches(inner.gvk)
			}
			problem := ""
			switch {
			case !inside:
			case inner.ApplyOrder < outer.ApplyOrder:
				problem = fmt.Sprintf("its apply-order %d is lower than %d of %s", inner.ApplyOrder, outer.ApplyOrder, outer.Ref)
			case inner.DeleteOrder > outer.DeleteOrder:
				problem = fmt.Sprintf("its delete-order %d is higher than %d of %s", inner.DeleteOrder, outer.DeleteOrder, outer.Ref)
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

// priority orders the kinds of a stage, so that an object comes after the objects
// that it usually needs.
func (o *Object) priority() int {
	switch o.gvk.Group + "/" + o.gvk.Kind {
	case "admissionregistration.k8s.io/MutatingWebhookConfiguration",
		"admissionregistration.k8s.io/ValidatingWebhookConfiguration":
		return 0
	case "apiextensions.k8s.io/CustomResourceDefinition", "storage.k8s.io/StorageClass", "scheduling.k8s.io/PriorityClass",
		"networking.k8s.io/IngressClass", "node.k8s.io/RuntimeClass":
		return 1
	case "/ServiceAccount", "rbac.authorization.k8s.io/Role", "rbac.authorization.k8s.io/ClusterRole":
		return 2
	case "/ConfigMap", "/Secret", "rbac.authorization.k8s.io/RoleBinding", "rbac.authorization.k8s.io/ClusterRoleBinding":
		return 3
	}
	return 4
}

// item returns the item of the inventory for an object.
func (o *Object) item() Item {
	i := Item{
		Group: o.Ref.Group, Kind: o.Ref.Kind, Namespace: o.Ref.Namespace, Name: o.Ref.Name,
		DeleteOrder: o.DeleteOrder, DeletePolicy: o.Policies.Delete, Manages: o.Manages,
	}
	if i.DeletePolicy == dependents.DeleteDelete {
		i.DeletePolicy = ""
	}
	return i
}
