package component

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A managed type is a type whose instances are applied late and deleted early.
// Foreign instances block the deletion of the component. Its fields are patterns:
//
//	Group    an API group; * for all groups; *.suffix for all that end in .suffix
//	Version  a version of the group; empty: all. Only the types of an APIService have it.
//	Kind     a kind, or * for all kinds
type managedType = metav1.GroupVersionKind

// nameOf returns the pattern as in Kind.group.
func nameOf(t managedType) string {
	return schema.GroupKind{Group: t.Group, Kind: t.Kind}.String()
}

func problemOf(t managedType) string {
	suffix := strings.TrimPrefix(t.Group, "*.")
	switch {
	case t.Kind == "" || t.Kind != "*" && strings.Contains(t.Kind, "*"):
		return fmt.Sprintf("the kind of the managed type %q is neither a name nor *", nameOf(t))
	case t.Group != "*" && (strings.Contains(suffix, "*") || suffix == "" && t.Group != ""):
		return fmt.Sprintf("the group of the managed type %q is no name, * or *.suffix", nameOf(t))
	}
	return ""
}

// matches reports whether a kind is of the type. An empty version matches all.
func matches(t managedType, gvk schema.GroupVersionKind) bool {
	return inGroup(t, gvk.Group) && (t.Kind == "*" || t.Kind == gvk.Kind) &&
		(t.Version == "" || gvk.Version == "" || t.Version == gvk.Version)
}

// anyMatches reports whether a kind is of one of the types.
func anyMatches(types []managedType, gvk schema.GroupVersionKind) bool {
	return slices.ContainsFunc(types, func(t managedType) bool { return matches(t, gvk) })
}

func inGroup(t managedType, group string) bool {
	suffix, wild := strings.CutPrefix(t.Group, "*")
	return t.Group == "*" || group == t.Group || wild && strings.HasSuffix(group, suffix) && len(group) > len(suffix)
}

// isExact reports whether t names one kind.
func isExact(t managedType) bool { return t.Kind != "*" && !strings.HasPrefix(t.Group, "*") }

// The kinds of objects that define types.
var (
	kindDefinition = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
	kindAPIService = schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}
	kindNamespace  = schema.GroupKind{Kind: "Namespace"}
)

// defined returns the type that an object defines; nil: it defines none.
func defined(gk schema.GroupKind, content map[string]any) *managedType {
	get := func(fields ...string) string {
		text, _, _ := unstructured.NestedString(content, append([]string{"spec"}, fields...)...)
		return text
	}
	switch gk {
	case kindDefinition:
		return &managedType{Group: get("group"), Kind: get("names", "kind")}
	case kindAPIService:
		return &managedType{Group: get("group"), Version: get("version"), Kind: "*"}
	}
	return nil
}
