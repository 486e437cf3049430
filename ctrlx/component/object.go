package component

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/dependents"
)

// object is an object that the generator made.
type object struct {
	request *dependents.Request
	number  int // in the order of the generator, from 1
	ref     checks.Ref
	known   bool // the API server serves the kind; otherwise the namespace may be missing
	gvk     schema.GroupVersionKind
	down    string // for a message: the error of the API server of an unknown kind; empty: it answers

	applyOrder, deleteOrder int16        // the waves of the object
	purgeOrder              *int16       // the wave after which it is deleted; nil: it stays
	manages                 *managedType // the type that it defines; nil: it defines none

	place
	// namespaced reports that the object defines a type whose objects have
	// namespaces.
	namespaced   bool
	deletePolicy string // as the manifest itself has it; empty: it has none
}

// isOuter reports whether a deletion of the object may delete other objects, too.
func (o *object) isOuter() bool { return o.manages != nil || o.stage == stageNamespaces }

// has reports whether the object is the namespace of another one, or defines its type.
func (o *object) has(inner *object) bool {
	return o.stage == stageNamespaces && inner.ref.Namespace == o.ref.Name || o.manages != nil && matches(*o.manages, inner.gvk)
}

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

// lastPriority is the priority of all other kinds.
const lastPriority = 4
