package component

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/definition"
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
	for _, list := range lists {
		gv, _ := schema.ParseGroupVersion(list.GroupVersion)
		for _, r := range list.APIResources {
			served[gv.WithResource(r.Name).GroupResource()] = true
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
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "delete"}}, lists) {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("finding the managed types: %w", err)
		}
		for _, r := range list.APIResources {
			if gvk := gv.WithKind(r.Kind); anyMatches(patterns, gvk) {
				add(gvk)
			}
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

// managed returns the types of the settings and of objects.
func (s *Set) managed(objects []*object) []managedType {
	types := slices.Clone(s.config.types)
	for _, o := range objects {
		if o.manages != nil {
			types = append(types, *o.manages)
		}
	}
	return types
}
