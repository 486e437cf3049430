package checks

import (
	"context"
	"reflect"
	"strings"
)

// Ref names an object in the engine that runs the checks. The object may be a Kubernetes object, a
// row of a database, or a resource known only by its cloud ID. A Ref is comparable, so it can be
// the key under which an engine stores waiters. The zero Ref names nothing.
type Ref struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	ID        string `json:"id,omitempty"` // the ID in the cloud; may be the only field that is set
}

// String returns "Kind namespace/name" with the parts that are set. The ID replaces an empty name.
// The zero Ref is "nothing".
func (r Ref) String() string { return sentence("", r) }

// sentence joins before, ref and the texts after it. It allocates only the result.
func sentence(before string, ref Ref, after ...string) string {
	name := ref.Name
	switch {
	case name == "" && ref.ID != "":
		name = ref.ID
	case ref == Ref{}:
		name = "nothing"
	}
	n := len(before) + len(ref.Kind) + len(ref.Namespace) + len(name) + 2
	for _, text := range after {
		n += len(text)
	}
	var b strings.Builder
	b.Grow(n)
	b.WriteString(before)
	b.WriteString(ref.Kind)
	if ref.Kind != "" && name != "" {
		b.WriteByte(' ')
	}
	if ref.Namespace != "" {
		b.WriteString(ref.Namespace)
		b.WriteByte('/')
	}
	b.WriteString(name)
	for _, text := range after {
		b.WriteString(text)
	}
	return b.String()
}

// ByIDOnly reports whether only the cloud ID of the object is known. It is false for the zero Ref.
func (r Ref) ByIDOnly() bool { return r.ID != "" && r == Ref{ID: r.ID} }

// State says whether an object is ready.
type State uint8

const (
	// Unknown is the zero State: no state was reported. It is never treated as ready.
	Unknown State = iota
	// NotReady: the object was reported not ready.
	NotReady
	// Ready: the object was reported ready. [Readiness] says for which generation.
	Ready
)

// String returns "unknown", "not ready" or "ready".
func (s State) String() string {
	switch s {
	case Ready:
		return "ready"
	case NotReady:
		return "not ready"
	}
	return "unknown"
}

// Readiness is the reported readiness of an object. In Kubernetes it is the object's Ready
// condition. The zero Readiness is unknown.
type Readiness struct {
	State   State
	Reason  string // the reported reason, one word
	Message string // the reported message, for people
	// Generation is the generation of the object's spec. Observed is the generation for which State
	// was reported. If Observed is the older one, the readiness is stale and does not count as
	// ready. Both are zero if the object has no generations.
	Generation, Observed int64
}

// stale reports whether State was reported for an older spec.
func (r *Readiness) stale() bool { return r.Observed < r.Generation }

// Object is an object that a check reads: an owner, or the object that a reference names. The zero
// Object means that there is none. An Object with a Ref and no Value was looked up and not found.
// If only Ref.ID is set, only the cloud ID of the object is known.
type Object struct {
	Ref Ref
	// Value is the object itself, usually a pointer to a struct. A nil pointer in it counts as no
	// Value.
	Value     any
	Readiness Readiness
	// Deleting reports that the deletion of the object was requested.
	Deleting bool
}

// Found reports whether the object has a Value.
func (o *Object) Found() bool {
	if o.Value == nil {
		return false
	}
	v := reflect.ValueOf(o.Value)
	return v.Kind() != reflect.Pointer || !v.IsNil()
}

// ready reports whether an object that was found is ready for its own generation.
func (o *Object) ready() bool {
	return !o.Deleting && o.Readiness.State == Ready && !o.Readiness.stale()
}

// none reports whether there is no object: no Ref and no Value.
func (o *Object) none() bool { return o.Ref == Ref{} && !o.Found() }

// Resolver finds the object that ref names. If the object does not exist, it returns an Object with
// Ref and without Value, and no error. An error means that it could not find out.
type Resolver func(ctx context.Context, ref Ref) (Object, error)
