package dependents

import (
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// drift returns the fields of the manifest that this name does not own in an
// object. After an apply it owns all of them, and it loses a field to the manager
// that changes or removes it. No value is compared, so the forms and the defaults
// of the API server do not matter. The marks of a digest count, too, unless it is
// empty. An object without managed fields has no drift.
func (r *Request) drift(obj client.Object, digest string) (fields []string, err error) {
	if len(obj.GetManagedFields()) == 0 {
		return nil, nil
	}
	m, err := managersOf(obj, r.of.manager)
	if err != nil {
		return nil, err
	}
	manifest, err := r.manifest()
	if err != nil {
		return nil, err
	}
	content := maps.Clone(manifest.Object)
	delete(content, "apiVersion")
	delete(content, "kind")
	metadata, _ := content["metadata"].(map[string]any)
	if digest != "" {
		metadata = r.withMarks(metadata, digest)
	}
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
		items, free := itemsOf(all), itemsOf(applied)
		if len(items) == 0 {
			return nil
		}
		for _, whole := range []bool{true, false} { // an item with all keys finds its field first
			for _, w := range want {
				e := elementOf(items[0], w)
				if whole != (e.Key == nil || len(*e.Key) == len(*items[0].Key)) {
					continue
				}
				if i := slices.IndexFunc(free, func(f fieldpath.PathElement) bool { return matches(e, f) }); i >= 0 {
					e = free[i]
					free = slices.Delete(free, i, i+1) // no other item finds it
				}
				paths = append(paths, m.lacksAt(w, e, applied, all, path)...)
			}
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
	case owned && !parted:
		return nil
	case len(contents)+len(list) > 0 && (parted || isMap && e.FieldName != nil && !all.Members.Has(e)):
		return m.lacks(want, applied.WithPrefix(e), all.WithPrefix(e), here)
	case owned, below:
		return nil
	}
	return []fieldpath.Path{here}
}

// itemsOf returns the items of a list that has keys, or of a set.
func itemsOf(fields *fieldpath.Set) (items []fieldpath.PathElement) {
	add := func(e fieldpath.PathElement) {
		if (e.Key != nil || e.Value != nil) && !slices.ContainsFunc(items, e.Equals) {
			items = append(items, e)
		}
	}
	fields.Members.Iterate(add)
	fields.Children.Iterate(add)
	return items
}

// elementOf returns the element of an item of the manifest, with those keys of
// other items that it has.
func elementOf(other fieldpath.PathElement, item any) fieldpath.PathElement {
	if other.Key == nil {
		return fieldpath.ValueElement(value.NewValueInterface(item))
	}
	m, _ := item.(map[string]any)
	var keys value.FieldList
	for _, key := range *other.Key {
		if v, ok := m[key.Name]; ok {
			keys = append(keys, value.Field{Name: key.Name, Value: value.NewValueInterface(v)})
		}
	}
	return fieldpath.KeyElement(keys...)
}

// matches reports whether the element of an item of the manifest is that of a
// field. A key that the item lacks has a default, so it matches.
func matches(item, field fieldpath.PathElement) bool {
	if item.Key == nil || field.Key == nil {
		return item.Equals(field)
	}
	return !slices.ContainsFunc(*item.Key, func(key value.Field) bool {
		return !slices.ContainsFunc(*field.Key, func(f value.Field) bool { return f.Name == key.Name && value.Equals(f.Value, key.Value) })
	})
}

// withMarks returns the metadata of a manifest with the marks that say whose the
// object is, and which manifest it has.
func (r *Request) withMarks(metadata map[string]any, digest string) map[string]any {
	metadata = maps.Clone(metadata)
	for field, mark := range map[string][2]string{
		"labels": {r.of.keys.owner, r.Owner.mark}, "annotations": {r.of.keys.digest, digest},
	} {
		texts, _ := metadata[field].(map[string]any)
		marked := map[string]any{mark[0]: mark[1]}
		maps.Copy(marked, texts)
		metadata[field] = marked
	}
	return metadata
}
