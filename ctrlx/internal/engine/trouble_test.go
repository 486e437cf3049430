package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// The operator loses the right to read an awaited kind, or the kind is no longer
// served in its version. Its waiters wake, and no pass decides from the cache,
// which has stopped at that moment, until the kind can be read again.
func TestUnreadable(t *testing.T) {
	resource := schema.GroupResource{Group: clusters.Group, Resource: "clusters"}
	cases := map[string]struct {
		reason string
		refuse error
		many   bool // more objects than are read one by one
		split  bool // an informer of several namespaces
		says   string
	}{
		"Forbidden":  {reason: "the role was changed", refuse: apierrors.NewForbidden(resource, "", nil), says: "forbidden"},
		"NotServed":  {reason: "the version was removed", refuse: apierrors.NewGenericServerResponse(404, "list", resource, "", "", 0, true), says: "could not find the requested resource"},
		"Method":     {reason: "an aggregated server lost the verb", refuse: apierrors.NewMethodNotSupported(resource, "list"), says: "not supported"},
		"SplitMany":  {reason: "a list of one namespace is refused", refuse: apierrors.NewForbidden(resource, "", nil), many: true, split: true, says: "forbidden"},
		"Unverified": {reason: "the credentials of the operator are not accepted any more", refuse: apierrors.NewUnauthorized("no"), says: "no"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t)
				if tc.split {
					c.watch.informer, c.watch.everywhere = unversioned{}, false
				}
				c.mu.Lock()
				defer c.mu.Unlock()
				var lines []string
				ctx, stop := context.WithCancel(log.IntoContext(t.Context(), funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})))
				defer stop()
				c.catalog = (&server{kinds: []schema.GroupKind{clusters}}).catalog(ctx)
				go c.fallback(ctx)
				c.both("c", "9", "Running")
				c.pass(t, "w", "c")
				if tc.many {
					for _, name := range strings.Split("abdefghijk", "") {
						c.both(name, "9", "Running")
						c.pass(t, "w"+name, name)
					}
				}
				c.breaks()
				c.api.remove("c", "10") // nothing reports it
				for _, verb := range []string{"list", "c"} {
					c.api.refuse[verb] = tc.refuse
				}
				c.sleep(3*time.Minute + time.Second)
				if !strings.Contains(strings.Join(c.woken, " "), "w") {
					t.Errorf("%s: the waiter is not woken", tc.reason)
				}
				to := checks.Ref{Group: clusters.Group, Kind: clusters.Kind, Name: "c"}
				read := func() (err error) {
					c.mu.Unlock()
					defer c.mu.Lock()
					pass := c.Begin(index.ID{Kind: "Waiter", Name: "w"}, time.Second)
					_, _, err = pass.Read(t.Context(), to)
					if w := pass.End(t.Context(), End{Awaited: []checks.Ref{to}}); w.Woken == (err != nil) {
						t.Errorf("%s: an event wakes the waiter: %t, after the error %v", tc.reason, w.Woken, err)
					}
					return err
				}
				if err := read(); err == nil || !strings.Contains(err.Error(), "cannot be read any more") || !strings.Contains(err.Error(), tc.says) {
					t.Errorf("%s: the pass reads the cache: %v", tc.reason, err)
				}
				c.waking.Lock()
				c.woken = nil
				c.waking.Unlock()
				c.sleep(10 * time.Minute)
				if len(c.woken) > 0 {
					t.Errorf("%s: the waiters are woken again and again: %q", tc.reason, c.woken)
				}
				if len(lines) != 1 || !strings.Contains(lines[0], `"msg"="an awaited kind cannot be read any more; its waiters are stopped"`) ||
					!strings.Contains(lines[0], ` "kind"="test.windlass-go.github.io/v1, Kind=Cluster" "namespace"=""`) {
					t.Errorf("%s: the log has %q", tc.reason, lines)
				}
				clear(c.api.refuse)
				c.sleep(3*time.Minute + time.Second)
				if !strings.Contains(strings.Join(c.woken, " "), "w") {
					t.Errorf("%s: the waiter is not woken when the kind can be read", tc.reason)
				}
				if diff := cmp.Diff("absent", c.pass(t, "w", "c")); diff != "" {
					t.Errorf("%s: the pass reads: -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestSetTrouble verifies which changes of the trouble of a scope passes must learn.
func TestSetTrouble(t *testing.T) {
	w := &watch{informer: unversioned{}}
	for i, step := range []struct {
		broken  bool
		err     error
		changed bool
	}{{false, nil, false}, {true, nil, true}, {true, nil, false}, {true, errDown, true}, {true, forbidden(), false}, {true, nil, true}, {false, nil, true}, {false, nil, false}} {
		if got := w.setTrouble("a", step.broken, step.err); got != step.changed {
			t.Errorf("step %d: changed: %t", i, got)
		}
		if broken, err := w.trouble("a"); broken != step.broken || !errors.Is(err, step.err) || w.unreadable() != (step.err != nil) || (w.troubles() == nil) == step.broken {
			t.Errorf("step %d: broken: %t, %v", i, broken, err)
		}
	}
	c := newCluster(t)
	c.catalog = (&server{}).catalog(t.Context())
	notServed := apierrors.NewGenericServerResponse(404, "list", schema.GroupResource{}, "", "", 0, true)
	if c.lose(t.Context(), c.watch, "", notServed) || c.watch.troubles() != nil {
		t.Error("a kind that is not installed is in trouble")
	}
	c.catalog = (&server{kinds: []schema.GroupKind{thing}}).catalog(t.Context())
	c.policy = map[schema.GroupKind]policy{{Group: "*", Kind: "*"}: watched}
	for _, tc := range []struct {
		reason   string
		version  string // that is watched; the API server serves v1
		open     bool
		replaced bool
	}{{"the next pass watches v1", "v0", true, true}, {"the same version may be served again", "v1", true, false}, {"other code may use the informer", "v0", false, false}} {
		was := &watch{kind: kind{gvk: thing.WithVersion(tc.version), namespaced: true, open: tc.open, policy: watched}, informer: unversioned{}, synced: always}
		c.watches[thing], c.cached.removed = was, 0
		to := checks.Ref{Group: thing.Group, Kind: thing.Kind, Namespace: "a", Name: "x"}
		p := c.Begin(index.ID{Kind: "Waiter", Namespace: "a", Name: "w"}, time.Second)
		_, _, err := p.Read(t.Context(), to)
		p.End(t.Context(), End{Awaited: []checks.Ref{to}})
		c.woken = nil
		for range 2 { // scopes
			if !c.lose(t.Context(), was, "a", notServed) || (was.troubles() == nil) != tc.replaced || (c.watches[thing] == nil) != tc.replaced || (c.cached.removed == 1) != tc.replaced {
				t.Errorf("%s: trouble %v, watches %v, %d informers are removed", tc.reason, was.troubles(), c.watches, c.cached.removed)
			}
		}
		if len(c.woken) == 0 || err != nil {
			t.Errorf("%s: the waiter is not woken; it read %v", tc.reason, err)
		}
	}
	status := func(code int32) error { return &apierrors.StatusError{ErrStatus: metav1.Status{Code: code}} }
	for err, want := range map[error]bool{errDown: true, status(500): true, status(503): true, status(429): true, status(410): true, status(499): false, status(403): false} {
		if retriable(err) != want {
			t.Errorf("%v is retriable: %t", err, !want)
		}
	}
}

// TestRead verifies what a pass reads, and in which order: a change that comes while it reads wakes the waiter.
func TestRead(t *testing.T) {
	c := newCluster(t)
	c.both("c", "1", "Running")
	c.cached.refuse["down"], c.cached.refuse["foreign"] = errDown, errors.New("foreign "+unknownNamespace)
	c.index.WakeFor = nil
	at := func(name string) checks.Ref {
		return checks.Ref{Group: clusters.Group, Kind: clusters.Kind, Name: name, ID: "/" + name}
	}
	for name, says := range map[string]string{"c": "", "none": "", "down": "ctrlx: Cluster.test.windlass-go.github.io a/down: it is down",
		"foreign": `ctrlx: Cluster.test.windlass-go.github.io a/foreign: the namespace "a" is not in the manager's cache: correct the reference, or add the namespace to cache.Options`} {
		p := c.Begin(index.ID{Kind: "Waiter", Namespace: "a", Name: "w"}, time.Second)
		ref, obj, err := p.Read(t.Context(), at(name))
		if (err == nil) != (says == "") || err != nil && err.Error() != says || (obj != nil) != (name == "c") || ref != clusterID(name) {
			t.Errorf("%s: %v, %v, %v", name, ref, obj, err)
		}
	}
	c.woken = nil
	c.cached.asked = func(string) {
		c.index.Changed(clusterID("c"), index.Change{Full: 7, Follow: 7})
		c.cached.asked = nil
	}
	p := c.Begin(index.ID{Kind: "Waiter", Namespace: "a", Name: "w"}, time.Second)
	if _, _, err := p.Read(t.Context(), at("c")); err != nil {
		t.Fatal(err)
	}
	if p.End(t.Context(), End{Awaited: []checks.Ref{at("c")}}); len(c.woken) == 0 {
		t.Error("a change during the read is lost")
	}
	c.definitions.watched = true
	c.catalog, c.policy = (&server{}).catalog(t.Context()), map[schema.GroupKind]policy{other: unwatched}
	for kind, says := range map[schema.GroupKind]string{other: "", thing: `ctrlx: Thing.a.example a/x: the kind "Thing.a.example" is not watched: `} {
		p := c.Begin(index.ID{Kind: "Waiter", Namespace: "a", Name: "v"}, time.Second)
		ref, obj, err := p.Read(t.Context(), checks.Ref{Group: kind.Group, Kind: kind.Kind, Name: "x"})
		if obj != nil || ref.Namespace != "a" || (err == nil) != (says == "") || err != nil && !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%s: %v, %v, %v", kind, ref, obj, err)
		}
		p.End(t.Context(), End{Awaited: []checks.Ref{ref}})
		c.woken = nil
		if c.index.Changed(index.ID(ref), index.Change{Full: digest.NotFound}); len(c.woken) > 0 && says == "" {
			t.Errorf("%s: that an object is missing wakes a waiter that knows it", kind)
		}
	}
	whole, err := p.Whole(t.Context(), at("c"))
	none, absent := p.Whole(t.Context(), at("none"))
	if _, err := p.Whole(t.Context(), checks.Ref{Group: thing.Group, Kind: thing.Kind, Name: "x"}); err == nil {
		t.Error("a refused kind is read")
	}
	c.api.refuse["c"] = errDown
	if _, down := p.Whole(t.Context(), at("c")); err != nil || whole.(*testv1.Cluster).Status.State != "Running" || none != nil || absent != nil || !errors.Is(down, errDown) {
		t.Errorf("whole: %v, %v; absent: %v, %v; down: %v", whole, err, none, absent, down)
	}
}
