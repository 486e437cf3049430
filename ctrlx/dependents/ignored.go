package dependents

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
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

// released returns the ignored fields as m, the managed fields of the live object,
// name them. An item of a list that has one owner as a whole is an error, because no apply
// leaves a part of such a list alone.
func (r *Request) released(m *managers) (*fieldpath.Set, error) {
	ignored := fieldpath.NewSet(r.ignored...)
	if ignored.Empty() {
		return ignored, nil
	}
	live, err := runtime.DefaultUnstructuredConverter.ToUnstructured(r.Live)
	if err != nil {
		return nil, err
	}
	given, err := manifest(r.Object, r.gvk)
	if err != nil {
		return nil, err
	}
	for _, path := range r.ignored {
		found := located(live, m.all, path, nil)
		for _, p := range found {
			if p[len(p)-1].Key != nil && m.owns(m.all, p) && m.all.RecursiveDifference(fieldpath.NewSet(p)).Equals(m.all) {
				return nil, fmt.Errorf("%w: %s: %s cannot be ignored, because the API server knows no items of this list: "+
					"ignore the whole list", ErrInvalid, r.Ref(), textOf(path))
			}
		}
		for _, p := range append(found, located(given.Object, m.all, path, nil)...) { // all that removePath removes
			ignored.Insert(p)
		}
	}
	return ignored, nil
}

// located returns the paths in managed fields of what path names in an object. all
// are the managed fields of content, which is at outer. They name an item of a list
// by all its keys, and path may name it by any of its fields.
func located(content any, all *fieldpath.Set, path, outer fieldpath.Path) (paths []fieldpath.Path) {
	if len(path) == 0 {
		return []fieldpath.Path{outer}
	}
	e := path[0]
	at := func(e fieldpath.PathElement, inner any) {
		paths = append(paths, located(inner, all.WithPrefix(e), path[1:], append(slices.Clip(outer), e))...)
	}
	switch content := content.(type) {
	case map[string]any:
		if e.FieldName == nil {
			break
		}
		if inner, found := content[*e.FieldName]; found {
			at(e, inner)
		}
	case []any:
		is, items := names(e, content), itemsOf(all)
		for _, item := range content {
			if is(item) && len(items) == 0 {
				return []fieldpath.Path{append(slices.Clip(outer), e)}
			}
			for _, field := range items {
				if is(item) && matches(elementOf(field, item), field) {
					at(field, item)
				}
			}
		}
	}
	return paths
}
