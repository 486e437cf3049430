package overwrite

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Writer is a client of the API server that wrote conditions.
type Writer struct {
	Manager   string    // the name of the field manager; "": unknown
	Operation string    // Update or Apply
	Time      time.Time // of its last change of the object, to the second; zero: unknown
}

// Unknown is the text of the zero Writer.
const Unknown = "an unknown writer"

// String returns the writer as it reads in a message. The API server limits the
// name of a manager to 128 printable characters.
func (w Writer) String() string {
	if w.Manager == "" {
		return Unknown
	}
	text := fmt.Sprintf("the field manager %q (%s)", w.Manager, w.Operation)
	if !w.Time.IsZero() {
		text = fmt.Sprintf("the field manager %q (%s at %s)", w.Manager, w.Operation, w.Time.UTC().Format(time.RFC3339))
	}
	return text
}

// WriterOf returns the writer of an update that changed one of the conditions.
// before and now are the managed fields of the object before and after it. It
// returns the zero Writer if they do not show a single writer.
//
// The best evidence is an entry that the update changed, and that owns a field
// of such a condition now: it is new, its time changed, or it did not own the
// field before. Next is an entry whose time changed: its manager removed the
// condition. Last is an entry that owns a field. Of equal evidence the later
// time counts. Two managers with equal evidence at the same second are no single
// writer.
func WriterOf(before, now []metav1.ManagedFieldsEntry, conditions ...string) Writer {
	var best Writer
	var most evidence
	for i := range now {
		e := &now[i]
		found := evidenceOf(e, entryOf(before, e), conditions)
		w := Writer{Manager: e.Manager, Operation: string(e.Operation)}
		if e.Time != nil {
			w.Time = e.Time.Time
		}
		switch {
		case found == none || found < most || found == most && w.Time.Before(best.Time):
		case found == most && w.Time.Equal(best.Time) && w.Manager != best.Manager:
			best.Manager = ""
		default:
			best, most = w, found
		}
	}
	if best.Manager == "" {
		return Writer{}
	}
	return best
}

type evidence int

const (
	none evidence = iota
	owns          // the entry owns a field of a condition
	changed
	changedOwner
)

// evidenceOf returns what an entry shows. was is the entry before the update;
// nil: it is new.
func evidenceOf(e, was *metav1.ManagedFieldsEntry, conditions []string) evidence {
	if e.Subresource != "" && e.Subresource != "status" {
		return none
	}
	fields := ownedOf(e, conditions)
	moved := was == nil || !e.Time.Equal(was.Time)
	switch {
	case len(fields) > 0 && (moved || slices.ContainsFunc(fields, func(f string) bool { return !slices.Contains(ownedOf(was, conditions), f) })):
		return changedOwner
	case moved && e.Subresource == "status":
		return changed
	case len(fields) > 0:
		return owns
	}
	return none
}

// entryOf returns the entry of the same manager, operation and subresource; nil:
// there is none.
func entryOf(all []metav1.ManagedFieldsEntry, e *metav1.ManagedFieldsEntry) *metav1.ManagedFieldsEntry {
	i := slices.IndexFunc(all, func(a metav1.ManagedFieldsEntry) bool {
		return a.Manager == e.Manager && a.Operation == e.Operation && a.Subresource == e.Subresource && a.APIVersion == e.APIVersion
	})
	if i < 0 {
		return nil
	}
	return &all[i]
}

// ownedOf returns the fields of the conditions that an entry owns, as paths from
// the list of conditions. A list without keys has one owner as a whole.
func ownedOf(e *metav1.ManagedFieldsEntry, conditions []string) (fields []string) {
	if e == nil || e.FieldsV1 == nil {
		return nil
	}
	var tree struct {
		Status map[string]any `json:"f:status"`
	}
	if json.Unmarshal(e.FieldsV1.GetRawBytes(), &tree) != nil {
		return nil
	}
	var walk func(node map[string]any)
	walk = func(node map[string]any) {
		for name, value := range node {
			children, _ := value.(map[string]any)
			var key struct {
				Type *string `json:"type"`
			}
			text, item := strings.CutPrefix(name, "k:")
			switch {
			case item && json.Unmarshal([]byte(text), &key) == nil && key.Type != nil:
				if slices.Contains(conditions, *key.Type) {
					fields = append(fields, name)
					for child := range children {
						fields = append(fields, name+" "+child)
					}
				}
			case name == "f:conditions" && len(children) == 0:
				fields = append(fields, name)
			default:
				walk(children)
			}
		}
	}
	walk(tree.Status)
	return fields
}
