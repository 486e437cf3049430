package plugin

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
)

func TestState(t *testing.T) {
	of := func(ready, reason, more string) map[string]any {
		return map[string]any{"metadata": map[string]any{"generation": int64(2)}, "status": conditions(ready, reason, "m", more)}
	}
	seen := func(u map[string]any, generation int64) map[string]any {
		u["status"].(map[string]any)["conditions"].([]any)[0].(map[string]any)["observedGeneration"] = generation
		return u
	}
	status := of("True", "R", "")
	status["status"].(map[string]any)["observedGeneration"] = int64(1)
	deleting := of("True", "R", "")
	deleting["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T11:00:00Z"
	cases := map[string]struct {
		reason string
		object map[string]any
		want   why.State
	}{
		"Ready":      {"a Ready condition without a generation", of("True", "R", ""), why.Ready},
		"Observed":   {"of the present generation", seen(of("True", "R", ""), 2), why.Ready},
		"Stale":      {"of an older generation", seen(of("True", "R", ""), 1), why.Unknown},
		"StaleByAll": {"the status is of an older generation", status, why.Unknown},
		"Stalled":    {"only a change helps", of("False", "R", "Stalled"), why.Failed},
		"Blocked":    {"a check blocks", of("False", "R", "Reconciling"), why.Blocked},
		"Plain":      {"another operator", of("False", "R", ""), why.Blocked},
		"InProgress": {"the reason of Windlass", of("False", "InProgress", "Reconciling"), why.InProgress},
		"Progress":   {"the conditions of Flux", of("Unknown", "R", "Reconciling"), why.InProgress},
		"Unknown":    {"Ready is unknown", of("Unknown", "R", ""), why.Unknown},
		"Odd":        {"an odd status", of("true", "R", ""), why.Unknown},
		"None":       {"no condition", map[string]any{}, why.Unknown},
		"NoList":     {"conditions that are no list", map[string]any{"status": map[string]any{"conditions": "Ready"}}, why.Unknown},
		"Deleting":   {"a deletion counts more than Ready", deleting, why.Deleting},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := objectOf(&unstructured.Unstructured{Object: tc.object}); got.State != tc.want {
				t.Errorf("%s: got %+v, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

// testReader knows namespaced databases, and zones without a namespace.
func testReader() *reader {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Group: "example.com", Version: "v1"}, {Version: "v1"}})
	m.Add(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Database"}, meta.RESTScopeNamespace)
	m.Add(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Zone"}, meta.RESTScopeRoot)
	m.Add(schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, meta.RESTScopeNamespace)
	return newReader(clients{mapper: m})
}

func TestNamed(t *testing.T) {
	cases := map[string]struct {
		reason, message string
		want            checks.Ref // zero: none
	}{
		"Reference":  {"a reference", "Database.example.com ns/a was not found: waiting", ref("Database", "ns", "a")},
		"Owner":      {"an owner", "owner Database.example.com ns/a.b is not ready: x", ref("Database", "ns", "a.b")},
		"Cluster":    {"a kind without namespaces", "Zone.example.com z is being deleted", ref("Zone", "", "z")},
		"Core":       {"the core group", "Secret ns/s was not found: waiting", checks.Ref{Kind: "Secret", Namespace: "ns", Name: "s"}},
		"NoScope":    {"the scope must fit", "Zone.example.com ns/z was not found", checks.Ref{}},
		"NoSpace":    {"the scope must fit", "Database.example.com a was not found", checks.Ref{}},
		"NoKind":     {"the kind must be known", "Shop.example.com ns/a was not found", checks.Ref{}},
		"Middle":     {"a root cause is no direct wait", "x; root cause: Database.example.com ns/a was not found", checks.Ref{}},
		"OtherWords": {"other programs write anything", "Database.example.com ns/a is fine", checks.Ref{}},
		"Escape":     {"odd names", "Database.example.com ns/\x1b[2J was not found", checks.Ref{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got, ok := testReader().named(tc.message); got != tc.want || ok != (tc.want != checks.Ref{}) {
				t.Errorf("%s: got %+v, %t", tc.reason, got, ok)
			}
		})
	}
}

// An owner that waits for its dependent does not make a cycle of the two.
func TestOwnerWaits(t *testing.T) {
	r := testReader()
	add := func(name, message, owner string) {
		o := map[string]any{"apiVersion": "example.com/v1", "kind": "Database", "metadata": map[string]any{"namespace": "ns", "name": name}, "status": conditions("False", "", message, "")}
		if owner != "" {
			o["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{"apiVersion": "example.com/v1", "kind": "Database", "name": owner, "uid": "1", "controller": true}}
		}
		m, err := r.mapper.RESTMapping(schema.GroupKind{Group: "example.com", Kind: "Database"})
		if err != nil {
			t.Fatal(err)
		}
		r.add(m, &unstructured.Unstructured{Object: o})
	}
	add("child", "no cores", "parent")
	add("parent", "Database.example.com ns/middle is not ready", "")
	add("middle", "Database.example.com ns/child is not ready", "")
	add("other", "wait", "parent")
	want := `Database.example.com ns/other  blocked for 1h15m: wait
└─ Database.example.com ns/parent  blocked for 1h15m: Database.example.com ns/middle is not ready
   └─ Database.example.com ns/middle  blocked for 1h15m: Database.example.com ns/child is not ready
      └─ Database.example.com ns/child  blocked for 1h15m: no cores  <- root cause: meet the requirement that its message names
`
	if got := why.New(r.finish(t.Context())).Tree(ref("Database", "ns", "other"), noon); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestCompletion(t *testing.T) {
	ns := namespace(t)
	object(t, "Database", ns, "orders", nil)
	cases := map[string]struct {
		reason, args, want string
	}{
		"Kind":    {"kinds, and no space after them", "why data", "clusters.example.com\ndatabases.example.com\nsubnets.example.com\n:6"},
		"Name":    {"names after a slash", "why db/", "db/orders\n:4"},
		"Second":  {"names after a kind", "retry db ", "orders\n:4"},
		"Flow":    {"kinds", "flow ", "databases.example.com\n"},
		"Awaited": {"an awaited object", "retry --waiting-for db/", "db/orders\n:4"},
		"Output":  {"formats", "blocked -o ", "json\nwide\n:4"},
		"NoKind":  {"an unknown kind", "why shop/", ":1"},
	}
	u := admin(t, ns)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u.t = t
			// The flags of run come first, because the last argument is completed.
			out, _, code := u.complete(strings.Split(tc.args, " ")...)
			if code != exitReady || !strings.Contains(out, tc.want) {
				t.Errorf("%s: code %d, got %q, want %q", tc.reason, code, out, tc.want)
			}
		})
	}
}
