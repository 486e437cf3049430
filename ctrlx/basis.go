package ctrlx

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
)

// success is the last success of an object, as it is stored.
type success struct {
	UID  types.UID   `json:"uid"`
	Time metav1.Time `json:"time"`
	basis
}

// basis holds digests of the inputs of an object when it was applied.
type basis struct {
	Self string       `json:"self"`           // of the object, the executable and the revision
	Read []readObject `json:"read,omitempty"` // the owner and the references, sorted
}

// readObject is an owner or a reference that a pass read.
type readObject struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Set       string `json:"set,omitempty"` // see checks.Ref
	Digest    string `json:"digest"`
}

func (s *readObject) ref() checks.Ref {
	return checks.Ref{Group: s.Group, Kind: s.Kind, Namespace: s.Namespace, Name: s.Name, Set: s.Set}
}

func compareRead(a, b readObject) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Set, b.Set))
}

// basis returns what the operation of a pass began from. ok is false if that is
// not known.
func (r *Reconciler[T]) basis(p *pass) (b basis, ok bool) {
	read, why := p.reads()
	b = basis{Self: r.selfOf(p.read), Read: read}
	if why != "" || b.Self == undigested {
		return b, false
	}
	if p.polls && !p.began {
		return b.since(p.from)
	}
	return b, true
}

// basisOfOperation returns the basis that is stored with the operation of a pass;
// nil: it is not known.
func (r *Reconciler[T]) basisOfOperation(p *pass) *basis {
	switch {
	case p == nil:
		return nil
	case p.polls && !p.began:
		return p.from
	}
	b, ok := r.basis(p)
	if !ok {
		return nil
	}
	return &b
}

// since returns the basis of an operation that began from another basis, and
// ended in a pass that read b. ok is false if something changed meanwhile.
func (b basis) since(from *basis) (_ basis, ok bool) {
	if from == nil || from.Self != b.Self {
		return b, false
	}
	all := slices.Clone(b.Read)
	for _, s := range from.Read {
		i := slices.IndexFunc(b.Read, func(o readObject) bool { return o.ref() == s.ref() })
		if i < 0 {
			all = append(all, s)
		} else if b.Read[i] != s {
			return b, false
		}
	}
	slices.SortFunc(all, compareRead)
	return basis{b.Self, all}, len(all) <= maxBasis
}

// covers reports whether an object that was applied from b was applied from
// other, too: b may have read more.
func (b basis) covers(other basis) bool {
	return b.Self == other.Self && !slices.ContainsFunc(other.Read, func(o readObject) bool { return !slices.Contains(b.Read, o) })
}

// selfOf returns a digest of the parts of an object that cause a pass, and of
// the operator.
func (r *Reconciler[T]) selfOf(obj client.Object) string {
	return digestOf([]any{r.program, r.opt.quiet.revision, obj.GetGeneration(), inputAnnotations(obj), obj.GetOwnerReferences()})
}

// reads returns what the pass read until now, sorted. why says why that is
// not known; empty: it is.
func (p *pass) reads() (all []readObject, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.seen)+len(p.sets) > maxBasis {
		return nil, fmt.Sprintf("the pass read more than %d objects", maxBasis)
	}
	for i := range p.seen {
		ref := p.seen[i].Ref
		s := readObject{Group: ref.Group, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, Digest: digestOfRead(p.seen[i].Object)}
		if s.Digest == undigested {
			return nil, ref.String() + " cannot be digested"
		}
		all = append(all, s)
	}
	for _, s := range p.sets {
		digest := digestOfSet(s)
		if digest == undigested {
			return nil, fmt.Sprintf("%s has more than %d objects, or one that cannot be digested", s.ref, maxMembers)
		}
		all = append(all, readObject{Group: s.ref.Group, Kind: s.ref.Kind, Namespace: s.ref.Namespace, Set: s.ref.Set, Digest: digest})
	}
	slices.SortFunc(all, compareRead)
	return all, ""
}

// digestOfRead returns a digest of an owner or a reference: its UID, labels,
// annotations and readiness, its generation in place of the spec, and the status
// without the conditions. For an object without a generation, such as a Secret, it
// returns a digest of the resource version, because a digest of the data could be
// compared with guesses.
func digestOfRead(o checks.Object) string {
	if !o.Found() {
		return "absent"
	}
	obj, ok := o.Value.(client.Object)
	if !ok {
		return digestOf(o.Value)
	}
	if obj.GetGeneration() == 0 {
		return digestOf([]any{obj.GetUID(), obj.GetResourceVersion()})
	}
	status, err := statusWithoutConditions(obj)
	if err != nil {
		return undigested
	}
	return digestOf([]any{
		obj.GetUID(), obj.GetGeneration(), obj.GetLabels(), obj.GetAnnotations(), o.Deleting, o.Readiness.State, o.Readiness.Observed, status,
	})
}

// maxMembers is the largest number of objects in a set whose digest is stored.
const maxMembers = 100

// digestOfSet returns a digest of the objects of a set, in their order. Of the
// resource itself only the presence counts.
func digestOfSet(s seenSet) string {
	if len(s.objects) > maxMembers {
		return undigested
	}
	all := make([]string, 0, 2*len(s.objects))
	for _, o := range s.objects {
		all = append(all, o.Ref.Namespace+"/"+o.Ref.Name)
		switch {
		case o.Self:
			all = append(all, "self")
		case s.names:
			all = append(all, fmt.Sprint(o.Deleting))
		default:
			d := digestOfRead(o)
			if d == undigested {
				return undigested
			}
			all = append(all, d)
		}
	}
	return digestOf(all)
}

func statusWithoutConditions(obj client.Object) (any, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	status, ok := content["status"].(map[string]any)
	if !ok {
		return content["status"], nil
	}
	status = maps.Clone(status)
	delete(status, "conditions")
	return status, nil
}
