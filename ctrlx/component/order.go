package component

import (
	"errors"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-go/windlass/ctrlx/dependents"
)

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
