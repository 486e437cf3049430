package engine

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
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
				ctx, stop := context.WithCancel(t.Context())
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
