package engine

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// ID returns how the index knows the object of a kind and a name.
func ID(gk schema.GroupKind, name types.NamespacedName) index.ID {
	return index.ID{Group: gk.Group, Kind: gk.Kind, Namespace: name.Namespace, Name: name.Name}
}

// KindOf returns the kind of an object or a set.
func KindOf(ref checks.Ref) schema.GroupKind {
	return schema.GroupKind{Group: ref.Group, Kind: ref.Kind}
}

// nameOf returns the name of an object that the index knows.
func nameOf(id index.ID) types.NamespacedName {
	return types.NamespacedName{Namespace: id.Namespace, Name: id.Name}
}

// namespaceOf returns the namespace of a set for a list; empty: all.
func namespaceOf(id index.ID) string {
	if id.Namespace == checks.AllNamespaces {
		return ""
	}
	return id.Namespace
}
