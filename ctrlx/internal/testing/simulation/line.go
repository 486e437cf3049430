package simulation

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/memoryserver"
)

// Tell adds to the time line.
func (r *Run) Tell(who, format string, args ...any) {
	r.lines.Lock()
	defer r.lines.Unlock()
	r.line = append(r.line, fmt.Sprintf("  %10s  %-10s  ", time.Since(r.begin).Round(time.Millisecond), who)+fmt.Sprintf(format, args...))
}

// Line returns the time line, without its middle if it is long.
func (r *Run) Line() string {
	const first, last = 100, 40
	r.lines.Lock()
	defer r.lines.Unlock()
	lines := strings.Split(strings.TrimRight(strings.Join(r.line, "\n"), "\n"), "\n")
	if left := len(lines) - first - last; left > 0 {
		lines = slices.Concat(lines[:first], []string{fmt.Sprintf("  ... %d more lines ...", left)}, lines[len(lines)-last:])
	}
	return strings.Join(lines, "\n")
}

var (
	lease      = schema.GroupKind{Group: "coordination.k8s.io", Kind: "Lease"} // its requests meet no fault
	definition = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
)

// hidden reports whether the objects of a kind are part of no rule.
func hidden(kind schema.GroupKind) bool { return kind == lease || kind == definition }

// Objects returns the objects of the cluster but Leases and definitions.
func (r *Run) Objects() []*unstructured.Unstructured {
	return r.API.All(func(k *memoryserver.Kind) bool { return !hidden(k.GroupKind()) })
}

// Name names an object, as "Record.example.com a", or "Record.example.com other/a" outside of
// the namespace default. No other object has the name.
func Name(o client.Object) string { return named(kindOf(o), client.ObjectKeyFromObject(o)) }

func kindOf(o client.Object) schema.GroupKind {
	return o.GetObjectKind().GroupVersionKind().GroupKind()
}

func named(kind schema.GroupKind, key types.NamespacedName) string {
	if key.Namespace == "" || key.Namespace == "default" {
		return kind.String() + " " + key.Name
	}
	return kind.String() + " " + key.String()
}

// Short returns the begin of a text.
func Short(s string) string {
	const most = 300
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// refused is called after each request that the server refused.
func (r *Run) refused(q memoryserver.Request, err error) {
	if q.Agent != user && q.Kind != lease {
		r.Tell(q.Agent, "%s is refused: %v", what(q), err)
	}
}

// stored is called with the server's lock when an object changes.
func (r *Run) stored(agent, event string, was, now *unstructured.Unstructured) {
	if hidden(kindOf(now)) {
		return
	}
	if agent != user {
		r.mu.Lock()
		r.writes[Name(now)]++
		r.mu.Unlock()
	}
	switch {
	case event == "DELETED":
		r.Tell(agent, "%s is gone", Name(now))
	case was == nil:
		r.Tell(agent, "creates %s", Name(now))
	default:
		r.Tell(agent, "changes %s: %s", Name(now), Short(changes(was, now)))
	}
}

// arrived is called with the server's lock when a watch reads an event.
func (r *Run) arrived(agent, event string, o *unstructured.Unstructured) {
	if agent != user && kindOf(o) != lease {
		r.Tell(agent, "sees %s of %s, version %s", event, Name(o), o.GetResourceVersion())
	}
}

// InWords describes a condition.
func InWords(c metav1.Condition) string {
	return fmt.Sprintf("%s=%s (%s, generation %d): %s", c.Type, c.Status, c.Reason, c.ObservedGeneration, c.Message)
}

// Conditions returns the conditions of an object. A value of another form is left out.
func Conditions(o *unstructured.Unstructured) (all []metav1.Condition) {
	if o == nil {
		return nil
	}
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, item := range list {
		c := metav1.Condition{}
		if m, ok := item.(map[string]any); ok && runtime.DefaultUnstructuredConverter.FromUnstructured(m, &c) == nil {
			all = append(all, c)
		}
	}
	return all
}

// Described returns the deletion, the finalizers and the conditions of an object.
func Described(o *unstructured.Unstructured) (text string) {
	if o.GetDeletionTimestamp() != nil {
		text = fmt.Sprintf("; it is being deleted, with the finalizers %q", o.GetFinalizers())
	}
	for _, c := range Conditions(o) {
		text += "; " + InWords(c)
	}
	return text
}

// Stripped returns an object without versions, managed fields, the times in its status
// and the messages of its conditions, or with these times and without its conditions.
func Stripped(o *unstructured.Unstructured, withoutConditions bool) *unstructured.Unstructured {
	o = o.DeepCopy()
	for _, field := range []string{"resourceVersion", "managedFields", "generation", "creationTimestamp"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	if withoutConditions {
		unstructured.RemoveNestedField(o.Object, "status", "conditions")
		return o
	}
	list, found, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range list {
		if m, ok := c.(map[string]any); ok {
			delete(m, "message")
		}
	}
	if found {
		_ = unstructured.SetNestedSlice(o.Object, list, "status", "conditions")
	}
	if status, has := o.Object["status"]; has {
		o.Object["status"] = timeless(status)
	}
	if notes, has, _ := unstructured.NestedMap(o.Object, "metadata", "annotations"); has {
		_ = unstructured.SetNestedMap(o.Object, timeless(notes).(map[string]any), "metadata", "annotations")
	}
	return o
}

// timeless replaces the times in a value, so that all are the same.
func timeless(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			v[name] = timeless(v[name])
		}
	case []any:
		for i := range v {
			v[i] = timeless(v[i])
		}
	case string:
		if _, err := time.Parse(time.RFC3339, v); err == nil {
			return "a time"
		}
	}
	return value
}

// changes describes a write of an object: its conditions in words, all else as a
// merge patch.
func changes(was, now *unstructured.Unstructured) string {
	old := map[string]string{}
	for _, c := range Conditions(was) {
		old[c.Type] = InWords(c)
	}
	var words []string
	for _, c := range Conditions(now) {
		if old[c.Type] != InWords(c) {
			words = append(words, InWords(c))
		}
		delete(old, c.Type)
	}
	for _, kind := range slices.Sorted(maps.Keys(old)) {
		words = append(words, "without "+kind)
	}
	patch := string(MergePatch(Stripped(was, true), Stripped(now, true)))
	if patch != "{}" {
		words = append(words, patch)
	}
	if len(words) == 0 {
		return "metadata"
	}
	return strings.Join(words, "; ") + ", version " + now.GetResourceVersion()
}

// MergePatch returns the merge patch between two objects.
func MergePatch(was, now *unstructured.Unstructured) []byte {
	a, errA := json.Marshal(was.Object)
	b, errB := json.Marshal(now.Object)
	patch, err := jsonpatch.CreateMergePatch(a, b)
	if err := errors.Join(errA, errB, err); err != nil {
		panic(err) // both are JSON
	}
	return patch
}

// Reach returns for each object the objects that it waits for, also by way of other
// ones.
func Reach[K comparable](waits map[K][]K) map[K]map[K]bool {
	all := map[K]map[K]bool{}
	for at := range waits {
		reached, next := map[K]bool{}, slices.Clone(waits[at])
		for ; len(next) > 0; next = next[1:] {
			if !reached[next[0]] {
				reached[next[0]] = true
				next = append(next, waits[next[0]]...)
			}
		}
		all[at] = reached
	}
	return all
}
