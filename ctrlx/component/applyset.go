package component

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/component/dependents"
)

// The label and the annotations of the parent of an ApplySet (KEP-3659).
const (
	labelApplySet        = "applyset.kubernetes.io/id"
	annotationTooling    = "applyset.kubernetes.io/tooling"
	annotationKinds      = "applyset.kubernetes.io/contains-group-kinds"
	annotationNamespaces = "applyset.kubernetes.io/additional-namespaces"
)

// toolingVersion is the version in the annotation tooling. It is that of the
// form of the ApplySet, so that a new release of the operator writes no
// component.
const toolingVersion = "v1"

// WithApplySet makes each component the parent of an ApplySet (KEP-3659), so
// that other tools find its dependents, and a lost inventory is rebuilt in all
// their kinds. See the section ApplySet of the package.
func WithApplySet() Option {
	return func(o *options) {
		o.applySet = true
		o.single = append(o.single, dependents.WithApplySet())
	}
}

// saveApplySet writes the label and the annotations of an ApplySet to the
// component, if they change. They name the kinds and the namespaces of the
// inventory, which has an object before its first write, and until it is gone.
// Without [WithApplySet] it removes what an earlier process wrote. A component
// in deletion gets no new objects, and its annotations stay.
func (s *Set) saveApplySet(ctx context.Context) error {
	c, on, name := s.Component, s.system.applySet, s.system.name
	id, err := s.applySetID()
	if id == "" || err != nil {
		return err
	}
	labels, annotations := map[string]string{}, map[string]string{}
	maps.Copy(labels, c.GetLabels())
	maps.Copy(annotations, c.GetAnnotations())
	delete(labels, labelApplySet)
	maps.DeleteFunc(annotations, func(key, _ string) bool { return strings.HasPrefix(key, "applyset.kubernetes.io/") })
	if on {
		kinds, namespaces := s.Inventory.places(c.GetNamespace())
		labels[labelApplySet] = id
		annotations[annotationTooling], annotations[annotationKinds] = name+"/"+toolingVersion, strings.Join(kinds, ",")
		if len(namespaces) > 0 { // the empty value is reserved
			annotations[annotationNamespaces] = strings.Join(namespaces, ",")
		}
	}
	if maps.Equal(labels, c.GetLabels()) && maps.Equal(annotations, c.GetAnnotations()) {
		return nil
	}
	now := c.DeepCopyObject().(Component)
	now.SetLabels(labels)
	now.SetAnnotations(annotations)
	patch := client.MergeFromWithOptions(c, client.MergeFromWithOptimisticLock{})
	if err := s.system.cluster.GetClient().Patch(ctx, now, patch, client.FieldOwner(name)); err != nil {
		return err
	}
	c.SetLabels(now.GetLabels())
	c.SetAnnotations(now.GetAnnotations())
	c.SetResourceVersion(now.GetResourceVersion())
	return nil
}

// applySetID returns the ID of the ApplySet whose parent is the component; empty:
// its label and annotations stay as they are. The error says that the component
// is the parent of another one.
func (s *Set) applySetID() (string, error) {
	c, on := s.Component, s.system.applySet
	tool := c.GetAnnotations()[annotationTooling]
	switch ours := strings.HasPrefix(tool, s.system.name+"/"); {
	case c.GetDeletionTimestamp() != nil, !on && !ours:
		return "", nil
	case tool != "" && !ours:
		return "", applySetError("the annotation %s is %.100q, so another tool manages the ApplySet of the component: "+
			"remove the annotation, or the option WithApplySet", annotationTooling, tool)
	}
	id := dependents.ApplySetID(s.owner.Ref)
	if is := c.GetLabels()[labelApplySet]; on && is != "" && is != id {
		return "", applySetError("the label %s is %q, and the ID of this component is %q: remove the label, "+
			"for example from the copy of another component", labelApplySet, is, id)
	}
	return id, nil
}

func applySetError(format string, args ...any) error {
	return invalid(fmt.Errorf("%w: "+format, append([]any{dependents.ErrInvalid}, args...)...))
}

// places returns the kinds and the namespaces of an inventory, both sorted. The
// namespace of the component is left out.
func (v *Inventory) places(own string) (kinds, namespaces []string) {
	gks, others := sets.New[schema.GroupKind](), sets.New[string]()
	for i := range v.Items {
		if item := &v.Items[i]; !item.Purged {
			gks.Insert(item.groupKind())
			others.Insert(item.Namespace)
		}
	}
	for gk := range gks {
		kinds = append(kinds, gk.String())
	}
	slices.Sort(kinds)
	return kinds, sets.List(others.Delete(own, ""))
}

// The largest numbers of kinds and namespaces in the annotations of an
// ApplySet, and of the lists in single namespaces that a rebuild makes. A user
// who may edit a component may edit its annotations.
const (
	mostHintedKinds      = mostItems
	mostHintedNamespaces = mostObjects
	mostSearches         = 10_000
)

// hints returns the kinds and the namespaces that the annotations of a
// component name. Any invalid value is an error: the objects that it stood for
// are unknown.
func hints(c Component) (kinds []TypeInfo, namespaces []string, err error) {
	var problems []string
	list := func(key string) []string {
		return strings.FieldsFunc(c.GetAnnotations()[key], func(r rune) bool { return r == ',' })
	}
	for _, text := range list(annotationKinds) {
		gk := schema.ParseGroupKind(text)
		if len(validation.IsDNS1035Label(strings.ToLower(gk.Kind))) > 0 ||
			gk.Group != "" && len(validation.IsDNS1123Subdomain(gk.Group)) > 0 {
			problems = append(problems, fmt.Sprintf("%s has %.100q, which is not of the form Kind.group", annotationKinds, text))
		}
		kinds = append(kinds, TypeInfo{Group: gk.Group, Kind: gk.Kind})
	}
	namespaces = list(annotationNamespaces)
	for _, text := range namespaces {
		if len(validation.IsDNS1123Label(text)) > 0 {
			problems = append(problems, fmt.Sprintf("%s has %.100q, which is no namespace", annotationNamespaces, text))
		}
	}
	if len(kinds) > mostHintedKinds || len(namespaces) > mostHintedNamespaces {
		problems = []string{fmt.Sprintf("%s and %s have %d kinds and %d namespaces, and %d and %d are allowed",
			annotationKinds, annotationNamespaces, len(kinds), len(namespaces), mostHintedKinds, mostHintedNamespaces)}
	}
	if len(problems) > 0 {
		return nil, nil, applySetError("correct or remove the annotations of the component: %s", listed(problems))
	}
	return kinds, namespaces, nil
}
