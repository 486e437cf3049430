package dependents

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// FieldOwner returns the field manager of all writes: the name, or that of
// [WithFieldOwner].
func (d *Dependents) FieldOwner() client.FieldOwner { return client.FieldOwner(d.manager) }

// managers are the managed fields of an object.
type managers struct {
	all    *fieldpath.Set // of all managers
	ours   *fieldpath.Set // of the writes of this name
	others []fieldManager // in the order of the object
}

type fieldManager struct {
	name string
	set  *fieldpath.Set
}

// managersOf reads the managed fields of an object. name is the field manager
// of this process.
func managersOf(live client.Object, name string) (managers, error) {
	m := managers{all: fieldpath.NewSet(), ours: fieldpath.NewSet()}
	for _, e := range live.GetManagedFields() {
		set, err := setOf(&e)
		if err != nil {
			return m, err
		}
		m.all = m.all.Union(set)
		if e.Manager == name {
			m.ours = m.ours.Union(set)
		} else {
			m.others = append(m.others, fieldManager{e.Manager, set})
		}
	}
	return m, nil
}

func setOf(e *metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	set := fieldpath.NewSet()
	if e.FieldsV1 == nil {
		return set, nil
	}
	if err := set.FromJSON(bytes.NewReader(e.FieldsV1.GetRawBytes())); err != nil {
		return nil, fmt.Errorf("reading the managed fields of %q: %w", e.Manager, err)
	}
	return set, nil
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
		if m.owns(o.set, path) && !slices.Contains(names, o.name) {
			names = append(names, o.name)
		}
	}
	return strings.Join(names, " and ")
}

// ownsFinalizer reports whether this name owns a finalizer.
func (m *managers) ownsFinalizer(finalizer string) bool {
	return m.owns(m.ours, fieldpath.MakePathOrDie("metadata", "finalizers", value.NewValueInterface(finalizer)))
}

// takes reports whether this name takes over the fields of an entry: its own,
// or those of a manager with one of the prefixes. The fields of another manager
// in another version of the API may have other paths, so they stay.
func takes(e *metav1.ManagedFieldsEntry, version, name string, prefixes []string) bool {
	hasPrefix := func(p string) bool { return strings.HasPrefix(e.Manager, p) }
	return e.Subresource == "" && (e.Manager == name || e.APIVersion == version && slices.ContainsFunc(prefixes, hasPrefix))
}

// taken returns the managed fields of a live object after this name has taken
// over the fields of managers with one of the prefixes, and of its own updates.
// The package csaupgrade is no help here: it takes no fields of an Apply, and
// drops those of other versions of the API.
func taken(
	live []metav1.ManagedFieldsEntry, version, name string, prefixes []string,
) (entries []metav1.ManagedFieldsEntry, changed bool, err error) {
	ours := metav1.ManagedFieldsEntry{
		Manager: name, Operation: metav1.ManagedFieldsOperationApply, APIVersion: version, FieldsType: "FieldsV1",
	}
	all := fieldpath.NewSet()
	for _, e := range live {
		own := e.Manager == name && e.Operation == metav1.ManagedFieldsOperationApply
		if !takes(&e, version, name, prefixes) {
			entries = append(entries, e)
			continue
		}
		set, err := setOf(&e)
		if err != nil {
			return nil, false, err
		}
		all, changed = all.Union(set), changed || !own
		if e.Time != nil && (ours.Time == nil || ours.Time.Before(e.Time)) {
			ours.Time = e.Time
		}
	}
	if !changed {
		return nil, false, nil
	}
	fields, err := all.ToJSON()
	if err != nil {
		return nil, false, err
	}
	ours.FieldsV1 = metav1.NewFieldsV1(string(fields))
	return append(entries, ours), true, nil
}

// without removes the fields of taken from content, except those of kept. The
// API server does the same after an apply. A field is removed as a whole if
// kept has no field inside it.
func without(content any, taken, kept *fieldpath.Set) any {
	// goes reports whether the part at e is removed. Of a part that stays, it
	// returns what is left.
	goes := func(e fieldpath.PathElement, part any) (bool, any) {
		_, stays := kept.Children.Get(e)
		inner, inside := taken.Children.Get(e)
		switch {
		case !stays && !kept.Members.Has(e) && (taken.Members.Has(e) || inside && e.FieldName != nil):
			return true, nil
		case inside:
			return false, without(part, inner, kept.WithPrefix(e))
		}
		return false, part
	}
	switch c := content.(type) {
	case map[string]any:
		for key, part := range c {
			gone, left := goes(fieldpath.FieldNameElement(key), part)
			if c[key] = left; gone {
				delete(c, key)
			}
		}
	case []any:
		items := itemsOf(taken)
		left := []any{}
		for _, part := range c {
			gone := false
			if i := slices.IndexFunc(items, func(e fieldpath.PathElement) bool { return isAt(e, part) }); i >= 0 {
				gone, part = goes(items[i], part)
			}
			if !gone {
				left = append(left, part)
			}
		}
		return left
	}
	return content
}

// isAt reports whether an item of a list has the keys, or the value, of an
// element.
func isAt(e fieldpath.PathElement, item any) bool {
	if e.Key == nil {
		return same((*e.Value).Unstructured(), item)
	}
	m, _ := item.(map[string]any)
	return !slices.ContainsFunc(*e.Key, func(key value.Field) bool { return !same(key.Value.Unstructured(), m[key.Name]) })
}
