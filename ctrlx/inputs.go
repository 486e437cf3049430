package ctrlx

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// inputs holds digests of an object, its owner and its references. They are kept with
// the object, so they are the same in every process, unlike those of internal/digest.
type inputs struct {
	self string
	read map[string]string // by the digest of the ref
}

// maxInputs is the number of references whose digests are kept, so that they fit into
// a message.
const maxInputs = 200

// inputsOf returns the inputs of an object: its generation and annotations, and the
// content of its owner and references. Their status does not count: a status that is
// written every minute would start the clock again every minute. Nor do dependents.
func inputsOf(obj client.Object, p *pass) inputs {
	in := inputs{self: digestOf([]any{obj.GetUID(), obj.GetGeneration(), inputAnnotations(obj)}), read: map[string]string{}}
	for i := range p.seen {
		if s := &p.seen[i]; !s.dependent {
			in.read[digestOf(s.Ref)] = digestOf(content(s.Value))
		}
	}
	return in
}

// applySetPrefix begins the annotations of an ApplySet (KEP-3659).
const applySetPrefix = "applyset.kubernetes.io/"

// inputAnnotations returns the annotations of an object without those of an ApplySet,
// which describe the dependents of the object. It is never nil, so that no
// annotations have one digest.
func inputAnnotations(obj client.Object) map[string]string {
	annotations := map[string]string{}
	for key, value := range obj.GetAnnotations() {
		if !strings.HasPrefix(key, applySetPrefix) {
			annotations[key] = value
		}
	}
	return annotations
}

// content returns the part of an object that was read whose change starts the clock
// again: its generation, or its version if it has no generation, as a Secret.
func content(value any) any {
	obj, ok := value.(client.Object)
	if !ok {
		return value
	}
	if g := obj.GetGeneration(); g > 0 {
		return []any{obj.GetUID(), g}
	}
	return []any{obj.GetUID(), obj.GetResourceVersion()}
}

// undigested is the digest of a value that cannot be digested.
const undigested = "-"

// digestOf returns a digest of the JSON of v. It is short, because it only has
// to differ from the one before.
func digestOf(v any) string {
	data, err := json.Marshal(v) // the keys of maps are sorted
	if err != nil {
		return undigested
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:5])
}

const inputsPrefix = "not ready yet; the clock runs for "

// String returns the text that the condition keeps.
func (in inputs) String() string {
	var b strings.Builder
	b.WriteString(inputsPrefix + in.self)
	refs := slices.Sorted(maps.Keys(in.read))
	for _, ref := range refs[:min(len(refs), maxInputs)] {
		b.WriteString(" " + ref + "=" + in.read[ref])
	}
	return b.String()
}

// goOn reports whether the inputs equal the kept ones. It adds the kept inputs that this
// pass has not read: a pass that polls an operation reads less than the pass that began
// it.
func (in inputs) goOn(kept string) bool {
	fields := strings.Fields(strings.TrimPrefix(kept, inputsPrefix))
	if len(fields) == 0 || fields[0] != in.self {
		return false
	}
	for _, field := range fields[1:] {
		ref, was, ok := strings.Cut(field, "=")
		now, read := in.read[ref]
		if !ok || read && now != was {
			return false
		}
		in.read[ref] = was
	}
	return true
}
