package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow/why"
)

// read holds what a pass read: objects by name, and the members of the one set.
type read struct {
	objects map[string]checks.Object
	members []string // nil: the pass listed names only
}

func (r read) Object(ref checks.Ref) *checks.Object {
	if o, ok := r.objects[ref.Name]; ok {
		return &o
	}
	return nil
}

func (r read) Members(checks.Ref) (all []checks.Object, ok bool) {
	for _, name := range r.members {
		o := r.objects[name]
		o.Ref = clusterID(name)
		all = append(all, o)
	}
	return all, r.members != nil
}

// decided names the clusters that have a verdict.
type decided struct {
	crowd
	of []string
}

func (d decided) Decided(_ context.Context, name types.NamespacedName) bool {
	return slices.Contains(d.of, name.Name)
}

func clusterID(name string) index.ID {
	return index.ID{Group: clusters.Group, Kind: clusters.Kind, Namespace: "a", Name: name}
}

func clusterThat(state checks.State, reason string) checks.Object {
	return checks.Object{Value: &testv1.Cluster{}, Readiness: checks.Readiness{State: state, Reason: reason}}
}

// A pass finds the worst root cause of its awaited objects, and knows whether it is
// sure.
func TestRoot(t *testing.T) {
	set := setOf(checks.Query{Namespace: "a"})
	busy, fine := clusterThat(checks.NotReady, "Creating"), clusterThat(checks.Ready, "")
	deleting := fine
	deleting.Deleting = true
	many := func(n int) (all []index.ID) {
		for i := range n {
			all = append(all, clusterID(fmt.Sprintf("n%03d", i)))
		}
		return all
	}
	ids := func(names ...string) (all []index.ID) {
		for _, name := range names {
			all = append(all, clusterID(name))
		}
		return all
	}
	cases := map[string]struct {
		reason  string
		awaited []index.ID
		seen    read
		own     []string // the clusters with a verdict; nil: the clusters are those of another operator
		root    string   // of x, which waits
		cycle   []index.ID
		want    string
	}{
		"Missing":      {"it was not found", ids("x"), read{objects: map[string]checks.Object{"x": {}}}, nil, "", nil, "x missing"},
		"Foreign":      {"the conditions of another operator", ids("x"), read{objects: map[string]checks.Object{"x": busy}}, nil, "", nil, "x blocked"},
		"Deleting":     {"a deletion", ids("x"), read{objects: map[string]checks.Object{"x": deleting}}, nil, "", nil, "x deleting"},
		"Own":          {"the reconciler has decided", ids("x"), read{objects: map[string]checks.Object{"x": busy}}, []string{"x"}, "", nil, "x blocked"},
		"NoPass":       {"no pass over it has ended", ids("x"), read{objects: map[string]checks.Object{"x": busy}}, []string{}, "", nil, "x blocked unsure"},
		"Worst":        {"a missing object, then others", ids("x", "y", "z"), read{objects: map[string]checks.Object{"x": busy, "y": {}, "z": fine}}, nil, "", nil, "y missing"},
		"Transitive":   {"the root cause of the awaited object", ids("x"), read{objects: map[string]checks.Object{"x": busy}}, nil, "r", nil, "r blocked"},
		"OtherMeans":   {"a check of the user found that it does not exist", ids("x"), read{}, []string{"x"}, "", nil, "x missing"},
		"Ready":        {"the check objects to an object that is ready", ids("x"), read{objects: map[string]checks.Object{"x": fine}}, nil, "", nil, "w blocked"},
		"Cycle":        {"the objects of a cycle, from the first name on", ids("b"), read{}, nil, "", ids("w", "b", "w"), "b  cycle"},
		"Set":          {"the worst member that does not compete for the set", []index.ID{set}, read{objects: map[string]checks.Object{"x": busy, "y": {}, "z": fine}, members: []string{"x", "y", "z"}}, nil, "", nil, "y missing"},
		"SetOfRoots":   {"the root cause of a member", []index.ID{set}, read{objects: map[string]checks.Object{"x": busy}, members: []string{"x"}}, nil, "r", nil, "r blocked"},
		"SetOfRivals":  {"a member that waits for the set, too", []index.ID{set}, read{objects: map[string]checks.Object{"rival": busy}, members: []string{"rival"}}, nil, "", nil, " blocked"},
		"SetOfReady":   {"a member that is ready", []index.ID{set}, read{objects: map[string]checks.Object{"z": fine}, members: []string{"z"}}, nil, "", nil, " blocked"},
		"SetOfItself":  {"the object itself", []index.ID{set}, read{objects: map[string]checks.Object{"w": busy}, members: []string{"w"}}, nil, "", nil, " blocked"},
		"SetOfMany":    {"the only member that is not ready is the last one", []index.ID{set}, read{objects: map[string]checks.Object{"z": fine, "zz": busy}, members: append(slices.Repeat([]string{"z"}, maxRoots), "zz")}, nil, "", nil, "zz blocked"},
		"SetOfMissing": {"the first members only", []index.ID{set}, read{objects: map[string]checks.Object{"x": busy, "y": {}}, members: append(slices.Repeat([]string{"x"}, maxRoots), "y")}, nil, "", nil, "x blocked"},
		"EmptySet":     {"no object is in it", []index.ID{set}, read{members: []string{}}, nil, "", nil, " missing"},
		"Names":        {"a list of names has no states", []index.ID{set}, read{}, nil, "", nil, " blocked"},
		"Many":         {"the first objects only", append(many(maxRoots), ids("last")...), read{objects: map[string]checks.Object{"last": {}}}, nil, "", nil, "n000 blocked"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			if tc.own != nil {
				c.Engine.reporterOfKind.Store(clusters, Reporter(decided{of: tc.own}))
			}
			waits(c.Engine, clusterID("rival"), set)
			if tc.root != "" {
				waits(c.Engine, clusterID("x"), clusterID("r"))
				c.index.SetRoot(clusterID("x"), index.Root{ID: clusterID(tc.root), State: string(why.Blocked)})
			}
			p := c.Begin(clusterID("w"), time.Second)
			f := p.root(t.Context(), End{Seen: tc.seen}, tc.awaited, tc.cycle)
			got := f.Name + " " + f.State
			if f.Cycle != "" {
				got += " cycle"
			}
			if !f.sure {
				got += " unsure"
			}
			if got != tc.want {
				t.Errorf("%s: the root cause is %.300q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// The text of a long cycle is bounded, and is the same for each of its objects.
func TestRootOfCycle(t *testing.T) {
	var cycle []index.ID
	for i := range 100 {
		cycle = append(cycle, clusterID(fmt.Sprintf("c%03d", (i+50)%100)))
	}
	root := rootOfCycle(append(cycle, cycle[0]))
	other := rootOfCycle(append(append(cycle[50:100:100], cycle[:50]...), cycle[50]))
	if root != other || root.Name != "c000" || strings.Count(root.Cycle, " -> ") != maxCycle+1 || !strings.HasPrefix(root.Cycle, cyclePrefix) {
		t.Errorf("the roots are %+v and %+v", root, other)
	}
	if got := CycleText(append(cycle[:maxCycle:maxCycle], cycle[0])); strings.Contains(got, "...") {
		t.Errorf("a short cycle leaves out objects: %s", got)
	}
	if got, want := CycleText([]checks.Ref{{Kind: "A", Name: "a"}, {Kind: "B", Name: "b"}, {Kind: "A", Name: "a"}}), "dependency cycle: A a -> B b -> A a"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A root cause that changes wakes the waiters of the set that the object is in now.
func TestRootChanged(t *testing.T) {
	c := newCluster(t)
	c.cached.web("n", "1", "")
	c.cached.objects["n"].Namespace = "a"
	for _, app := range []string{"web", "db"} {
		waits(c.Engine, clusterID(app), setOf(checks.Query{Namespace: "a", Selector: "app=" + app}))
	}
	waits(c.Engine, clusterID("direct"), clusterID("n"))
	follower := c.index.Begin(clusterID("follower"))
	follower.End(index.End{Followed: []index.Followed{{ID: clusterID("n"), Digest: 1}, {ID: setOf(checks.Query{Namespace: "a", Selector: "app=web"}), Digest: 1}}})
	c.woken = nil
	c.RootChanged(t.Context(), clusterID("n"), &testv1.Cluster{})
	same(t, []string{"direct", "web"}, c.woken, "it differs")
}

// TestNamed verifies that a text names a root cause only by the whole name.
func TestNamed(t *testing.T) {
	c := &RootCause{Ref: checks.Ref{Kind: "Cluster", Namespace: "a", Name: "c"}, Text: "Cluster a/c was not found"}
	cycle := &RootCause{Ref: c.Ref, Text: cyclePrefix + "Cluster a/c -> Cluster a/c"}
	for in, want := range map[string]bool{
		"": false, "Cluster a/c": true, "owner Cluster a/c is not ready": true, "it waits for Cluster a/c.": true, "Cluster a/c...": true,
		"Cluster a/cc, Cluster a/c": true, "Cluster a/cc": false, "Cluster a/c.d": false, "Cluster a/c..d": false, "MyCluster a/c": false, "a cyclefree Cluster a/d": false,
	} {
		if got := c.Named(in); got != want {
			t.Errorf("%q: named: %t", in, got)
		}
		if got := cycle.Named(in); got || !cycle.Named(in+cyclePrefix) {
			t.Errorf("%q names a cycle: %t", in, got)
		}
	}
	for edge, part := range map[string]bool{"a": true, "z": true, "A": true, "Z": true, "0": true, "9": true, "-": true, "_": true, "/": true, "`": false, "{": false, "@": false, "[": false, ":": false, ",": false} {
		if c.Named("Cluster a/c"+edge) == part || c.Named(edge+"Cluster a/c") == part {
			t.Errorf("%q is part of a name: %t", edge, !part)
		}
	}
}

// TestRootOfPass verifies what a pass says of its root cause, and which one it records for its waiters.
func TestRootOfPass(t *testing.T) {
	busy, quoted := clusterThat(checks.NotReady, "Creating"), clusterThat(checks.NotReady, "Waiting")
	quoted.Readiness.Message = "it waits"
	const name = "Cluster.test.windlass-go.github.io a/"
	cases := map[string]struct {
		reason string
		seen   Seen
		own    []string // the clusters with a verdict; nil: they are those of another operator
		root   string   // that the last pass over x recorded; "x": it waits, and none is known
		awaits string   // what x waits for
		want   string   // the ref and the text of the root cause, and what else is said
		cause  string   // that is recorded
		woken  bool
	}{
		"First":   {"the first awaited object is in the message", read{objects: map[string]checks.Object{"x": {}, "y": busy}}, nil, "", "", "changed", name + "x was not found", false},
		"Second":  {"another awaited object", read{objects: map[string]checks.Object{"x": busy, "y": {}}}, nil, "", "", "y: changed", name + "y was not found", false},
		"Further": {"no awaited object", read{objects: map[string]checks.Object{"x": busy, "y": busy}}, nil, "r", "r", "r: " + name + "r is not ready changed", name + "r is not ready", false},
		"Cycle": {"the awaited object waits for this one", read{}, nil, "", "w", "w: dependency cycle: " + name + "w -> " + name + "x -> " + name + "w changed",
			"dependency cycle: " + name + "w -> " + name + "x -> " + name + "w", false},
		"Unsure": {"no pass over the awaited objects has ended", read{objects: map[string]checks.Object{"x": busy, "y": busy}}, []string{}, "", "", "unknown", "", false},
		"Late":   {"the message quotes an object that has another root cause now", read{objects: map[string]checks.Object{"x": quoted, "y": busy}}, nil, "r", "r", "unknown", "", true},
		"Unseen": {"the root cause is not asked for", nil, nil, "", "", "", "", false},
	}
	for test, tc := range cases {
		t.Run(test, func(t *testing.T) {
			c := newCluster(t)
			queue := &line{}
			c.wakers.Store(clusters, queued(queue))
			if tc.own != nil {
				c.reporterOfKind.Store(clusters, Reporter(decided{of: tc.own}))
			}
			if tc.awaits != "" {
				waits(c.Engine, clusterID("x"), clusterID(tc.awaits))
			}
			if tc.root != "" {
				c.index.SetRoot(clusterID("x"), index.Root{ID: clusterID(tc.root), State: string(why.Blocked)})
			}
			p := c.Begin(clusterID("w"), time.Second)
			w := p.End(t.Context(), End{Awaited: []checks.Ref{clusterID("x"), clusterID("y")}, Seen: tc.seen})
			got := ""
			if w.Root != nil {
				got = w.Root.Ref.Name + ": " + w.Root.Text
			}
			if w.RootChanged {
				got = strings.TrimSpace(got) + " changed"
			}
			if w.RootUnknown {
				got += " unknown"
			}
			cause, others := c.Root(t.Context(), clusterID("w"))
			recorded := ""
			if cause != nil {
				recorded = cause.Text
			}
			same(t, []string{tc.want, tc.cause}, []string{strings.TrimSpace(got), recorded}, "%s", tc.reason)
			if woken := len(queue.at) > 0; woken != tc.woken || !p.Waits(clusterID("w")) || p.Waits(clusterID("y")) || cause == nil && others != 0 {
				t.Errorf("%s: the object is woken: %t", tc.reason, woken)
			}
			if one := p.End(t.Context(), End{Awaited: []checks.Ref{clusterID("x")}, Seen: tc.seen}); (len(one.Cycle) > 0) != (test == "Cycle") {
				t.Errorf("%s: a cycle with one awaited object: %v", tc.reason, one.Cycle)
			}
			if again := p.End(t.Context(), End{Seen: tc.seen}); !again.RootChanged || again.Woken {
				t.Errorf("%s: the end of the wait is no change: %+v", tc.reason, again)
			}
		})
	}
}

// TestStateOf verifies that only the present readiness counts.
func TestStateOf(t *testing.T) {
	for want, r := range map[why.State]checks.Readiness{
		why.Ready: {State: checks.Ready, Generation: 2, Observed: 2}, why.Blocked: {State: checks.Ready, Generation: 2, Observed: 1}, why.Unknown: {},
	} {
		same(t, want, stateOf(&checks.Object{Value: &testv1.Cluster{}, Readiness: r}), "the readiness %+v", r)
	}
}

// TestWorse verifies the order of root causes: the first ones are worse.
func TestWorse(t *testing.T) {
	at := func(kind, namespace, name string, state why.State, cycle string) index.Root {
		return index.Root{ID: index.ID{Kind: kind, Namespace: namespace, Name: name}, State: string(state), Cycle: cycle}
	}
	all := []index.Root{at("C", "", "c", "", "a"), at("C", "", "c", "", "b"), at("D", "a", "b", why.Missing, ""), at("C", "a", "b", why.Blocked, ""),
		at("C", "a", "c", why.Blocked, ""), at("C", "b", "a", why.Blocked, ""), at("D", "a", "a", why.Blocked, "")}
	for i := range all {
		for j := range all {
			if got := worse(&all[i], &all[j]); got != (i < j) {
				t.Errorf("%+v is worse than %+v: %t", all[i], all[j], got)
			}
		}
	}
}
