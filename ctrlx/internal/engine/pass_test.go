package engine

import (
	"testing"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/flow/why"
)

// TestEnd verifies whether an event of each awaited object wakes the waiter after a pass.
func TestEnd(t *testing.T) {
	x, w := clusterID("x"), clusterID("w")
	cases := map[string]struct {
		reason      string
		awaited     []checks.Ref
		syncs       int // the number of times that the informer is asked before it is in sync
		woken, self bool
		now         bool // the waiter is woken at once
	}{
		"None":       {"it waits for nothing", nil, 0, false, false, false},
		"One":        {"its kind is watched", []checks.Ref{x}, 0, true, false, false},
		"Self":       {"an event of the object causes a pass anyway", []checks.Ref{w}, 0, true, true, false},
		"ByID":       {"the API server does not know cloud IDs", []checks.Ref{{ID: "/x"}}, 0, false, false, false},
		"Nameless":   {"a kind is missing", []checks.Ref{{Name: "x"}}, 0, false, false, false},
		"OneOfTwo":   {"no event reports the other one", []checks.Ref{x, {ID: "/y"}}, 0, false, false, false},
		"Unlistable": {"no pass can list the set", []checks.Ref{{Group: clusters.Group, Kind: clusters.Kind, Namespace: "a", Set: "no query"}}, 0, false, false, false},
		"Refused":    {"a user names the kind", []checks.Ref{{Group: thing.Group, Kind: thing.Kind, Name: "t"}}, 0, false, false, false},
		"Restarted":  {"a change before the informer was started again made no event", []checks.Ref{x}, 2, true, false, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.watch.synced = &listedLater{listed: always, asks: tc.syncs}
			p := c.Begin(w, time.Second)
			for _, ref := range []index.ID{x, {Group: thing.Group, Kind: thing.Kind, Namespace: "a", Name: "t"}} { // as a pass that reads them
				look := p.Pass.Register(ref)
				look.Saw(1)
			}
			got := p.End(t.Context(), End{Awaited: tc.awaited, Followed: []Followed{{Ref: w, Read: true}}})
			if got.Woken != tc.woken || got.Self != tc.self || len(c.woken) > 0 != tc.now {
				t.Errorf("%s: %+v, woken at once: %q", tc.reason, got, c.woken)
			}
			for _, id := range c.index.Waits(w) {
				if id.Kind == "" || id == w {
					t.Errorf("%s: it waits for %s", tc.reason, id)
				}
			}
			c.woken = nil
			c.index.Changed(w, index.Change{Full: 9, Follow: 9})
			if len(c.woken) > 0 {
				t.Errorf("%s: the object waits for itself, or follows itself", tc.reason)
			}
			p = c.Begin(w, time.Second)
			p.Done()
			if c.index.Changed(x, index.Change{Full: 9}); len(c.woken) > 0 {
				t.Errorf("%s: it waits after Done", tc.reason)
			}
		})
	}
}

// listedLater is done when it was asked for so many times before.
type listedLater struct {
	listed
	asks int
}

func (l *listedLater) Done() <-chan struct{} {
	if l.asks--; l.asks >= 0 {
		return nil
	}
	return l.listed
}

// TestDependent verifies which contexts are those of dependents.
func TestDependent(t *testing.T) {
	if IsDependent(t.Context()) || !IsDependent(Dependent(t.Context())) {
		t.Error("a context is taken for another one")
	}
}

// TestRootText verifies the text of a recorded root cause: it has the present reason of the object.
func TestRootText(t *testing.T) {
	c := newCluster(t)
	c.cached.put("r", "1", "")
	waits(c.Engine, clusterID("w"), clusterID("x"))
	const name = "Cluster.test.windlass-go.github.io a/"
	text := func(root index.Root) string {
		c.index.SetRoot(clusterID("w"), root)
		cause, _ := c.Root(t.Context(), clusterID("w"))
		return cause.Text
	}
	of := func(name string, state why.State) index.Root {
		return index.Root{ID: clusterID(name), State: string(state)}
	}
	same(t, name+"r is not ready", text(of("r", why.Blocked)), "without a reconciler that reports")
	c.reporterOfKind.Store(clusters, Reporter(reports{}))
	same(t, name+"r is not ready: Busy", text(of("r", why.Blocked)), "with a reason")
	same(t, name+"none was not found", text(of("none", why.Missing)), "without a reason")
	same(t, name+"x is being deleted", text(of("x", why.Deleting)), "a deletion")
	same(t, "a cycle", text(index.Root{ID: clusterID("r"), Cycle: "a cycle"}), "a cycle")
}
