package digest

import (
	"bytes"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/record"
)

// fields are the JSON of the fields of an object. The keys of maps in it are sorted.
type fields map[string]json.RawMessage

// contentOf returns the fields of an object.
func contentOf(obj client.Object) (o fields, err error) {
	var of any = obj
	if u, ok := obj.(runtime.Unstructured); ok {
		of = u.UnstructuredContent()
	}
	data, _ := json.Marshal(of)
	err = json.Unmarshal(data, &o) // fails for an object without JSON
	return o, err                  // one return with both would read o at a time that Go leaves open
}

// counts are the keys of the metadata that the digest covers.
var counts = [...]string{"uid", "generation", "deletionTimestamp", "labels", "annotations", "finalizers", "ownerReferences"}

// metadata returns the digest of the covered part of the metadata.
func (o fields) metadata() (h uint64) {
	var all fields
	_ = json.Unmarshal(o["metadata"], &all) // odd metadata has no fields
	for _, key := range counts {
		x, ok := all[key]
		h = data(flag(h, ok), x)
	}
	return h
}

// status returns the digest of the status without the record: package ctrlx adds, renews and
// removes it while the object stays as it is for others, and that must wake no waiter.
func (o fields) status() (h uint64) {
	var all fields
	var list []json.RawMessage
	if status := o["status"]; json.Unmarshal(status, &all) != nil || all == nil || all["conditions"] != nil && json.Unmarshal(all["conditions"], &list) != nil {
		return data(0, status)
	}
	h = all.without("conditions")
	for _, x := range list {
		var c struct{ Type string }
		if json.Unmarshal(x, &c) != nil || c.Type != record.Condition {
			h = data(h, x)
		}
	}
	return h
}

// rest returns the digest of an object without its metadata and without some fields.
func (o fields) rest(without ...string) uint64 {
	return o.without(append(without, "metadata", "apiVersion", "kind")...)
}

// without returns the digest of the fields without some. Each field has a digest of its
// own, and their sum does not depend on the order.
func (o fields) without(keys ...string) (sum uint64) {
	for key, x := range o {
		if !slices.Contains(keys, key) {
			sum += data(text(0, key), x)
		}
	}
	return sum
}

// OfSelf returns the digest of an object that waits for a change of itself. It
// covers what [Of] covers, and whether the object has the record: a person removes a
// record that is refused.
func OfSelf(obj client.Object) uint64 {
	o, _ := contentOf(obj) // without content it has no record
	return flag(Of(obj), bytes.Contains(o["status"], []byte(`"type":"`+record.Condition+`"`)))
}
