package checks

import (
	"context"
	"reflect"
	"strings"
)

// Ref names an object in the engine that runs the checks: a Kubernetes object, a row of a database, or something known
// by its cloud ID only. It is comparable, so that it can be the key of those who wait for it. The zero Ref names nothing.
type Ref struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	ID        string `json:"id,omitempty"` // the ID in the cloud; alone if that is all that is known
}

// String is "Kind namespace/name" with the parts that are set, or the ID if there is nothing else. The zero Ref is "nothing".
func (r Ref) String() string { return sentence("", r) }

// sentence puts texts around a Ref. It allocates the result only.
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

// ByIDOnly tells whether the object is known by its cloud ID and nothing else. The zero Ref is not.
func (r Ref) ByIDOnly() bool { return r.ID != "" && r == Ref{ID: r.ID} }

// State is whether an object is ready.
type State uint8

const (
	// Unknown is the zero State: nobody reported. It never counts as ready.
	Unknown State = iota
	// NotReady was reported.
	NotReady
	// Ready was reported; whether for the present generation, [Readiness] tells.
	Ready
)

// String is "unknown", "not ready" or "ready".
func (s State) String() string {
	switch s {
	case Ready:
		return "ready"
	case NotReady:
		return "not ready"
	}
	return "unknown"
}

// Readiness is what an object's owner of record says of it: in Kubernetes its Ready condition. The zero Readiness is
// unknown.
type Readiness struct {
	State   State
	Reason  string // the reason given with it, one word
	Message string // the message given with it, for a person
	// Generation is the generation of the object's spec, Observed the one that State was reported for. Readiness of an
	// older generation is stale: it does not count as ready. Both zero: the object has no generations.
	Generation, Observed int64
}

// stale tells that State was reported for an older spec.
func (r Readiness) stale() bool { return r.Observed < r.Generation }

// Object is an object that a check looks at: an owner, or what a reference names. The zero Object is none at all. With
// Ref and no Value it was looked for and not found, and with nothing but Ref.ID it is known by its cloud ID only.
type Object struct {
	Ref Ref
	// Value is the object itself, usually a pointer to a struct. A nil pointer in it counts as no Value.
	Value     any
	Readiness Readiness
	// Deleting says that its deletion was asked for.
	Deleting bool
}

// Found tells whether there is a Value.
func (o *Object) Found() bool {
	if o.Value == nil {
		return false
	}
	v := reflect.ValueOf(o.Value)
	return v.Kind() != reflect.Pointer || !v.IsNil()
}

// none tells whether it is the zero Object, or as good as that.
func (o *Object) none() bool { return o.Ref == Ref{} && !o.Found() }

// Resolver finds the object that ref names. An object that is not there is no error: the answer is an Object with Ref
// and without Value. An error means that it could not be found out.
type Resolver func(ctx context.Context, ref Ref) (Object, error)
