package dependents

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// difference is a field of a manifest that has another value in the cluster.
type difference struct {
	Field
	live  string // the JSON of the live value; empty: the object lacks the field
	owned bool   // this name owns it: the API server changed it while it stored the object
}

// differences compares the manifest with a live object. Fields that the
// manifest lacks do not count. The managed fields say which items of lists
// belong together, so that no schema is needed. An object without managed
// fields has no differences. The marks of a digest count, too, unless it is
// empty.
func (r *Request) differences(obj client.Object, digest string) ([]difference, error) {
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
	kept, typed := r.kept(obj, manifest.Object)
	c := comparison{name: r.of.manager, managers: m, typed: typed}
	for _, key := range slices.Sorted(maps.Keys(manifest.Object)) {
		switch key {
		case "apiVersion", "kind":
		case "metadata":
			want, _ := manifest.Object[key].(map[string]any)
			have, _ := live.Object[key].(map[string]any)
			field := fieldpath.FieldNameElement(key)
			if digest != "" {
				want = r.withMarks(want, digest)
			}
			c.typed = true // the metadata of each kind has a type, which keeps empty texts
			for _, part := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
				c.field(want, have, want, part, m.all.WithPrefix(field), fieldpath.Path{field})
			}
			c.typed = typed
		default:
			c.field(manifest.Object, live.Object, kept, key, m.all, nil)
		}
	}
	return c.found, nil
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

// kept returns the content of a manifest as the type of a live object keeps it.
// Types leave out many zero values. typed reports whether the live object has a
// type.
func (r *Request) kept(live client.Object, manifest map[string]any) (content map[string]any, typed bool) {
	if _, untyped := live.(*unstructured.Unstructured); untyped {
		return manifest, false
	}
	into := r.newObject()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(manifest, into); err != nil {
		return nil, true // unknown, so each zero value counts as left out
	}
	content, _ = runtime.DefaultUnstructuredConverter.ToUnstructured(into) // nil, if it has no such form
	return content, true
}

type comparison struct {
	name     string // the field manager of this name
	managers managers
	typed    bool // a type does not tell an empty list from none
	found    []difference
}

// field compares a field of two maps. kept is the wanted map as the type of the
// kind keeps it. known is the part of all managed fields at path, the path of
// the maps.
func (c *comparison) field(
	want, have, kept map[string]any, key string, known *fieldpath.Set, path fieldpath.Path,
) {
	element := fieldpath.FieldNameElement(key)
	live, found := have[key]
	c.value(want[key], live, kept[key], found, known.WithPrefix(element), append(slices.Clip(path), element))
}

// value compares two values at path. found reports whether the live one exists.
// A manifest without the value has no difference. A zero value equals none if
// the type of the kind leaves it out.
func (c *comparison) value(want, live, kept any, found bool, known *fieldpath.Set, path fieldpath.Path) {
	_, isList := want.([]any)
	if live == nil && isZero(want) && (kept == nil || isList && c.typed) {
		return
	}
	switch want := want.(type) {
	case nil:
		return
	case map[string]any:
		kept, _ := kept.(map[string]any)
		if have, ok := live.(map[string]any); ok && !(known.Empty() && further(want, have, kept)) {
			for _, key := range slices.Sorted(maps.Keys(want)) {
				c.field(want, have, kept, key, known, path)
			}
			return
		}
	case []any:
		kept, _ := kept.([]any)
		if have, ok := live.([]any); ok && c.list(want, have, kept, known, path) {
			return
		}
	default:
		if live != nil && same(want, live) {
			return
		}
	}
	c.differs(live, found, path)
}

// further reports whether a live map has a field that the manifest lacks. It
// matters for an atomic map, and for a map in an atomic list: the managed fields
// have no part of it.
func further(want, have, kept map[string]any) bool {
	for key, live := range have {
		_, wanted := want[key]
		_, zero := kept[key] // a type adds it
		if live != nil && !wanted && !zero {
			return true
		}
	}
	return false
}

// list compares two lists. It returns false if the lists differ as a whole.
func (c *comparison) list(want, have, kept []any, known *fieldpath.Set, path fieldpath.Path) bool {
	keptAt := func(i int) any {
		if i < len(kept) {
			return kept[i]
		}
		return nil
	}
	switch items := itemsOf(known); {
	case len(items) > 0 && items[0].Key != nil:
		have = slices.Clone(have)
		for _, whole := range []bool{true, false} { // an item with all keys finds its live one first
			for i, w := range want {
				key := keyOf(items[0], w)
				if (len(*key.Key) == len(*items[0].Key)) != whole {
					continue
				}
				item := c.find(items, have, w, path)
				if item == nil {
					c.differs(nil, false, append(slices.Clip(path), key))
					continue
				}
				live := have[item.index]
				have[item.index] = nil // no other item finds it
				c.value(w, live, keptAt(i), true, known.WithPrefix(item.element), append(slices.Clip(path), item.element))
			}
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
	none := fieldpath.NewSet()
	whole := comparison{managers: managers{all: none, ours: none}, typed: c.typed}
	for i := range want {
		whole.value(want[i], have[i], keptAt(i), true, none, nil)
	}
	return len(whole.found) == 0
}

func (c *comparison) differs(live any, found bool, path fieldpath.Path) {
	d := difference{Field: Field{Path: strings.TrimPrefix(path.String(), ".")}}
	if found {
		d.Manager = c.managers.of(path)
		if d.owned = c.managers.owns(c.managers.ours, path); d.owned {
			d.Manager = c.name
		}
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
	index   int
}

// find returns the item of have whose keys are those of want; nil: there is
// none. A key that want lacks has a default, so it matches. Of several items
// find prefers the one that this name owns, because only that one has the
// default.
func (c *comparison) find(items []fieldpath.PathElement, have []any, want any, path fieldpath.Path) (found *listItem) {
	w, _ := want.(map[string]any)
	for i, h := range have {
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
			switch {
			case !matches:
			case c.managers.owns(c.managers.ours, append(slices.Clip(path), item)):
				return &listItem{item, i}
			case found == nil:
				found = &listItem{item, i}
			}
		}
	}
	return found
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
	if i, ok := a.(int64); ok {
		if j, ok := b.(int64); ok {
			return i == j
		}
	}
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
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	n, isNumber := number(v)
	return v == nil || v == "" || v == false || isNumber && n == 0
}
