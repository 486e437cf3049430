package dependents

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// difference is a field of a manifest that has another value in the cluster.
type difference struct {
	Field
	live string // the JSON of the live value; empty: the object lacks the field
}

// differences compares the manifest with a live object. Fields that the
// manifest lacks do not count. The managed fields say which items of lists
// belong together, so that no schema is needed. A value that differs, and that
// this name owns, does not count: the API server changed it while it stored the
// object, as in a quantity. An object without managed fields has no
// differences.
func (r *Request) differences(obj client.Object) ([]difference, error) {
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
	live, err := r.content(obj)
	if err != nil {
		return nil, err
	}
	c := comparison{managers: m}
	for _, key := range slices.Sorted(maps.Keys(manifest.Object)) {
		switch key {
		case "apiVersion", "kind":
		case "metadata":
			want, _ := manifest.Object[key].(map[string]any)
			have, _ := live.Object[key].(map[string]any)
			field := fieldpath.FieldNameElement(key)
			for _, part := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
				c.field(want, have, part, m.all.WithPrefix(field), fieldpath.Path{field})
			}
		default:
			c.field(manifest.Object, live.Object, key, m.all, nil)
		}
	}
	return c.found, nil
}

type comparison struct {
	managers managers
	found    []difference
}

// field compares a field of two maps. known is the part of all managed fields
// at path, the path of the maps.
func (c *comparison) field(want, have map[string]any, key string, known *fieldpath.Set, path fieldpath.Path) {
	element := fieldpath.FieldNameElement(key)
	live, found := have[key]
	c.value(want[key], live, found, known.WithPrefix(element), append(slices.Clip(path), element))
}

// value compares two values at path. found reports whether the live one exists.
// A manifest without the value has no difference.
func (c *comparison) value(want, live any, found bool, known *fieldpath.Set, path fieldpath.Path) {
	switch want := want.(type) {
	case nil:
		return
	case map[string]any:
		if have, ok := live.(map[string]any); ok || len(want) == 0 && !found {
			for _, key := range slices.Sorted(maps.Keys(want)) {
				c.field(want, have, key, known, path)
			}
			return
		}
	case []any:
		if have, ok := live.([]any); ok || len(want) == 0 && !found {
			if c.list(want, have, known, path) {
				return
			}
		}
	default:
		if same(want, live) {
			return
		}
	}
	c.differs(live, found, path)
}

// list compares two lists. It returns false if the lists differ as a whole.
func (c *comparison) list(want, have []any, known *fieldpath.Set, path fieldpath.Path) bool {
	switch items := itemsOf(known); {
	case len(items) > 0 && items[0].Key != nil:
		for _, w := range want {
			item := find(items, have, w)
			if item == nil {
				c.differs(nil, false, append(slices.Clip(path), keyOf(items[0], w)))
				continue
			}
			c.value(w, item.value, true, known.WithPrefix(item.element), append(slices.Clip(path), item.element))
		}
		return true
	case len(items) > 0 && items[0].Value != nil:
		for _, w := range want {
			if !slices.ContainsFunc(have, func(h any) bool { return same(w, h) }) {
				c.differs(nil, false, append(slices.Clip(path), fieldpath.ValueElement(value.NewValueInterface(w))))
			}
		}
		return true
	}
	if len(want) != len(have) {
		return false
	}
	whole := comparison{managers: managers{all: fieldpath.NewSet(), ours: fieldpath.NewSet()}}
	for i := range want {
		whole.value(want[i], have[i], true, fieldpath.NewSet(), nil)
	}
	return len(whole.found) == 0
}

func (c *comparison) differs(live any, found bool, path fieldpath.Path) {
	if found && c.managers.owns(c.managers.ours, path) {
		return
	}
	d := difference{Field: Field{Path: strings.TrimPrefix(path.String(), ".")}}
	if found {
		d.Manager = c.managers.of(path)
		text, _ := json.Marshal(live) // content of an object always has a JSON form
		d.live = string(text)
	}
	c.found = append(c.found, d)
}

// itemsOf returns the items of a list that has keys, or of a set.
func itemsOf(known *fieldpath.Set) (items []fieldpath.PathElement) {
	add := func(e fieldpath.PathElement) {
		if e.Key != nil || e.Value != nil {
			items = append(items, e)
		}
	}
	known.Members.Iterate(add)
	known.Children.Iterate(add)
	return items
}

// listItem is an item of a list with keys.
type listItem struct {
	element fieldpath.PathElement
	value   any
}

// find returns the item of have whose keys are those of want; nil: there is
// none. A key that want lacks has a default, so it matches.
func find(items []fieldpath.PathElement, have []any, want any) *listItem {
	w, _ := want.(map[string]any)
	for _, h := range have {
		live, _ := h.(map[string]any)
		for _, item := range items {
			matches := item.Key != nil && live != nil && w != nil
			if !matches {
				continue
			}
			for _, key := range *item.Key {
				v, given := w[key.Name]
				l := live[key.Name]
				matches = matches && same(key.Value.Unstructured(), l) && (!given || same(v, l))
			}
			if matches {
				return &listItem{item, h}
			}
		}
	}
	return nil
}

// keyOf returns the element of an item, with the keys that other items have.
func keyOf(other fieldpath.PathElement, item any) fieldpath.PathElement {
	m, _ := item.(map[string]any)
	var keys value.FieldList
	for _, key := range *other.Key {
		if v, ok := m[key.Name]; ok {
			keys = append(keys, value.Field{Name: key.Name, Value: value.NewValueInterface(v)})
		}
	}
	return fieldpath.KeyElement(keys...)
}

// same compares two scalars, even a whole number with a fraction. A zero value
// equals none, because typed objects leave it out.
func same(a, b any) bool {
	x, isNumber := number(a)
	y, both := number(b)
	switch {
	case isNumber && both:
		return x == y
	case isZero(a) && isZero(b):
		return true
	}
	switch a.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

func isZero(v any) bool {
	n, isNumber := number(v)
	return v == nil || v == "" || v == false || isNumber && n == 0
}
