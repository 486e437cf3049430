package checks

import (
	"cmp"
	"context"
	"reflect"

	"github.com/windlass-go/windlass/internal/text"
)

// Ref names an object: a Kubernetes object, a row of a database, or a resource
// known only by its cloud ID. A Ref with a Set names a set of objects
// ([Query.Ref]). A Ref is comparable, so it can be the key under which an engine
// stores waiters. The zero Ref names nothing.
type Ref struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	ID        string `json:"id,omitempty"` // the ID in the cloud; may be the only field that is set
	// Set is the canonical text of a set of objects. Only [Query.Ref] makes it,
	// and [QueryOf] reads it.
	Set string `json:"set,omitempty"`
}

// String returns "Kind.group namespace/name" with the parts that are set, on one
// line of at most 1,000 bytes, such as "Deployment.apps team/web". kubectl
// accepts this form of a kind. Every message names an object in this way,
// because two groups may have a kind of the same name. Without a Kind, the group
// is left out. The ID replaces an empty name. Without a name, the namespace
// follows: "ConfigMap in team". The zero Ref is "nothing". A set is printed as by
// [Query.String].
func (r Ref) String() string { return text.Line(sentence("", &r), text.Object) }

// sentence joins before, the name of ref, and after. A nil ref has no name.
// Only the result is allocated, unless it is long, and nothing if before is
// all.
func sentence(before string, ref *Ref, after ...string) string {
	if ref == nil && len(after) == 0 {
		return before
	}
	var room [256]byte
	b := append(room[:0], before...)
	if ref != nil {
		b = ref.appendTo(b)
	}
	for _, text := range after {
		b = append(b, text...)
	}
	return string(b)
}

// appendTo appends the name of the object or the set.
func (r *Ref) appendTo(b []byte) []byte {
	if q, ok := QueryOf(*r); ok {
		return append(b, q.words()...)
	}
	name := cmp.Or(r.Name, r.ID, r.Set)
	if r.Kind == "" && name == "" {
		name = "nothing"
	}
	b = append(b, r.Kind...)
	if r.Kind != "" && r.Group != "" {
		b = append(append(b, '.'), r.Group...)
	}
	if r.Kind != "" && name != "" {
		b = append(b, ' ')
	}
	if r.Namespace != "" && r.Name != "" {
		b = append(append(b, r.Namespace...), '/')
	}
	b = append(b, name...)
	if r.Namespace != "" && r.Name == "" {
		b = append(append(b, " in "...), r.Namespace...)
	}
	return b
}

// ByIDOnly reports whether only the cloud ID of the object is known. It is
// false for the zero Ref.
func (r Ref) ByIDOnly() bool { return r.ID != "" && r == Ref{ID: r.ID} }

// State says whether an object is ready.
type State uint8

const (
	// Unknown: no state was reported. It is never treated as ready.
	Unknown State = iota
	// NotReady: the object was reported not ready.
	NotReady
	// Ready: the object was reported ready, for the generation in [Readiness].
	Ready
)

// String returns "unknown", "not ready" or "ready".
func (s State) String() string {
	if s > Ready {
		s = Unknown
	}
	return [...]string{"unknown", "not ready", "ready"}[s]
}

// Readiness is the reported readiness of an object. In Kubernetes it is the
// object's Ready condition. The zero Readiness is unknown.
type Readiness struct {
	State   State
	Reason  string // the reported reason, one word
	Message string // the reported message, for people
	// Generation is the generation of the object's spec. Observed is the
	// generation for which State was reported. If Observed is older, the
	// readiness is stale and does not count as ready. Both are zero if the
	// object has no generations.
	Generation, Observed int64
}

// Object is an object that a check reads: an owner, or a referenced object. An
// object with a Value was found. Without a Value, Ref says what is known:
//
//	Ref                           the object
//	the zero Ref                  there is none: a root resource has no owner
//	a Kind, without Name and ID   one is needed, and no reference names it yet
//	only an ID                    only its cloud ID is known
//	a Ref with a Set              it is the one object of the set, and not found
//	any other Ref                 it was looked up and not found
type Object struct {
	Ref Ref
	// Value is the object itself, usually a pointer to a struct. A nil pointer
	// counts as no Value.
	Value     any
	Readiness Readiness
	// Deleting reports that the deletion of the object was requested.
	Deleting bool
	// Self reports that the object is the resource of the request. Only a
	// [Lister] sets it.
	Self bool
	// Partial says why Value lacks parts of the object, and how to get them. A
	// typed check whose type is not that of Value then blocks with this text.
	// Empty: Value is the whole object.
	Partial string
}

// Found reports whether the object has a Value.
func (o *Object) Found() bool {
	if o.Value == nil {
		return false
	}
	v := reflect.ValueOf(o.Value)
	return v.Kind() != reflect.Pointer || !v.IsNil()
}

// ready reports whether the object was found and is ready for its own
// generation.
func (o *Object) ready() bool {
	r := &o.Readiness
	return r.State == Ready && r.Observed >= r.Generation && !o.Deleting && o.Found()
}

// none reports whether there is no object: no Ref and no Value.
func (o *Object) none() bool { return o.Ref == Ref{} && !o.Found() }

// named reports whether the object was found, or a reference or a query names
// it.
func (o *Object) named() bool {
	return o.Ref.Name != "" || o.Ref.ID != "" || o.Ref.Set != "" || o.Found()
}

// Resolver finds the object that ref names. If the object does not exist, it
// returns an Object with Ref and without Value, and no error. An error means
// that it could not find out.
type Resolver func(ctx context.Context, ref Ref) (Object, error)
