package ctrlx

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
)

// inputs are digests of what an object is made from: itself, and whatever was read as its owner or as a reference. They are
// kept with the object, so unlike those of internal/digest they are the same in every process.
type inputs struct {
	self string
	read map[string]string // by the digest of the ref
}

// maxInputs is of how many references digests are kept, so that they fit into a message.
const maxInputs = 200

// inputsOf are those of an object. Of itself generation and annotations count. Of what it
// refers to the spec counts, as its generation, since a status that is written every minute would start the clock anew every
// minute; and everything where there is no generation, as in a ConfigMap or a Secret.
func inputsOf(obj client.Object, read map[checks.Ref]any) inputs {
	annotations := map[string]string{} // no annotations have one digest, nil or empty
	maps.Copy(annotations, obj.GetAnnotations())
	in := inputs{self: digestOf([]any{obj.GetUID(), obj.GetGeneration(), annotations}), read: map[string]string{}}
	for ref, value := range read {
		in.read[digestOf(ref)] = digestOf(content(value))
	}
	return in
}

// content is what counts of an object that was read.
func content(value any) any {
	obj, ok := value.(client.Object)
	if !ok {
		return value
	}
	if g := obj.GetGeneration(); g > 0 {
		return []any{obj.GetUID(), g}
	}
	obj = obj.DeepCopyObject().(client.Object)
	obj.SetResourceVersion("")
	obj.SetManagedFields(nil)
	return obj
}

// digestOf is short, since it only has to differ from the one before. What cannot be digested does not change.
func digestOf(v any) string {
	data, err := json.Marshal(v) // the keys of maps are sorted
	if err != nil {
		return "-"
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:5])
}

const inputsPrefix = "not ready yet; the clock runs for "

// String is what is kept.
func (in inputs) String() string {
	var b strings.Builder
	b.WriteString(inputsPrefix + in.self)
	refs := slices.Sorted(maps.Keys(in.read))
	for _, ref := range refs[:min(len(refs), maxInputs)] {
		b.WriteString(" " + ref + "=" + in.read[ref])
	}
	return b.String()
}

// goOn tells whether the inputs are those that were kept, and takes over what this pass has not read: a pass that polls an
// operation reads less than the one that began it.
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
