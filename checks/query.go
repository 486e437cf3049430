package checks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/windlass-go/windlass/internal/text"
)

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

// AllNamespaces as [Query.Namespace] selects the objects of all namespaces.
const AllNamespaces = "*"

// ErrNoLister is the error of a check that has to list objects if the request
// has no Lister. Test for it with errors.Is.
var ErrNoLister = errors.New("the request has no lister: give the reconciler one with flow.WithLister")

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
	others := slices.DeleteFunc(slices.Clone(objects), func(o Object) bool { return o.Self })
	switch len(others) {
	case 0:
		return Object{Ref: q.Ref()}, nil
	case 1:
		return others[0], nil
	}
	return Object{Ref: q.Ref(), Partial: text.Thousands(len(others)) + " objects exist, and exactly one may: " + namesOf(others)}, nil
}

// namesOf returns the names of objects, up to a bound.
func namesOf(objects []Object) string {
	var names listing
	for i := range objects {
		names.add(objects[i].Ref.String())
	}
	return names.String()
}

// Ref returns the set as an awaited object, for [WithWaitingFor], [Follow] and
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

// QueryOf returns the query that [Query.Ref] made ref of. ok is false for any
// other ref: it names an object, or its Set is not the text of a query.
func QueryOf(ref Ref) (q Query, ok bool) {
	if ref.Set == "" {
		return Query{}, false
	}
	set, _ := url.ParseQuery(ref.Set) // a malformed text is not canonical
	q = Query{
		Group: ref.Group, Kind: ref.Kind, Namespace: ref.Namespace, Selector: set.Get("selector"),
		Field: set.Get("field"), Value: set.Get("value"), NamesOnly: set.Get("names") == "true",
	}
	if q.Ref() != ref {
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
