package checks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"

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
	// and [Ref.Query] reads it.
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
	if q, ok := r.Query(); ok {
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
	// Whole reads the whole object, for a typed check whose type is not that of
	// Value. It returns nil if the object does not exist. Nil: it cannot be read.
	Whole func(ctx context.Context) (any, error)
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

// Presence says whether the resource is in the cloud.
type Presence uint8

const (
	// PresenceUnknown: the engine has not looked for the resource. It never
	// counts as absent.
	PresenceUnknown Presence = iota
	// Absent: the engine looked for the resource and did not find it.
	Absent
	// Present: the engine found the resource in the cloud.
	Present
)

// String returns "unknown", "absent" or "present".
func (p Presence) String() string {
	if p > Present {
		p = PresenceUnknown
	}
	return [...]string{"unknown", "absent", "present"}[p]
}

// PresenceOf returns Present if found, else Absent. Use it only after a lookup
// that succeeded.
func PresenceOf(found bool) Presence {
	if found {
		return Present
	}
	return Absent
}

// Bounds of a message that lists several texts.
const (
	mostTexts = 10
	mostBytes = 1000 // of one text
)

// listing joins texts into one message of bounded length. The zero listing is
// empty.
type listing struct {
	n    int // the number of texts, including those left out
	text string
}

// add adds one text, which consists of parts.
func (l *listing) add(parts ...string) {
	l.n++
	if l.n > mostTexts {
		return
	}
	added := text.Line(strings.Join(parts, ""), mostBytes)
	if l.n > 1 {
		added = l.text + "; " + added
	}
	l.text = added
}

// String returns the texts and the number of texts left out.
func (l *listing) String() string {
	if l.n <= mostTexts {
		return l.text
	}
	return l.text + "; and " + text.Thousands(l.n-mostTexts) + " more"
}

// Query names a set of objects: those of a kind that meet each condition. A
// Query is comparable data. [Query.Ref] makes an awaited object of it.
type Query struct {
	// Group and Kind name the kind of the objects. A Query without a Kind is
	// not valid: the check that uses it fails.
	Group, Kind string
	// Namespace selects the objects of one namespace, or of all namespaces
	// ([AllNamespaces]). Empty: the namespace of the resource, if the kind has
	// namespaces.
	Namespace string
	// Selector is a label selector in the syntax of kubectl -l, such as
	// "app=web,tier!=cache". Empty: every object.
	Selector string
	// Field selects the objects whose indexed field has the value Value. The
	// engine defines the fields (ctrlx.WithIndex). Without a Field there is no
	// such condition, and Value has no effect.
	Field, Value string
	// NamesOnly states that the check reads only which objects are in the set,
	// and not their content. The engine can then list large sets and leave out
	// changes of content.
	NamesOnly bool
}

// WithValue returns q with the value: the objects whose indexed field has it. So an
// index and its queries can share one Query.
func (q Query) WithValue(value string) Query {
	q.Value = value
	return q
}

// AllNamespaces as [Query.Namespace] selects the objects of all namespaces.
const AllNamespaces = "*"

// Lister lists the set that q names, from the oldest object to the newest, and
// objects of one age by namespace and name. If the set contains the resource
// itself, that object has Self set. With [Query.NamesOnly] an Object has its
// Ref, Deleting and Self, and a Value without content. An error means that the
// Lister could not find out. The zero Object in the list is an error, too.
type Lister func(ctx context.Context, q Query) ([]Object, error)

// Only returns the one object of the set that q names. The resource itself does
// not count. If the set has no object or several, Only returns an Object with
// the Ref of q and without a Value. Partial then names several objects, up to a
// bound. The flow finds the owner of [OwnerFrom] in this way. For a nil Lister
// the error wraps [ErrNoLister].
func (l Lister) Only(ctx context.Context, q Query) (Object, error) {
	objects, err := l.list(ctx, q)
	if err != nil {
		return Object{}, err
	}
	switch all := others(objects); len(all) {
	case 0:
		return Object{Ref: q.Ref()}, nil
	case 1:
		return all[0], nil
	default:
		return Object{Ref: q.Ref(), Partial: text.Thousands(len(all)) + " objects exist, and exactly one may: " + namesOf(all)}, nil
	}
}

// others returns the objects except for the resource itself.
func others(objects []Object) (all []Object) {
	for _, o := range objects {
		if !o.Self {
			all = append(all, o)
		}
	}
	return all
}

// namesOf returns the names of objects, up to a bound.
func namesOf(objects []Object) string {
	var names listing
	for i := range objects {
		names.add(objects[i].Ref.String())
	}
	return names.String()
}

// Ref returns the set as an awaited object, for [WithWaitingFor], [OwnerRequest.Follow] and
// all other places that take a Ref. Its Set is never empty. Equal queries have
// equal refs, and different queries have different refs.
func (q Query) Ref() Ref {
	var set []byte
	add := func(key, value string) { set = append(append(append(set, key...), '='), url.QueryEscape(value)...) }
	if q.Field != "" {
		add("field", q.Field)
		set = append(set, '&')
	}
	if q.NamesOnly {
		set = append(set, "names=true&"...)
	}
	add("selector", q.Selector)
	if q.Value != "" {
		set = append(set, '&')
		add("value", q.Value)
	}
	return Ref{Group: q.Group, Kind: q.Kind, Namespace: q.Namespace, Set: string(set)}
}

// Query returns the query that [Query.Ref] made r of. ok is false for any other
// Ref: it names an object, or its Set is not the text of a query.
func (r Ref) Query() (q Query, ok bool) {
	if r.Set == "" {
		return Query{}, false
	}
	set, _ := url.ParseQuery(r.Set) // a malformed text is not canonical
	q = Query{
		Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Selector: set.Get("selector"),
		Field: set.Get("field"), Value: set.Get("value"), NamesOnly: set.Get("names") == "true",
	}
	if q.Ref() != r {
		return Query{}, false
	}
	return q, true
}

// String returns the set in words, on one line of at most 1,000 bytes, such as
// "every Database.example.com in team with app=web and spec.cluster=demo".
func (q Query) String() string { return text.Line(q.words(), text.Object) }

func (q Query) words() string {
	var b strings.Builder
	b.WriteString("every " + cmp.Or(q.Kind, "object"))
	if q.Kind != "" && q.Group != "" {
		b.WriteString("." + q.Group)
	}
	switch q.Namespace {
	case "":
	case AllNamespaces:
		b.WriteString(" in all namespaces")
	default:
		b.WriteString(" in " + q.Namespace)
	}
	join := " with "
	if q.Selector != "" {
		b.WriteString(join + q.Selector)
		join = " and "
	}
	if q.Field != "" {
		b.WriteString(join + q.Field + "=" + q.Value)
	}
	return b.String()
}

// list calls l. It refuses a query without a Kind, and the zero Object.
func (l Lister) list(ctx context.Context, q Query) ([]Object, error) {
	switch {
	case q.Kind == "":
		return nil, fmt.Errorf("%s: %w", q, errNoKind)
	case l == nil:
		return nil, fmt.Errorf("%s: %w", q, ErrNoLister)
	}
	objects, err := l(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", q, err)
	}
	for i := range objects {
		if objects[i].none() { // as an owner, it would count as none
			return nil, fmt.Errorf("%s: object %d of %d: %w", q, i+1, len(objects), errNoObject)
		}
	}
	return objects, nil
}

var errNoObject = errors.New("the lister returned the zero Object: give each object its Ref and its Value")

var errNoKind = errors.New("the query has no Kind: name the kind of the objects")
