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
		"Missing":     {"it was not found", ids("x"), read{objects: map[string]checks.Object{"x": {}}}, nil, "", nil, "x missing"},
		"Foreign":     {"the conditions of another operator", ids("x"), read{objects: map[string]checks.Object{"x": busy}}, nil, "", nil, "x blocked"},
		"Deleting":    {"a deletion", ids("x"), read{objects: map[string]checks.Object{"x": deleting}}, nil, "", nil, "x deleting"},
		"Own":         {"the reconciler has decided", ids("x"), read{objects: map[string]checks.Object{"x": busy}}, []string{"x"}, "", nil, "x blocked"},
		"NoPass":      {"no pass over it has ended", ids("x"), read{objects: map[string]checks.Object{"x": busy}}, []string{}, "", nil, "x blocked unsure"},
		"Worst":       {"a missing object, then others", ids("x", "y", "z"), read{objects: map[string]checks.Object{"x": busy, "y": {}, "z": fine}}, nil, "", nil, "y missing"},
		"Transitive":  {"the root cause of the awaited object", ids("x"), read{objects: map[string]checks.Object{"x": busy}}, nil, "r", nil, "r blocked"},
		"Ready":       {"the check objects to an object that is ready", ids("x"), read{objects: map[string]checks.Object{"x": fine}}, nil, "", nil, "w blocked"},
		"Cycle":       {"the objects of a cycle, from the first name on", ids("b"), read{}, nil, "", ids("w", "b", "w"), "b  cycle"},
		"Set":         {"the worst member that does not compete for the set", []index.ID{set}, read{objects: map[string]checks.Object{"x": busy, "y": {}, "z": fine}, members: []string{"x", "y", "z"}}, nil, "", nil, "y missing"},
		"SetOfRoots":  {"the root cause of a member", []index.ID{set}, read{objects: map[string]checks.Object{"x": busy}, members: []string{"x"}}, nil, "r", nil, "r blocked"},
		"SetOfRivals": {"a member that waits for the set, too", []index.ID{set}, read{objects: map[string]checks.Object{"rival": busy}, members: []string{"rival"}}, nil, "", nil, " blocked"},
		"EmptySet":    {"no object is in it", []index.ID{set}, read{members: []string{}}, nil, "", nil, " missing"},
		"Names":       {"a list of names has no states", []index.ID{set}, read{}, nil, "", nil, " blocked"},
		"Many":        {"the first objects only", append(many(maxRoots), ids("last")...), read{objects: map[string]checks.Object{"last": {}}}, nil, "", nil, "n000 blocked"},
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
	c.woken = nil
	c.RootChanged(t.Context(), clusterID("n"), &testv1.Cluster{})
	same(t, []string{"direct", "web"}, c.woken, "it differs")
}
