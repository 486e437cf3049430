package ctrlx

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/record"
)

// inputsOf returns a clock that does not run, with the inputs of an object: digests of
// its generation and annotations, and of the content of its owner and references. They
// are the same in every process, unlike those of internal/digest. The status of a
// reference does not count: a status that is written every minute would start the clock
// again every minute. Nor do dependents.
func inputsOf(obj client.Object, p *pass) *record.Clock {
	c := &record.Clock{Self: digestOf([]any{obj.GetGeneration(), inputAnnotations(obj)})}
	for i := range p.seen {
		if s := &p.seen[i]; !s.dependent {
			c.Add(digestOf(s.Ref), digestOf(content(s.Value)))
		}
	}
	return c
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
