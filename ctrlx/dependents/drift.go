package dependents

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// drift returns the fields of the manifest that this name does not own in an
// object. After an apply it owns all of them, and it loses a field to the manager
// that changes or removes it. No value is compared, so the forms and the defaults
// of the API server do not matter. The marks of a digest count, too, unless it is
// empty. Without managed fields, as in a cache that strips them, only a changed mark is known.
func (r *Request) drift(obj client.Object, digest string) (fields []string, err error) {
	if len(obj.GetManagedFields()) == 0 {
		if digest != "" {
			fields = []string{"a label or an annotation of this name is changed"}
		}
		return fields, nil
	}
	m, err := managersOf(obj, r.of.manager)
	if err != nil {
		return nil, err
	}
	content := maps.Clone(r.manifest().Object)
	if digest != "" {
		content = r.withMarks(digest).Object
	}
	delete(content, "apiVersion")
	delete(content, "kind")
	metadata, _ := content["metadata"].(map[string]any)
	counts := []string{"labels", "annotations", "finalizers", "ownerReferences"}
	metadata = maps.Clone(metadata)
	maps.DeleteFunc(metadata, func(key string, _ any) bool { return !slices.Contains(counts, key) })
	content["metadata"] = metadata
	for _, path := range m.lacks(content, m.applied, m.all, nil) {
		if manager := m.of(path); manager != "" {
			fields = append(fields, textOf(path)+" is managed by "+manager)
		} else {
			fields = append(fields, textOf(path)+" is missing")
		}
	}
	return fields, nil
}

// lacks returns the paths of the parts of a map or of a list of the manifest that
// applied lacks. applied and all are the parts of the managed fields at path. They say
// which items of lists belong together, so that no schema is needed.
func (m *managers) lacks(want any, applied, all *fieldpath.Set, path fieldpath.Path) (paths []fieldpath.Path) {
	switch want := want.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(want)) {
			paths = append(paths, m.lacksAt(want[key], fieldpath.FieldNameElement(key), applied, all, path)...)
		}
	case []any:
		items := itemsOf(all)
		if len(items) == 0 {
			return nil
		}
		var named fieldpath.PathElementSet // with all keys
		var rest []any
		for _, w := range want {
			e := elementOf(items[0], w)
			if e.Key != nil && len(*e.Key) < len(*items[0].Key) {
				rest = append(rest, w)
				continue
			}
			named.Insert(e)
			paths = append(paths, m.lacksAt(w, e, applied, all, path)...)
		}
		if len(rest) == 0 { // as usual
			return paths
		}
		free := slices.DeleteFunc(itemsOf(applied), named.Has)
		for _, w := range rest {
			e := elementOf(items[0], w)
			if i := slices.IndexFunc(free, func(f fieldpath.PathElement) bool { return matches(e, f) }); i >= 0 {
				e = free[i]
				free = slices.Delete(free, i, i+1) // no other item finds it
			}
			paths = append(paths, m.lacksAt(w, e, applied, all, path)...)
		}
	}
	return paths
}

// lacksAt does the same for a value of the manifest at an element of path. A manager owns an atomic map or list as a whole.
func (m *managers) lacksAt(
	want any, e fieldpath.PathElement, applied, all *fieldpath.Set, path fieldpath.Path,
) []fieldpath.Path {
	_, below := applied.Children.Get(e)
	_, parted := all.Children.Get(e)
	here := append(slices.Clip(path), e)
	contents, isMap := want.(map[string]any)
	list, _ := want.([]any)
	switch owned := applied.Members.Has(e); {
	case len(contents)+len(list) > 0 && (parted || isMap && e.FieldName != nil && !all.Members.Has(e)):
		return m.lacks(want, applied.WithPrefix(e), all.WithPrefix(e), here)
	case owned, below:
		return nil
	case list != nil && len(list) == 0 && !all.Members.Has(e): // no apply owns an empty list whose items have keys
		return nil
	}
	return []fieldpath.Path{here}
}

// managersOf reads the managed fields of an object. name is the field manager
// of this process.
func managersOf(live client.Object, name string) (*managers, error) {
	m := &managers{all: fieldpath.NewSet(), ours: fieldpath.NewSet(), applied: fieldpath.NewSet()}
	m.entry = metav1.ManagedFieldsEntry{Manager: name, Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1"}
	for _, e := range live.GetManagedFields() {
		set := fieldpath.NewSet()
		if e.FieldsV1 != nil {
			if err := set.FromJSON(bytes.NewReader(e.FieldsV1.GetRawBytes())); err != nil {
				return nil, fmt.Errorf("reading the managed fields of %q: %w", e.Manager, err)
			}
		}
		m.all = m.all.Union(set)
		if e.Manager == name {
			m.ours = m.ours.Union(set)
		}
		if e.Manager == name && e.Operation == m.entry.Operation && e.Subresource == "" {
			m.entry, m.applied = e, set
		} else {
			m.others = append(m.others, fieldManager{e, set})
		}
	}
	return m, nil
}

// owns reports whether set, a part of m.all, has path, or a whole value that
// contains it. A set that has a map and no field in it owns the map as a whole
// only if no manager owns a field in it.
func (m *managers) owns(set *fieldpath.Set, path fieldpath.Path) bool {
	all := m.all
	for i, element := range path {
		inner, found := set.Children.Get(element)
		within, parts := all.Children.Get(element)
		switch {
		case i == len(path)-1:
			return found || set.Members.Has(element)
		case !found:
			return !parts && set.Members.Has(element)
		}
		set, all = inner, within
	}
	return false
}

// of returns the other managers of a path, as a text; empty: there is none.
func (m *managers) of(path fieldpath.Path) string {
	var names []string
	for _, o := range m.others {
		if m.owns(o.set, path) && !slices.Contains(names, o.entry.Manager) {
			names = append(names, o.entry.Manager)
		}
	}
	return strings.Join(names, " and ")
}

// untaken are the fields that no takeover takes: the finalizers, and the replicas,
// which an autoscaler may set by an update of the object.
var untaken = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "finalizers"), fieldpath.MakePathOrDie("spec", "replicas"))

func fieldsV1(set *fieldpath.Set) *metav1.FieldsV1 {
	text, err := set.ToJSON()
	if err != nil {
		panic(err) // all fields are those of an object
	}
	return metav1.NewFieldsV1(string(text))
}

// isRemoved ends the text of a field that a write removes in a request of its own.
const isRemoved = " is removed"

// removed returns the fields that an apply after a takeover removes:
// those that a manager had alone, and that this name does not apply.
func (r *Request) removed(alone *fieldpath.Set, applied client.Object) (fields []string, err error) {
	if alone == nil {
		return nil, nil
	}
	m, err := managersOf(applied, r.of.manager)
	if err != nil {
		return nil, err
	}
	for path := range alone.Difference(m.applied).All() {
		fields = append(fields, textOf(path)+isRemoved)
	}
	return fields, nil
}

// hasPrefix reports whether SsaOverride takes over the fields of a manager.
func hasPrefix(prefixes []string) func(string) bool {
	return func(manager string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(manager, p) })
	}
}

// controllers are the managers whose fields Replace leaves alone: controllers of
// Kubernetes and of clouds. Without their fields, the API server refuses a write of
// a bound claim, and a volume loses its claim.
var controllers = regexp.MustCompile(`^(kube-|kubelet$|csi-)|` +
	`(cloud-controller-manager|openshift-controller-manager|clusterrole-aggregation-controller|external-provisioner)$`)

// isNoController reports whether Replace takes over the fields of a manager.
func isNoController(manager string) bool { return !controllers.MatchString(manager) }
