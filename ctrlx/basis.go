package ctrlx

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
)

// basis returns what the operation of a pass began from. ok is false if that is
// not known.
func (r *core) basis(p *pass) (b record.Basis, ok bool) {
	read, ok := p.reads()
	b = record.Basis{Self: r.selfOf(p.read), Read: read}
	if p.polls {
		since, known := b.Since(p.from)
		return since, ok && known
	}
	return b, ok
}

// basisOfOperation returns the basis that is stored with the operation of a pass;
// nil: it is not known.
func (r *core) basisOfOperation(p *pass) *record.Basis {
	if p.polls {
		return p.from
	}
	if b, ok := r.basis(p); ok {
		return &b
	}
	return nil
}

// selfOf returns a digest of the parts of an object that cause a pass, and of
// the operator.
func (r *core) selfOf(obj client.Object) string {
	return digestOf([]any{r.program, r.opt.revision, obj.GetGeneration(), inputAnnotations(obj), obj.GetOwnerReferences()})
}

// reads returns what the pass read until now, sorted. ok is false if that is too much, or
// if a part cannot be digested.
func (p *pass) reads() (all []record.Read, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.seen)+len(p.sets) > record.MaxRead {
		return nil, false
	}
	ok = true
	selectors := 0 // the record is a condition, whose message has a limit
	add := func(ref checks.Ref, digest string) {
		selectors += len(ref.Set)
		all, ok = append(all, record.Read{Ref: ref, Digest: digest}), ok && digest != undigested && selectors <= maxSelectors
	}
	for i := range p.seen {
		add(p.seen[i].Ref, p.of.digestOfRead(p.seen[i].Object))
	}
	for _, s := range p.sets {
		add(s.ref, p.of.digestOfSet(s))
	}
	record.Sort(all)
	return all, ok
}

// digestOfRead returns a digest of an owner or a reference: its UID, labels,
// annotations and readiness, its generation in place of the spec, and the status
// without the conditions. For an object without a generation, such as a Secret, it
// returns a digest of the resource version, because a digest of the data could be
// compared with guesses.
func (r *core) digestOfRead(o checks.Object) string {
	obj, ok := o.Value.(client.Object)
	if !ok || !o.Found() {
		return digestOf(o.Value)
	}
	if obj.GetGeneration() == 0 {
		return digestOf([]any{obj.GetUID(), obj.GetResourceVersion()})
	}
	status := r.statuses(obj)
	if status == undigested {
		return undigested
	}
	return digestOf([]any{
		obj.GetUID(), obj.GetGeneration(), obj.GetLabels(), obj.GetAnnotations(), o.Deleting, o.Readiness.State, o.Readiness.Observed, status,
	})
}

// maxSelectors is the largest number of bytes of the queries of sets that are stored. A byte may need six.
const maxSelectors = 2000

// maxMembers is the largest number of objects in a set whose digest is stored.
const maxMembers = 100

// digestOfSet returns a digest of the objects of a set. Of the resource itself only
// the presence counts.
func (r *core) digestOfSet(s seenSet) string {
	if len(s.objects) > maxMembers {
		return undigested
	}
	all := map[string]string{}
	for _, o := range s.objects {
		d := "" // of the resource itself
		switch {
		case o.Self:
		case s.names:
			d = strconv.FormatBool(o.Deleting)
		default:
			d = r.digestOfRead(o)
		}
		if d == undigested {
			return undigested
		}
		all[o.Ref.String()] = d
	}
	return digestOf(all)
}

// digestOfStatus returns a digest of the status without the conditions.
func digestOfStatus(obj client.Object) string {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return undigested
	}
	status := content["status"]
	if fields, ok := status.(map[string]any); ok {
		fields = maps.Clone(fields)
		delete(fields, "conditions")
		status = fields
	}
	return digestOf(status)
}

// digest returns a digest of the versions of all objects that a basis depends
// on, for this process. It is much cheaper than a basis. An equal digest proves an
// equal basis; another digest proves nothing. ok is false if an object has no
// version.
func (p *pass) digest() (d uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ok = !p.polls
	add := func(o *checks.Object, nameOnly bool) { // the digest is a sum, because the order does not count
		obj, isObject := o.Value.(client.Object)
		if nameOnly || !o.Found() {
			d += memory.Hash(o.Ref.String(), strconv.FormatBool(o.Deleting))
		} else if ok = ok && isObject && obj.GetResourceVersion() != ""; ok {
			d += digest.OfVersion(obj) // with the UID
		}
	}
	add(&checks.Object{Value: p.read}, false)
	for i := range p.seen {
		add(&p.seen[i].Object, false)
	}
	for _, s := range p.sets {
		d += memory.Hash(s.ref.String())
		for i := range s.objects {
			if !s.objects[i].Self {
				add(&s.objects[i], s.names)
			}
		}
	}
	return d, ok
}

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
	if ok && obj.GetGeneration() == 0 {
		return []any{obj.GetUID(), obj.GetResourceVersion()}
	} else if ok {
		return []any{obj.GetUID(), obj.GetGeneration()}
	}
	return value
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
