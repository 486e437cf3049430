package checks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/checks"
	"pgregory.net/rapid"
)

func queries() *rapid.Generator[checks.Query] {
	anyText := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "*", "names=true", "&", "=", "%", "%zz", "+", ";", "\x00", "\xff", "\n", "ü"}), rapid.String())
	return rapid.Custom(func(t *rapid.T) checks.Query {
		return checks.Query{
			Group: anyText.Draw(t, "group"), Kind: anyText.Draw(t, "kind"), Namespace: anyText.Draw(t, "namespace"),
			Selector: anyText.Draw(t, "selector"), Field: anyText.Draw(t, "field"), Value: anyText.Draw(t, "value"), NamesOnly: rapid.Bool().Draw(t, "names only"),
		}
	})
}

// TestQueryRef: a Ref holds a whole query, whatever its texts are.
func TestQueryRef(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, o := queries().Draw(t, "q"), queries().Draw(t, "o")
		ref := q.Ref()
		if back, ok := ref.Query(); !ok || back != q {
			t.Fatalf("(%#v).Query() = %#v, %t", ref, back, ok)
		}
		if (q == o) != (ref == o.Ref()) {
			t.Fatalf("%#v and %#v have the refs %#v and %#v", q, o, ref, o.Ref())
		}
		switch {
		case ref.Set == "" || ref == (checks.Ref{}):
			t.Fatalf("the ref %#v of %#v names no set", ref, q)
		case ref.String() != q.String():
			t.Fatalf("the ref is %q, and the query is %q", ref, q)
		case len(q.String()) > 1000 || strings.ContainsAny(q.String(), "\n\x00") || !utf8.ValidString(q.String()):
			t.Fatalf("%#v is printed as %q", q, q)
		}
		if set := ref.Set; strings.Trim(set, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~%+&=") != "" {
			t.Fatalf("the set %q is not plain text", set)
		}
	})
}

func TestRefQuery(t *testing.T) {
	all := checks.Query{Kind: "Cluster"}.Ref()
	with := func(change func(*checks.Ref)) checks.Ref {
		ref := all
		change(&ref)
		return ref
	}
	cases := map[string]struct {
		reason string
		ref    checks.Ref
	}{
		"Malformed": {"a malformed text is no query", with(func(r *checks.Ref) { r.Set = "selector=%zz" })},
		"Order":     {"keys in another order are not canonical", with(func(r *checks.Ref) { r.Set = "selector=&field=a" })},
		"Names":     {"only true is a value of names", with(func(r *checks.Ref) { r.Set = "names=1&selector=" })},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q, ok := tc.ref.Query()
			if ok || q != (checks.Query{}) {
				t.Errorf("%s: (%#v).Query() = %#v, %t", tc.reason, tc.ref, q, ok)
			}
		})
	}
}

func TestQueryString(t *testing.T) {
	cases := map[string]struct {
		reason string
		q      checks.Query
		want   string
	}{
		"Group":   {"a group means nothing without a kind", checks.Query{Group: "example.com"}, "every object"},
		"Value":   {"an index shares its query", checks.Query{Kind: "Database", Field: "spec.cluster"}.WithValue("demo"), "every Database with spec.cluster=demo"},
		"Whole":   {"each condition is a part", checks.Query{Group: "example.com", Kind: "Database", Namespace: "team", Selector: "app=web", Field: "spec.cluster", Value: "demo"}, "every Database.example.com in team with app=web and spec.cluster=demo"},
		"All":     {"all namespaces are named in words", checks.Query{Kind: "Cluster", Namespace: checks.AllNamespaces}, "every Cluster in all namespaces"},
		"NoValue": {"an empty value is a value", checks.Query{Kind: "Cluster", Field: "spec.host"}, "every Cluster with spec.host="},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.q.String(); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
			if got := tc.q.Ref().String(); got != tc.want {
				t.Errorf("%s: the ref is %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
	t.Run("JSON", func(t *testing.T) {
		ref := checks.Query{Kind: "Cluster", Namespace: "team", Selector: "a=b"}.Ref()
		text, err := json.Marshal(ref)
		var back checks.Ref
		if want := `{"kind":"Cluster","namespace":"team","set":"selector=a%3Db"}`; err != nil || string(text) != want {
			t.Errorf("%s, %v, want %s", text, err, want)
		}
		if err := json.Unmarshal(text, &back); err != nil || back != ref {
			t.Errorf("read back: %#v, %v", back, err)
		}
	})
}

// listed is a Lister of these objects.
func listed(objects ...checks.Object) checks.Lister {
	return func(context.Context, checks.Query) ([]checks.Object, error) { return objects, nil }
}

// numbered returns n objects, the oldest first.
func numbered(n int) []checks.Object {
	objects := make([]checks.Object, n)
	for i := range objects {
		objects[i] = checks.Object{Ref: checks.Ref{Kind: "Cluster", Namespace: "team", Name: fmt.Sprint("c", i+1)}, Value: &Cluster{Version: i}}
	}
	return objects
}

func itself(o checks.Object) checks.Object {
	o.Self = true
	return o
}

func TestListerOnly(t *testing.T) {
	q := checks.Query{Kind: "Cluster"}
	c, me := numbered(12), itself(checks.Object{Ref: lan, Value: 1})
	cases := map[string]struct {
		reason string
		lister checks.Lister
		q      checks.Query
		want   checks.Object
		err    string
		is     error
	}{
		"Self": {reason: "the resource itself does not count", lister: listed(me, c[0]), q: q, want: c[0]},
		"None": {reason: "an empty set has the ref of the query", lister: listed(), q: q, want: checks.Object{Ref: q.Ref()}},
		"Several": {reason: "several objects are named", lister: listed(c[0], me, c[1]), q: q,
			want: checks.Object{Ref: q.Ref(), Partial: "2 objects exist, and exactly one may: Cluster team/c1; Cluster team/c2"}},
		"Error":  {reason: "an error is no empty set", lister: func(context.Context, checks.Query) ([]checks.Object, error) { return numbered(1), errDown }, q: q, err: "every Cluster: the index is down", is: errDown},
		"Nil":    {reason: "a nil Lister cannot list", q: q, err: "every Cluster: the request has no lister: give the reconciler one with flow.WithLister", is: checks.ErrNoLister},
		"NoKind": {reason: "a query without a Kind names no set", lister: listed(c[0]), q: checks.Query{Selector: "a"}, err: "every object with a: the query has no Kind: name the kind of the objects"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.lister.Only(t.Context(), tc.q)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if text := fmt.Sprint(err); (tc.err != "" || err != nil) && text != tc.err || tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("%s: the error is %q, want %q", tc.reason, text, tc.err)
			}
		})
	}
}
