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

// managersOf reads the managed fields of an object. name is the field manager of
// this process.
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

// taken returns the managed fields of a live object after this name has taken over
// the fields of managers with one of the prefixes, and of its own updates. The
// package csaupgrade is no help here: it takes no fields of an Apply, and drops
// those of other versions of the API.
func taken(
	live []metav1.ManagedFieldsEntry, version, name string, prefixes []string,
) (entries []metav1.ManagedFieldsEntry, changed bool, err error) {
	ours := metav1.ManagedFieldsEntry{
		Manager: name, Operation: metav1.ManagedFieldsOperationApply, APIVersion: version, FieldsType: "FieldsV1",
	}
	all := fieldpath.NewSet()
	for _, e := range live {
		own := e.Manager == name && e.Operation == metav1.ManagedFieldsOperationApply
		hasPrefix := func(p string) bool { return strings.HasPrefix(e.Manager, p) }
		take := e.Manager == name || slices.ContainsFunc(prefixes, hasPrefix)
		if e.Subresource != "" || !take {
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
