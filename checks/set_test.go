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
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/linktag"
)

// claims is the query of the tests, as a check reads it.
var claims = checks.Query{Kind: "Database", Field: "spec.host", Value: "a", NamesOnly: true}

// claimsOf returns the query without NamesOnly, which the checks set.
func claimsOf(*Database) checks.Query {
	return checks.Query{Kind: "Database", Field: "spec.host", Value: "a"}
}

func lists(lister checks.Lister) request {
	return &checks.Request[*Database]{OwnerRequest: checks.OwnerRequest{Lister: lister}, Resource: &Database{}}
}

func TestUnused(t *testing.T) {
	const still = " objects still use the resource: "
	c := numbered(12)
	set := claims.Ref()
	deleting := c[0]
	deleting.Deleting = true
	noValue := checks.Object{Ref: c[0].Ref}
	me := itself(checks.Object{Ref: lan, Value: 1})
	cases := map[string]struct {
		reason string
		lister checks.Lister
		opts   []checks.Option
		want   answer
	}{
		"Self":     {reason: "the resource itself is no user", lister: listed(me), want: proceeding()},
		"Deleting": {reason: "an object that is being deleted still exists", lister: listed(deleting), want: blocks("InUse", classify.Slow, "hosts: 1 object still uses the resource: Cluster team/c1: waiting until it is gone", set)},
		"NoValue":  {reason: "an object whose content was not read counts", lister: listed(noValue), want: blocks("InUse", classify.Slow, "hosts: 1 object still uses the resource: Cluster team/c1: waiting until it is gone", set)},
		"Twelve": {reason: "further users are counted", lister: listed(append(c, me)...), want: blocks("InUse", classify.Slow, "hosts: 12"+still+
			"Cluster team/c1; Cluster team/c2; Cluster team/c3; Cluster team/c4; Cluster team/c5; Cluster team/c6; Cluster team/c7; Cluster team/c8; Cluster team/c9; Cluster team/c10; and 2 more: waiting until all are gone", set)},
		"Options": {reason: "options change the block", lister: listed(c[0]), opts: []checks.Option{checks.WithReason("HasDatabases"), checks.WithRetry(classify.Fast), checks.WithWaitingFor(prod)},
			want: blocks("HasDatabases", classify.Fast, "hosts: 1 object still uses the resource: Cluster team/c1: waiting until it is gone", prod, set)},
		"Error": {reason: "an error is no empty set", lister: func(context.Context, checks.Query) ([]checks.Object, error) { return nil, errDown }, want: fails("Unused(hosts): every Database with spec.host=a: the index is down")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mustAnswer(t, tc.reason, tc.want, checks.Unused("hosts", claimsOf, tc.opts...), lists(tc.lister))
		})
	}
}

func TestSetIs(t *testing.T) {
	c := numbered(12)
	q := claimsOf(nil)
	set := q.Ref()
	odd := checks.Object{Ref: checks.Ref{Kind: "Odd", Name: "o"}, Value: 1}
	empty := checks.Object{Ref: prod, Value: &Cluster{Version: 7}}
	with := func(o ...checks.Option) []checks.Option { return o }
	old := func(names ...string) (text string) {
		for i, name := range names {
			text += strings.Repeat("; ", min(i, 1)) + "clusters Cluster team/" + name + ": it is old"
		}
		return text
	}
	objection := func(_ *Database, c *Cluster) string {
		switch {
		case c.Version == 7:
			return string(*c.Status.ProvisioningState) // nil
		case c.Version < 2:
			return "it is old"
		}
		return ""
	}
	nilled := nilHere("set_test.go")
	const unread = "clusters Cluster prod has not reported yet the field that SetIs(clusters) reads"
	cases := map[string]struct {
		reason string
		lister checks.Lister
		opts   []checks.Option
		want   answer
	}{
		"Empty":     {reason: "no object has the property", lister: listed(), want: proceeding()},
		"Self":      {reason: "the resource itself does not count", lister: listed(itself(odd), c[0]), want: blocks("ReferenceUnsuitable", classify.Slow, old("c1"), set)},
		"Zero":      {reason: "the zero Object is no answer", lister: listed(c[2], checks.Object{}), want: fails("SetIs(clusters): every Database with spec.host=a: object 2 of 2: the lister returned the zero Object: give each object its Ref and its Value")},
		"Unread":    {reason: "nor is an object that cannot be read", lister: listed(checks.Object{Ref: prod, Value: 1, Whole: func(context.Context) (any, error) { return nil, errDown }}), want: fails("clusters Cluster prod: the index is down")},
		"Two":       {reason: "each object is named", lister: listed(c[0], c[1]), want: blocks("ReferenceUnsuitable", classify.Slow, old("c1", "c2"), set)},
		"WrongKind": {reason: "an object of another type is no answer", lister: listed(odd), want: blocks("ReferenceWrongKind", classify.OnChange, "clusters Odd o is a int, and SetIs(clusters) is for a *checks_test.Cluster: name an object of that kind", set)},
		"Unknown":   {reason: "an unreported field is no answer", lister: listed(empty), want: noting(blocks("ReferenceStateUnknown", classify.Slow, unread, set), nilled)},
		"UnknownOK": {reason: "WithUnknownAllowed proceeds for it", lister: listed(empty), opts: with(checks.WithUnknownAllowed()), want: proceeding(nilled, "clusters Cluster prod has not reported the field that the check reads")},
		"Few":       {reason: "too few objects block", lister: listed(c[2], itself(c[3])), opts: with(checks.WithMinimum(2)), want: blocks("ReferenceNotFound", classify.Slow, "clusters: objects found: 1, required: at least 2", set)},
		"Enough":    {reason: "enough objects do not", lister: listed(c[2], c[3]), opts: with(checks.WithMinimum(2)), want: proceeding()},
		"Verdict":   {reason: "an objection may end the work", lister: listed(c[0]), opts: with(checks.WithVerdict(checks.Finished("Old", ""))), want: answer{Result: checks.Finished("Old", old("c1"))}},
		"VerdictNo": {reason: "an object that cannot be read is no objection", lister: listed(c[0], empty), opts: with(checks.WithVerdict(checks.Finished("Old", ""))), want: noting(blocks("ReferenceStateUnknown", classify.Slow, unread, set), nilled)},
		"Options":   {reason: "options change the block once", lister: listed(c[0], c[1]), opts: with(checks.WithReason("Old"), checks.WithRetry(classify.Fast), checks.WithWaitingFor(prod)), want: blocks("Old", classify.Fast, old("c1", "c2"), set, prod)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mustAnswer(t, tc.reason, tc.want, checks.SetIs("clusters", claimsOf, objection, tc.opts...), lists(tc.lister))
		})
	}
}

// TestListedSets: the tag of a check of a set has its query, also after a conversion.
func TestListedSets(t *testing.T) {
	unused := chain.New(checks.Unused("hosts", claimsOf))
	converted := checks.Convert(unused, func(*Deep) (*Database, error) { return &Database{}, nil })
	lists := func(tag any) []func(any) any { return tag.(linktag.Check).Lists }
	for name, got := range map[string]any{
		"Unused":    lists(unused.Links()[0].Tag)[0](&checks.Request[*Database]{}),
		"Converted": lists(converted.Links()[0].Tag)[0](&checks.Request[*Deep]{}),
	} {
		if got != claims.Ref() {
			t.Errorf("%s lists %v, want %v", name, got, claims.Ref())
		}
	}
	if !unused.Links()[0].Tag.(linktag.Check).BeforeGet {
		t.Error("Unused needs a Get")
	}
}

func TestUnique(t *testing.T) {
	c := numbered(3)
	set := claims.Ref()
	const text = "host: Cluster team/c1 is older and has the same: change one of them, or delete it"
	deleting := c[0]
	deleting.Deleting = true
	cases := map[string]struct {
		reason string
		lister checks.Lister
		opts   []checks.Option
		want   answer
	}{
		"First":    {reason: "the oldest object keeps its claim", lister: listed(itself(c[0]), c[1], c[2]), want: proceeding()},
		"Second":   {reason: "a later object waits for the set", lister: listed(c[0], itself(c[1]), c[2]), want: blocks("NotUnique", classify.Slow, text, set)},
		"Deleting": {reason: "an object that is being deleted keeps its claim", lister: listed(deleting, itself(c[1])), want: blocks("NotUnique", classify.Slow, text, set)},
		"Options":  {reason: "options change the block", lister: listed(c[0], itself(c[1])), opts: []checks.Option{checks.WithReason("HostTaken"), checks.WithRetry(classify.OnChange)}, want: blocks("HostTaken", classify.OnChange, text, set)},
		"NotSelf": {reason: "a set without the resource names other claims", lister: listed(c[0]),
			want: fails("Unique(host): the set every Database with spec.host=a does not contain the resource: the query must match the resource, too")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mustAnswer(t, tc.reason, tc.want, checks.Unique("host", claimsOf, tc.opts...), lists(tc.lister))
		})
	}
}

// TestSetChecksQuery: both checks give the lister the query, for names only, and
// refuse a query that names no set.
func TestSetChecksQuery(t *testing.T) {
	for name, make := range map[string]func(string, func(*Database) checks.Query, ...checks.Option) link{"Unused": checks.Unused[*Database], "Unique": checks.Unique[*Database]} {
		t.Run(name, func(t *testing.T) {
			var asked []checks.Query
			req := lists(func(_ context.Context, q checks.Query) ([]checks.Object, error) {
				asked = append(asked, q)
				return []checks.Object{itself(numbered(1)[0])}, nil
			})
			mustAnswer(t, "the check asks for names only", proceeding(), make("a", claimsOf), req)
			if diff := cmp.Diff([]checks.Query{claims}, asked); diff != "" {
				t.Errorf("the queries: -want, +got:\n%s", diff)
			}
			mustAnswer(t, "a query without a Kind is an error", fails(name+"(a): every object: the query has no Kind: name the kind of the objects"),
				make("a", func(*Database) checks.Query { return checks.Query{} }), req)
			_, err := ask(t, make("a", func(d *Database) checks.Query { return checks.Query{Kind: *d.Status.ProvisioningState} }), req)
			mustNameNil(t, err, name+"(a)", "set_test.go", "return a query only of fields that are set")
		})
	}
}

func TestOwnerFrom(t *testing.T) {
	owner := checks.OwnerFrom(func(d *Database) checks.Query {
		return checks.Query{Kind: "Cluster", Selector: "region=" + *d.Status.ProvisioningState}
	})
	got, err := owner(t.Context(), &Database{Status: &DatabaseStatus{ProvisioningState: new("north")}})
	want := checks.Object{Ref: checks.Query{Kind: "Cluster", Selector: "region=north"}.Ref()}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("the owner is named by the query: %v, -want, +got:\n%s", err, diff)
	}
	got, err = owner(t.Context(), &Database{})
	if cmp.Diff(checks.Object{}, got) != "" {
		t.Errorf("a query that fails names no owner: %v", got)
	}
	mustNameNil(t, err, "OwnerFrom", "set_test.go", "return a query only of fields that are set")
}

// TestOwnerOfSet: an owner that a query names and that is not one object blocks
// every owner check, with different reasons for none and several.
func TestOwnerOfSet(t *testing.T) {
	set := checks.Query{Kind: "Cluster", Namespace: "team"}.Ref()
	none := checks.Object{Ref: set}
	several := checks.Object{Ref: set, Partial: "2 objects exist, and exactly one may: Cluster team/c1; Cluster team/c2"}
	links := map[string]ownerLink{
		"OwnerReady":             checks.OwnerReady(),
		"OwnerFound":             checks.OwnerFound(),
		"OwnerIs":                checks.OwnerIs("is", func(*Cluster) string { return "" }),
		"OwnerIs/Allowed":        checks.OwnerIs("is", func(*Cluster) string { return "" }, checks.WithUnknownAllowed()),
		"OwnerProvisioningState": checks.OwnerProvisioningState(func(c *Cluster) *string { return c.Status.ProvisioningState }),
	}
	for name, link := range links {
		t.Run(name, func(t *testing.T) {
			mustAnswer(t, "an empty set is awaited", blocks("OwnerNotFound", classify.Fast, "owner every Cluster in team: no such object exists: waiting until one is created", set),
				link, &checks.OwnerRequest{Owner: none})
			mustAnswer(t, "several objects are named", blocks("OwnerAmbiguous", classify.Slow, "owner every Cluster in team: "+several.Partial, set),
				link, &checks.OwnerRequest{Owner: several})
			mustAnswer(t, "a deletion does not wait for an owner", proceeding("the owner is missing or being deleted, so it does not block this deletion"),
				link, &checks.OwnerRequest{Owner: several, Deleting: true})
		})
	}
}

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
	for reason, set := range map[string]string{
		"a malformed text is no query":            "selector=%zz",
		"keys in another order are not canonical": "selector=&field=a",
		"only true is a value of names":           "names=1&selector=",
	} {
		if q, ok := (checks.Ref{Kind: "Cluster", Set: set}).Query(); ok || q != (checks.Query{}) {
			t.Errorf("%s: %#v, %t", reason, q, ok)
		}
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
		"Nil": {reason: "a nil Lister cannot list", q: q, err: "every Cluster: the request has no lister: give the reconciler one with flow.WithLister", is: checks.ErrNoLister},
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
