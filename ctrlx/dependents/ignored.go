package dependents

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// The elements of a path of the annotation ignored-fields: a field, a key in
// quotes, and the keys of an item of a list.
var (
	fieldElement = regexp.MustCompile(`^\.?([A-Za-z0-9_$-]+)`)
	mapElement   = regexp.MustCompile(`^\[("(?:[^"\\]|\\.)*")\]`)
	itemElement  = regexp.MustCompile(`^\[((?:,?\w+=(?:"(?:[^"\\]|\\.)*"|\w+))+)\]`)
	itemKey      = regexp.MustCompile(`(\w+)=("(?:[^"\\]|\\.)*"|\w+)`)
	pathsBetween = regexp.MustCompile(`^\s*,\s*`)
)

// pathsOf reads the annotation ignored-fields: paths as the messages about fields
// name them, between commas.
func pathsOf(text string) (paths []fieldpath.Path, err error) {
	text = strings.TrimSpace(text)
	for rest := text; text != ""; {
		var path fieldpath.Path
		start := rest
		for rest != "" && !pathsBetween.MatchString(rest) {
			e, length := elementAt(rest)
			if length == 0 || len(path) == 0 && rest[0] == '.' {
				return nil, fmt.Errorf("%q is no path: give paths such as spec.replicas, metadata.labels[%q] or "+
					"spec.ports[name=%q].nodePort, with commas between them", start, "example.com/zone", "web")
			}
			path, rest = append(path, e), rest[length:]
		}
		if err := allowed(path); err != nil {
			return nil, err
		}
		if paths = append(paths, path); rest == "" {
			break
		}
		rest = rest[len(pathsBetween.FindString(rest)):]
	}
	return paths, nil
}

// elementAt returns the first element of a text, and its length; zero: there is none.
func elementAt(text string) (e fieldpath.PathElement, length int) {
	if m := fieldElement.FindStringSubmatch(text); m != nil {
		return fieldpath.FieldNameElement(m[1]), len(m[0])
	}
	var key string
	if m := mapElement.FindStringSubmatch(text); m != nil && json.Unmarshal([]byte(m[1]), &key) == nil {
		return fieldpath.FieldNameElement(key), len(m[0])
	}
	m := itemElement.FindStringSubmatch(text)
	if m == nil {
		return
	}
	var keys value.FieldList
	for _, key := range itemKey.FindAllStringSubmatch(m[1], -1) {
		v, err := value.FromJSON([]byte(key[2]))
		if err != nil {
			return
		}
		keys = append(keys, value.Field{Name: key[1], Value: v})
	}
	return fieldpath.KeyElement(keys...), len(m[0])
}

// allowed returns an error for a path that no object can leave to others: without
// its metadata, no object has a name and an owner.
func allowed(path fieldpath.Path) error {
	name := func(i int) string {
		if i >= len(path) || path[i].FieldName == nil {
			return ""
		}
		return *path[i].FieldName
	}
	switch name(0) {
	case "", "apiVersion", "kind", "status":
	case "metadata":
		if len(path) == 3 && (name(1) == "labels" || name(1) == "annotations") {
			return nil
		}
	default:
		return nil
	}
	return fmt.Errorf("%q cannot be ignored: give a field of the content, a label or an annotation", textOf(path))
}

// removePath returns a part of a manifest without the field at path. A path may
// end with an item of a list.
func removePath(content any, path fieldpath.Path) any {
	e, last := path[0], len(path) == 1
	switch content := content.(type) {
	case map[string]any:
		if e.FieldName == nil {
			break
		}
		if inner, found := content[*e.FieldName]; last {
			delete(content, *e.FieldName)
		} else if found {
			content[*e.FieldName] = removePath(inner, path[1:])
		}
	case []any:
		is := names(e, content)
		if last {
			return slices.DeleteFunc(content, is)
		}
		for _, item := range content {
			if is(item) {
				removePath(item, path[1:])
			}
		}
	}
	return content
}

// names returns whether e names an item of list. An item with all keys of e comes
// first, because those that lack one may have another default.
func names(e fieldpath.PathElement, list []any) func(item any) bool {
	whole := func(item any) bool { return e.Equals(elementOf(e, item)) }
	if e.Key == nil || slices.ContainsFunc(list, whole) {
		return whole
	}
	return func(item any) bool {
		of := elementOf(e, item)
		return len(*of.Key) > 0 && matches(of, e)
	}
}

// itemsOf returns the items of a list that has keys, or of a set.
func itemsOf(fields *fieldpath.Set) (items []fieldpath.PathElement) {
	add := func(e fieldpath.PathElement) {
		if e.Key != nil || e.Value != nil {
			items = append(items, e)
		}
	}
	fields.Members.Iterate(add)
	fields.Children.Iterate(func(e fieldpath.PathElement) {
		if !fields.Members.Has(e) {
			add(e)
		}
	})
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

// textOf returns a path as in spec.template.spec.containers[name="web"].image.
func textOf(path fieldpath.Path) string { return strings.TrimPrefix(path.String(), ".") }
