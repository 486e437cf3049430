package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// webs is the set of the clusters with a label, in all namespaces.
var webs = checks.Query{Group: clusters.Group, Kind: clusters.Kind, Namespace: checks.AllNamespaces, Selector: "app=web"}

// list makes waiter wait for a set, or follow it, and returns the names and
// states that it read.
func (c *cluster) list(t *testing.T, waiter string, q checks.Query, follows bool) string {
	t.Helper()
	c.mu.Unlock()
	defer c.mu.Lock()
	pass := c.Begin(index.ID{Kind: "Waiter", Namespace: "a", Name: waiter}, time.Second)
	l, err := pass.List(t.Context(), q)
	var names []string
	for _, obj := range l.Objects {
		names = append(names, obj.GetName()+" "+obj.(*testv1.Cluster).Status.State)
	}
	end := End{Awaited: []checks.Ref{l.Ref}}
	if follows && err == nil {
		end = End{Followed: []Followed{{Ref: l.Ref, Read: true, Number: l.Follow}}}
	}
	pass.End(t.Context(), end)
	if err != nil {
		return err.Error()
	}
	return strings.Join(names, ", ")
}

// web puts a cluster with the label of webs into the API server.
func (s *store) web(name, version, state string) {
	s.put(name, version, state)
	s.objects[name].Labels = map[string]string{"app": "web"}
}

// bothWeb puts it into the cache, too.
func (c *cluster) bothWeb(name, version, state string) {
	c.api.web(name, version, state)
	c.cached.web(name, version, state)
}

// remove deletes a cluster, in a version of the kind.
func (s *store) remove(name, version string) {
	delete(s.objects, name)
	s.version = version
}

// twoRounds lasts until the fallback has compared the objects of a kind with a
// broken watch.
const twoRounds = 2*time.Minute + time.Second

func TestFallbackSets(t *testing.T) {
	cases := map[string]struct {
		reason  string
		first   string // the set at first; empty: "a Running"
		hides   func(c *cluster)
		then    string // the set for the waiter that is woken
		asleep  bool   // no waiter is woken
		follows bool
	}{
		"Enters":      {reason: "a new object is in the set", hides: func(c *cluster) { c.api.web("b", "10", "New") }, then: "a Running, b New"},
		"EntersEmpty": {reason: "a waiter waits for the first object", first: "-", hides: func(c *cluster) { c.api.web("a", "10", "New") }, then: "a New"},
		"EntersByLabel": {reason: "an object that was there gets the label", hides: func(c *cluster) {
			c.api.web("other", "10", "Other")
		}, then: "a Running, other Other"},
		"Leaves":        {reason: "the last user is deleted", hides: func(c *cluster) { c.api.remove("a", "10") }},
		"LeavesByLabel": {reason: "the last user loses the label", hides: func(c *cluster) { c.api.put("a", "10", "Running") }},
		"Changes":       {reason: "an object of the set changes", hides: func(c *cluster) { c.api.web("a", "10", "Stopped") }, then: "a Stopped"},
		"Replaced": {reason: "the number of the objects is the same", hides: func(c *cluster) {
			c.api.remove("a", "10")
			c.api.web("b", "11", "New")
		}, then: "b New"},
		"Quiet": {reason: "the kind has a later version, and the same objects", hides: func(c *cluster) { c.api.version = "20" }, asleep: true},
	}
	for name, tc := range cases {
		for _, follows := range []bool{false, true} {
			t.Run(fmt.Sprint(name, map[bool]string{true: "Follower"}[follows]), func(t *testing.T) {
				withFallback(t, unchanged, func(t *testing.T, c *cluster) {
					c.both("other", "8", "Other")
					first := "a Running"
					if tc.first == "-" {
						first = ""
					} else {
						c.bothWeb("a", "9", "Running")
					}
					if got := c.list(t, "w", webs, follows); got != first {
						t.Fatalf("before the change it lists %q", got)
					}
					c.breaks()
					tc.hides(c)
					c.sleep(twoRounds)
					want := []string{"w"}
					if tc.asleep {
						want = nil
					}
					mustBeSame(t, want, c.woken, "%s: woken", tc.reason)
					if tc.asleep {
						return
					}
					if got := c.list(t, "w", webs, follows); got != tc.then {
						t.Errorf("%s: the pass that is woken lists %q", tc.reason, got)
					}
					c.cached.objects = maps.Clone(c.api.objects) // without an event
					c.sleep(time.Minute)
					c.woken = nil
					n := len(c.api.requests)
					if got := c.list(t, "w", webs, follows); got != tc.then || len(c.api.requests) > n {
						t.Errorf("%s: when the cache has caught up, it lists %q, with the requests %q", tc.reason, got, c.api.requests[n:])
					}
					c.sleep(time.Hour)
					same(t, []string(nil), c.woken, "%s: it is woken without a change", tc.reason)
				})
			})
		}
	}
}

// TestFallbackSetsOfNamespaces verifies what a broken watch of one namespace means
// for a cache of some namespaces: the sets of the others are listed from the
// cache. A set that passes
// cannot list keeps no other set and no object of the kind from being checked, and
// its waiter is woken once.
func TestFallbackSetsOfNamespaces(t *testing.T) {
	of := func(namespace string) checks.Query { q := webs; q.Namespace = namespace; return q }
	withFallback(t, func(c *cluster) {
		c.watch.informer, c.watch.everywhere = unversioned{}, false
		c.Engine.live, c.Engine.cache = &someNamespaces{c.api, forbidden()}, &someNamespaces{c.cached, errors.New("n " + unknownNamespace)}
	}, func(t *testing.T, c *cluster) {
		put := func(s *store, namespace, name, version string) {
			s.web(name, version, "Running")
			s.objects[name].Namespace = namespace
		}
		for _, s := range []*store{c.api, c.cached} {
			put(s, "a", "a", "9")
			put(s, "b", "b", "9")
			for i := range 8 {
				put(s, "a", fmt.Sprint("other", i), "9")
				s.objects[fmt.Sprint("other", i)].Labels = nil
			}
		}
		c.list(t, "a", of("a"), false)
		c.list(t, "b", of("b"), false)
		var others []Followed
		for i := range 8 {
			others = append(others, Followed{Ref: ID(clusters, types.NamespacedName{Namespace: "a", Name: fmt.Sprint("other", i)})})
		}
		p := c.Begin(index.ID{Kind: "Waiter", Namespace: "a", Name: "follower"}, time.Second)
		p.End(t.Context(), End{Followed: others})
		for _, namespace := range []string{checks.AllNamespaces, "foreign", "abroad"} {
			p := c.index.Begin(index.ID{Kind: "Waiter", Name: "of " + namespace})
			p.End(index.End{Awaited: []index.ID{setOf(of(namespace))}})
		}
		lists := func(waiter, want string) {
			t.Helper()
			if got := c.list(t, waiter, of(waiter), false); got != want {
				t.Errorf("the set of %s has %q, want %q; woken: %q", waiter, got, want, c.woken)
			}
		}
		c.woken = nil
		put(c.api, "b", "b2", "10") // the watch of b is broken
		c.sleep(time.Minute + time.Second)
		same(t, []string{"b", "of foreign"}, slices.Compact(sortedAfter(c.woken, 0)), "woken")
		lists("b", "b Running, b2 Running")
		var all []string
		for _, request := range c.api.requests {
			if strings.HasSuffix(request, " 1m0s") {
				all = append(all, request)
			}
		}
		same(t, []string{"list 500a 1m0s", "list 500abroad 1m0s", "list 500b 1m0s"}, sortedAfter(all, 0), "the requests of a round")
		n := len(c.api.requests)
		lists("a", "a Running")
		if len(c.api.requests) != n {
			t.Errorf("the set of a is listed live, although its watch works: %q", c.api.requests[n:])
		}
		put(c.cached, "b", "b2", "10")
		c.sleep(time.Minute)
		n = len(c.api.requests)
		lists("b", "b Running, b2 Running")
		if len(c.api.requests) != n {
			t.Errorf("the set of b is still listed live: %q", c.api.requests[n:])
		}
	})
}

func forbidden() error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "clusters"}, "", errors.New("no rule"))
}

// someNamespaces fails outside the namespaces a and b. A live store refuses the
// namespace "foreign" only, and all namespaces.
type someNamespaces struct {
	*store
	err error
}

func (s *someNamespaces) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	if o.Namespace == "a" || o.Namespace == "b" || o.Namespace == "abroad" && apierrors.IsForbidden(s.err) {
		return s.store.List(ctx, into, opts...)
	}
	return s.err
}
