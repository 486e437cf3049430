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

// reach returns the objects that i waits for in one step or more.
func (w waits) reach(i int) map[int]bool {
	seen := map[int]bool{}
	var visit func(int)
	visit = func(at int) {
		for _, to := range w.edges[at] {
			if to != at && !seen[to] {
				seen[to] = true
				visit(to)
			}
		}
	}
	visit(i)
	return seen
}

var drawWaits = rapid.Custom(func(t *rapid.T) waits {
	n := rapid.IntRange(1, 12).Draw(t, "objects")
	w := waits{edges: make([][]int, n)}
	states := []why.State{why.Failed, why.Missing, why.Blocked, why.Unknown, why.InProgress, why.Deleting, why.Ready}
	for i := range n {
		w.states = append(w.states, rapid.SampledFrom(states).Draw(t, "state"))
		w.edges[i] = rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 3).Draw(t, "edges")
	}
	return w
})

// The named root cause is reachable, waits for nothing or is a cycle, and no
// other root cause is less likely to end by itself.
func TestCause(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWaits.Draw(t, "waits")
		g := why.New(w.objects())
		waiters := map[string]int{}
		for i := range w.states {
			reach := w.reach(i)
			onCycle := func(j int) bool { return w.reach(j)[j] }
			own := func(j int) []checks.Ref { // the cause that j is itself
				if !onCycle(j) && len(w.reach(j)) == 0 {
					return []checks.Ref{name(j)}
				}
				return nil
			}
			c, ok := g.Cause(name(i))
			awaited := slices.ContainsFunc(slices.Collect(seq(len(w.states))), func(j int) bool { return w.reach(j)[i] })
			if !ok {
				if w.states[i] != why.Ready || len(reach) > 0 || awaited {
					t.Fatalf("object %d has no cause", i)
				}
				continue
			}
			waiters[fmt.Sprint(c.Objects)]++
			at := func(r checks.Ref) int { return slices.Index(names(len(w.states)), r) }
			first := at(c.Objects[0])
			switch {
			case first != i && !reach[first]:
				t.Fatalf("object %d does not wait for its cause %v", i, c.Objects)
			case c.Cycle():
				for k, r := range c.Objects {
					if next := at(c.Objects[(k+1)%len(c.Objects)]); !slices.Contains(w.edges[at(r)], next) {
						t.Fatalf("%v is no cycle: %v does not wait for the next object", c.Objects, r)
					}
				}
			case own(first) == nil:
				t.Fatalf("the cause %v of object %d waits for an object", c.Objects, i)
			default: // no cycle is reachable, and no leaf is worse
				for j := range reach {
					if onCycle(j) {
						t.Fatalf("object %d waits for a cycle with %d, and its cause is %v", i, j, c.Objects)
					}
					if own(j) != nil && rank(w.states[j]) < rank(w.states[first]) {
						t.Fatalf("object %d has the cause %s, and %d is %s", i, c.State, j, w.states[j])
					}
				}
			}
			path := g.Path(name(i))
			if last := path[len(path)-1].Ref; !slices.Contains(c.Objects, last) || path[0].Ref != name(i) {
				t.Fatalf("the path of %d is %v, its cause %v", i, path, c.Objects)
			}
			for k := 1; k < len(path); k++ {
				if !slices.Contains(path[k-1].WaitingFor, path[k].Ref) {
					t.Fatalf("the path of %d has a gap after %v", i, path[k-1].Ref)
				}
			}
			n := 0
			for j := range w.states {
				if j != i && w.reach(j)[i] {
					n++
				}
			}
			if got := g.Waiters(name(i)); got != n {
				t.Fatalf("object %d has %d waiters, want %d", i, got, n)
			}
		}
		for _, c := range g.Causes() { // each object counts once
			n := waiters[fmt.Sprint(c.Objects)]
			if !c.Cycle() {
				n--
			}
			if c.Waiters != n {
				t.Fatalf("%v has %d waiters, want %d", c.Objects, c.Waiters, n)
			}
		}
		if len(g.Causes()) != len(waiters) {
			t.Fatalf("there are %d causes, want %d", len(g.Causes()), len(waiters))
		}
	})
}

func rank(s why.State) int {
	return slices.Index([]why.State{why.Failed, why.Missing, why.Blocked, why.Unknown, why.InProgress, why.Deleting, why.Ready}, s)
}

func names(n int) (all []checks.Ref) {
	for i := range n {
		all = append(all, name(i))
	}
	return all
}

func seq(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// A document has what its graph has, as long as nothing is left out.
func TestDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWaits.Draw(t, "waits")
		g := why.New(w.objects())
		d := g.Document(noon)
		again := d.Graph()
		for i := range w.states {
			want, ok := g.Cause(name(i))
			if got, has := again.Cause(name(i)); has != ok || !slices.Equal(got.Objects, want.Objects) {
				t.Fatalf("object %d has the cause %v in the document, want %v", i, got.Objects, want.Objects)
			}
			of, _ := g.DocumentOf(name(i), noon)
			one := of.Graph()
			leaf := len(w.reach(i)) == 0 // its own document does not have its waiters
			if got, has := one.Cause(name(i)); ok && !leaf && (!has || !slices.Equal(got.Objects, want.Objects)) {
				t.Fatalf("object %d has the cause %v in its own document, want %v", i, got.Objects, want.Objects)
			}
			if ok && len(of.Causes) > 0 && !slices.Equal(of.Causes[0].Objects, want.Objects) {
				t.Fatalf("the first cause of the document of %d is %v, want %v", i, of.Causes[0].Objects, want.Objects)
			}
		}
	})
}

// The order of the objects makes no difference.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objects := drawWaits.Draw(t, "waits").objects()
		want := why.New(objects).Causes()
		got := why.New(rapid.Permutation(objects).Draw(t, "order")).Causes()
		for i := range want {
			want[i].Sample, got[i].Sample = nil, nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-want, +got:\n%s", diff)
		}
	})
}

// Objects that are not given, that are named with a cloud ID, or that wait for
// themselves.
func TestNew(t *testing.T) {
	a, b := name(1), name(2)
	withID := b
	withID.ID = "/subscriptions/1"
	cases := map[string]struct {
		reason  string
		objects []why.Object
		want    string
	}{
		"Empty":   {"nothing waits", nil, ""},
		"Ready":   {"an object that is ready and not awaited is no cause", []why.Object{{Ref: a, State: why.Ready}}, ""},
		"Absent":  {"an object that no reconciler reports", []why.Object{{Ref: a, State: why.Blocked, WaitingFor: []checks.Ref{b}}}, "N 0002 has not reported a state; 1 object waits for it: look at the object: no reconciler of this program reports its state"},
		"ID":      {"the cloud ID makes no second object", []why.Object{{Ref: a, State: why.Blocked, WaitingFor: []checks.Ref{withID, b}}, {Ref: b, State: why.Missing}}, "N 0002 is missing; 1 object waits for it: create it, or correct the reference"},
		"Self":    {"a wait for itself is no cycle", []why.Object{{Ref: a, State: why.Blocked, Reason: "ApprovalPending", WaitingFor: []checks.Ref{a}}}, "N 0001 is blocked: ApprovalPending; no object waits for it: do what its message asks for"},
		"Twice":   {"the last object of a name counts", []why.Object{{Ref: a, State: why.Failed}, {Ref: a, State: why.Deleting}}, "N 0001 is deleting; no object waits for it: wait until its operation ends"},
		"Cycle":   {"a cycle of two", []why.Object{{Ref: b, WaitingFor: []checks.Ref{a}}, {Ref: a, WaitingFor: []checks.Ref{b}}}, "dependency cycle: N 0001 -> N 0002 -> N 0001; 2 objects wait for each other or for one of these: remove one of the references"},
		"Hostile": {"a name with line breaks and a message with a secret", []why.Object{{Ref: checks.Ref{Kind: "N", Name: "a\nb\u202e"}, State: why.Failed, Message: "password=hunter2"}}, `N a; b\u202e has failed: password=REDACTED; no object waits for it: correct the error`},
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
