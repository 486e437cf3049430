package why_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
)

// waits is a random graph of waits: for each object its state and its awaited
// objects.
type waits struct {
	states []why.State
	edges  [][]int
}

func name(i int) checks.Ref { return checks.Ref{Kind: "N", Name: fmt.Sprintf("%04d", i)} }

func (w waits) objects() (all []why.Object) {
	for i, s := range w.states {
		o := why.Object{Ref: name(i), State: s}
		for _, to := range w.edges[i] {
			o.WaitingFor = append(o.WaitingFor, name(to))
		}
		all = append(all, o)
	}
	return all
}

// reaches returns for each object the set of the objects that it waits for in one
// step or more. Bit j of a set stands for object j. It adds steps until no set
// grows, and shares nothing with the algorithm of the package.
func (w waits) reaches() []uint64 {
	all := make([]uint64, len(w.edges))
	for grows := true; grows; {
		grows = false
		for i, edges := range w.edges {
			was := all[i]
			for _, to := range edges {
				if to != i {
					all[i] |= 1<<to | all[to]
				}
			}
			grows = grows || all[i] != was
		}
	}
	return all
}

// allStates holds the states, from the one that is least likely to end by itself.
var allStates = []why.State{why.Failed, why.Missing, why.Blocked, why.Unknown, why.InProgress, why.Deleting, why.Ready}

var drawWaits = rapid.Custom(func(t *rapid.T) waits {
	n := rapid.IntRange(1, 12).Draw(t, "objects")
	w := waits{edges: make([][]int, n)}
	for i := range n {
		w.states = append(w.states, rapid.SampledFrom(allStates).Draw(t, "state"))
		w.edges[i] = rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 3).Draw(t, "edges")
	}
	return w
})

// The root cause is right in random graphs.
func TestCause(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 10 {
			if wrong := drawWaits.Draw(t, "waits").wrong(); wrong != "" {
				t.Fatal(wrong)
			}
		}
	})
}

// wrong returns what is wrong with the root causes of a graph: a named root cause
// is reachable, waits for nothing or is a cycle, and no other root cause is less
// likely to end by itself.
func (w waits) wrong() string {
	g, reach := why.New(w.objects()), w.reaches()
	waits := func(i, j int) bool { return reach[i]>>j&1 == 1 }
	at := map[checks.Ref]int{}
	for i := range w.states {
		at[name(i)] = i
	}
	waiters := map[string]int{}
	for i := range w.states {
		awaited := false
		for j := range w.states {
			awaited = awaited || waits(j, i)
		}
		c, ok := g.Cause(name(i))
		if !ok {
			if w.states[i] != why.Ready || reach[i] != 0 || awaited {
				return fmt.Sprintf("object %d has no cause", i)
			}
			continue
		}
		waiters[fmt.Sprint(c.Objects)]++
		first := at[c.Objects[0]]
		switch {
		case first != i && !waits(i, first):
			return fmt.Sprintf("object %d does not wait for its cause %v", i, c.Objects)
		case c.Cycle():
			for k, r := range c.Objects {
				if next := at[c.Objects[(k+1)%len(c.Objects)]]; !slices.Contains(w.edges[at[r]], next) {
					return fmt.Sprintf("%v is no cycle: %v does not wait for the next object", c.Objects, r)
				}
			}
		case reach[first] != 0:
			return fmt.Sprintf("the cause %v of object %d waits for an object", c.Objects, i)
		default: // no cycle is reachable, and no leaf is worse
			for j := range w.states {
				if !waits(i, j) {
					continue
				}
				if waits(j, j) {
					return fmt.Sprintf("object %d waits for a cycle with %d, and its cause is %v", i, j, c.Objects)
				}
				if reach[j] == 0 && rank(w.states[j]) < rank(w.states[first]) {
					return fmt.Sprintf("object %d has the cause %s, and %d is %s", i, c.State, j, w.states[j])
				}
			}
		}
		path := g.Path(name(i))
		if last := path[len(path)-1].Ref; !slices.Contains(c.Objects, last) || path[0].Ref != name(i) {
			return fmt.Sprintf("the path of %d is %v, its cause %v", i, path, c.Objects)
		}
		for k := 1; k < len(path); k++ {
			if !slices.Contains(path[k-1].WaitingFor, path[k].Ref) {
				return fmt.Sprintf("the path of %d has a gap after %v", i, path[k-1].Ref)
			}
		}
	}
	for _, c := range g.Causes() { // each object counts once
		n := waiters[fmt.Sprint(c.Objects)]
		if !c.Cycle() {
			n--
		}
		if c.Waiters != n {
			return fmt.Sprintf("%v has %d waiters, want %d", c.Objects, c.Waiters, n)
		}
	}
	if len(g.Causes()) != len(waiters) {
		return fmt.Sprintf("there are %d causes, want %d", len(g.Causes()), len(waiters))
	}
	return ""
}

func rank(s why.State) int {
	return slices.Index(allStates, s)
}

// A document has what its graph has, as long as nothing is left out. The order of
// the objects makes no difference.
func TestDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWaits.Draw(t, "waits")
		g, reach := why.New(w.objects()), w.reaches()
		d := why.New(rapid.Permutation(w.objects()).Draw(t, "order")).Document(noon)
		if diff := cmp.Diff(append([]why.Cause{}, g.Causes()...), d.Causes); diff != "" {
			t.Fatalf("the causes of the document: -want, +got:\n%s", diff)
		}
		again := d.Graph()
		for i := range w.states {
			want, ok := g.Cause(name(i))
			if got, has := again.Cause(name(i)); has != ok || !slices.Equal(got.Objects, want.Objects) {
				t.Fatalf("object %d has the cause %v in the document, want %v", i, got.Objects, want.Objects)
			}
			of, _ := g.DocumentOf(name(i), noon)
			one := of.Graph()
			leaf := reach[i] == 0 // its own document does not have its waiters
			if got, has := one.Cause(name(i)); ok && !leaf && (!has || !slices.Equal(got.Objects, want.Objects)) {
				t.Fatalf("object %d has the cause %v in its own document, want %v", i, got.Objects, want.Objects)
			}
			if ok && len(of.Causes) > 0 && !slices.Equal(of.Causes[0].Objects, want.Objects) {
				t.Fatalf("the first cause of the document of %d is %v, want %v", i, of.Causes[0].Objects, want.Objects)
			}
		}
	})
}

// Objects that are not given, that are named with a cloud ID, or that wait for
// themselves.
func TestNew(t *testing.T) {
	a, b := name(1), name(2)
	set := checks.Query{Kind: "N"}.Ref()
	withID := b
	withID.ID = "/subscriptions/1"
	cases := map[string]struct {
		reason  string
		objects []why.Object
		want    string
	}{
		"Empty":  {"nothing waits", nil, ""},
		"Ready":  {"an object that is ready and not awaited is no cause", []why.Object{{Ref: a, State: why.Ready}}, ""},
		"Absent": {"an object that no reconciler reports", []why.Object{{Ref: a, State: why.Blocked, WaitingFor: []checks.Ref{b}}}, "N 0002 has not reported a state; 1 object waits for it: look at the object: no reconciler of this program reports its state"},
		"Refused": {"the waiter could not make it, and knows why", []why.Object{
			{Ref: a, Reconciler: "N", State: why.Failed, Reason: "Forbidden", Message: "no right", WaitingFor: []checks.Ref{b}}, {Ref: b, State: why.Missing}},
			"N 0002 is missing: Forbidden: N 0001 has failed: no right; 1 object waits for it: correct the error that its message names, or create it"},
		"Blocked": {"the waiter knows no more than that it waits", []why.Object{
			{Ref: a, Reconciler: "N", State: why.Blocked, Reason: "NotFound", Message: "it waits", WaitingFor: []checks.Ref{b}}, {Ref: b, State: why.Missing}},
			"N 0002 is missing; 1 object waits for it: create it, or correct the reference"},
		"ID":    {"the cloud ID makes no second object", []why.Object{{Ref: a, State: why.Blocked, WaitingFor: []checks.Ref{withID, b}}, {Ref: b, State: why.Missing}}, "N 0002 is missing; 1 object waits for it: create it, or correct the reference"},
		"Self":  {"a wait for itself is no cycle", []why.Object{{Ref: a, State: why.Blocked, Reason: "ApprovalPending", WaitingFor: []checks.Ref{a}}}, "N 0001 is blocked: ApprovalPending; no object waits for it: meet the requirement that its message names"},
		"Twice": {"the last object of a name counts", []why.Object{{Ref: a, State: why.Failed}, {Ref: a, State: why.Deleting}}, "N 0001 is deleting; no object waits for it: wait until it is deleted, or look at its finalizers"},
		"Cycle": {"a cycle of two", []why.Object{{Ref: b, WaitingFor: []checks.Ref{a}}, {Ref: a, WaitingFor: []checks.Ref{b}}}, "dependency cycle: N 0001 -> N 0002 -> N 0001; 2 objects wait for each other or for one of these: remove one of the references"},
		"Set": {"a set is no waiter, and its waiter is", []why.Object{{Ref: a, State: why.Blocked, WaitingFor: []checks.Ref{set}}, {Ref: set, State: why.Blocked, WaitingFor: []checks.Ref{b}}, {Ref: b, State: why.Ready}},
			"N 0002 is ready; 1 object waits for it: change it, or its waiters: their messages say what they require"},
		"SetInCycle": {"a set is no waiter in a cycle either", []why.Object{{Ref: a, WaitingFor: []checks.Ref{set}}, {Ref: set, WaitingFor: []checks.Ref{a}}}, "dependency cycle: every N -> N 0001 -> every N; 1 object waits for it: remove one of the references"},
		"CloudIDs":   {"two objects without a name", []why.Object{{Ref: checks.Ref{ID: "/b"}, State: why.Failed}, {Ref: checks.Ref{ID: "/a"}, State: "odd"}}, "/a is odd; no object waits for it: look at the object: no reconciler of this program reports its state\n/b has failed; no object waits for it: correct the error that its message names"},
		"Hostile":    {"a name with line breaks and a message with a secret", []why.Object{{Ref: checks.Ref{Kind: "N", Name: "a\nb\u202e"}, State: why.Failed, Message: "password=hunter2"}}, `N a; b\u202e has failed: password=REDACTED; no object waits for it: correct the error that its message names`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var lines []string
			for _, c := range why.New(tc.objects).Causes() {
				lines = append(lines, c.String())
			}
			if diff := cmp.Diff(tc.want, strings.Join(lines, "\n")); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// The command shows a person what to correct. It has no text that a shell could
// run. TestPage has the commands of the other states.
func TestCommand(t *testing.T) {
	sub := func(change func(*checks.Ref)) []why.Object {
		r := checks.Ref{Group: "net.example.com", Kind: "Subnet", Namespace: "apps", Name: "batch"}
		change(&r)
		return []why.Object{{Ref: r, State: why.Failed}}
	}
	cases := map[string]struct {
		reason  string
		objects []why.Object
		want    string
	}{
		"Failed":   {"the message, the conditions and the events", sub(func(*checks.Ref) {}), "kubectl describe Subnet.net.example.com batch -n apps"},
		"Cluster":  {"an object without a namespace", sub(func(r *checks.Ref) { r.Namespace = "" }), "kubectl describe Subnet.net.example.com batch"},
		"Deleting": {"the finalizers", []why.Object{{Ref: ref("N", "a"), State: why.Deleting}}, "kubectl get N a -n apps -o yaml"},
		"Ready": {"the messages of its waiters", []why.Object{{Ref: ref("N", "w"), WaitingFor: []checks.Ref{ref("N", "a")}}, {Ref: ref("N", "a"), State: why.Ready}},
			"kubectl describe N w -n apps"},
		"Cloud":      {"kubectl does not know a cloud ID", sub(func(r *checks.Ref) { r.Name, r.ID = "", "/subscriptions/1" }), ""},
		"Set":        {"a set has no name", sub(func(r *checks.Ref) { r.Name, r.Set = "", "field=x" }), ""},
		"SetMissing": {"a set is not listed by its kind", []why.Object{{Ref: checks.Query{Kind: "N"}.Ref(), State: why.Missing}}, ""},
		"NoKind":     {"kubectl needs a kind", sub(func(r *checks.Ref) { r.Group, r.Kind = "", "" }), ""},
		"Shell":      {"a name of a foreign document", sub(func(r *checks.Ref) { r.Name = "a;rm" }), ""},
		"Option":     {"a name that looks like an option", sub(func(r *checks.Ref) { r.Name = "-A" }), ""},
		"Kind":       {"a kind with a space", sub(func(r *checks.Ref) { r.Kind = "a b" }), ""},
		"Namespace":  {"a namespace with a variable", sub(func(r *checks.Ref) { r.Namespace = "$x" }), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := why.New(tc.objects).Causes()[0]
			if got := c.Command(); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// Questions about an object that the graph does not have, or that does not wait.
func TestNoCause(t *testing.T) {
	a, set := name(1), checks.Query{Kind: "N"}.Ref()
	g := why.New([]why.Object{{Ref: name(0), State: why.Missing}, {Ref: a, State: why.Ready}, {Ref: set, WaitingFor: []checks.Ref{name(0)}}, {Ref: name(2), WaitingFor: []checks.Ref{set}}})
	for _, of := range []checks.Ref{a, name(9)} {
		if c, ok := g.Cause(of); ok || len(c.Objects) > 0 || g.Path(of) != nil {
			t.Errorf("%s has the cause %v and the path %v", of, c, g.Path(of))
		}
	}
	if got, want := g.Tree(a, noon), "N 0001  is ready\n"; got != want {
		t.Errorf("the tree of a ready object is %q, want %q", got, want)
	}
	if d, ok := g.DocumentOf(name(9), noon); ok || d.Version != "" {
		t.Errorf("an unknown object has the document %+v", d)
	}
	if d, ok := g.DocumentOf(a, noon); !ok || d.Version != why.Version || d.Waiting != 0 || len(d.Objects) != 1 {
		t.Errorf("a ready object has the document %+v", d)
	}
	cycle := why.New([]why.Object{{Ref: a, WaitingFor: []checks.Ref{name(2)}}, {Ref: name(2), WaitingFor: []checks.Ref{a}}})
	if d, _ := cycle.DocumentOf(a, noon); d.OmittedObjects != 0 {
		t.Errorf("the document of a cycle leaves out %d objects", d.OmittedObjects)
	}
	if c, _ := g.Cause(name(0)); c.Waiters != 1 {
		t.Errorf("%d objects wait by way of a set, want 1", c.Waiters)
	}
}

// An unlisted state counts as Unknown.
func TestCompareStates(t *testing.T) {
	for state, want := range map[why.State]int{why.Failed: -1, why.Blocked: -1, why.Unknown: 0, "": 0, why.InProgress: 1} {
		if got := state.Compare("odd"); got != want {
			t.Errorf("%q is compared with another state: got %d, want %d", state, got, want)
		}
	}
}
