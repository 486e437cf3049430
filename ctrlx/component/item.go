package component

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/dependents"
)

// Item is one dependent of an inventory.
type Item struct {
	// Ref names the object. Only its first four fields are set.
	checks.Ref `json:",inline"`
	// DeleteOrder is the wave in which the object is deleted.
	DeleteOrder int16 `json:"deleteOrder,omitempty"`
	// DeletePolicy is the last policy of the object; default: that of the component
	// when the object is deleted. An inventory with an empty policy is an error,
	// because the definition of the component has lost it.
	DeletePolicy dependents.DeletePolicy `json:"deletePolicy"`
	// Manages is the type that the object defines; nil: it defines none.
	Manages *metav1.GroupVersionKind `json:"manages,omitempty"`
	// Rebuilt reports that only the label of the object names the component, and
	// that the component has not written it since: the inventory was lost, or an
	// earlier set left the object. Such an object is never deleted.
	Rebuilt bool `json:"rebuilt,omitempty"`
	// Adopted reports that this Namespace existed before the component had it in
	// its set, so that it has objects of others. Its policy is then Orphan, unless
	// the annotation of its manifest says Delete.
	Adopted bool `json:"adopted,omitempty"`
	// Purge is the digest of a manifest that was applied and ready, and is purged.
	Purge string `json:"purge,omitempty"`
	// Purged reports that the object of this digest is gone.
	Purged bool `json:"purged,omitempty"`
}

// inherited is the delete policy of an item that its own manifest does not set.
const inherited dependents.DeletePolicy = "default"

// equal reports whether two items have the same fields.
func (i Item) equal(other Item) bool {
	same := i.Manages == other.Manages || i.Manages != nil && other.Manages != nil && *i.Manages == *other.Manages
	i.Manages = other.Manages
	return same && i == other
}

func (i *Item) groupKind() schema.GroupKind { return schema.GroupKind{Group: i.Group, Kind: i.Kind} }

// Status is the part of a component's status that the reconciler writes. Embed
// it in the status of your type, with the tag json:",inline".
type Status struct {
	// ObservedGeneration is the generation of the last pass.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions holds the conditions of package ctrlx.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Inventory lists the dependents that the component may have, in the order in
	// which it got them; nil: none was ever applied. It is stored before the first
	// write of a dependent that it lacks. So a deletion needs no generator, and a
	// dependent that the generator no longer makes is found.
	// +listType=atomic
	// +optional
	Inventory []Item `json:"inventory,omitzero"`
}

// DeepCopyInto copies s into out, as the methods of generated types do.
func (s *Status) DeepCopyInto(out *Status) {
	*out = *s
	out.Conditions = slices.Clone(s.Conditions)
	out.Inventory = slices.Clone(s.Inventory)
	for i := range out.Inventory { // an answer of the API server is decoded into the values of a copy
		if m := out.Inventory[i].Manages; m != nil {
			out.Inventory[i].Manages = new(*m)
		}
	}
}

// isOuter reports whether a deletion of i may delete other objects, too.
func (i *Item) isOuter() bool { return i.Manages != nil || i.groupKind() == kindNamespace }

// has reports whether a deletion of i deletes an object, too: i is its
// namespace, or defines its type.
func (i *Item) has(inner *Item) bool {
	return i.groupKind() == kindNamespace && inner.Namespace == i.Name ||
		i.Manages != nil && matches(*i.Manages, inner.groupKind().WithVersion(""))
}

// The largest inventory in the status of a component. An object of the API
// server may have 1.5 MB.
const (
	mostItems = 1000
	mostBytes = 200_000
)
