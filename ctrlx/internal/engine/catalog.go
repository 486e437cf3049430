package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// How often discovery is read, and how long its answers hold.
const (
	discoveryGap     = 2 * time.Second  // from the end of a list to the next list, at least
	discoveryTimeout = 10 * time.Second // of a list
	settleTime       = 10 * time.Second // after an event of a definition; discovery shows the change with a delay

	// How long a kind counts as missing without a new list: if definitions are watched, and if not.
	missingIfWatched = 10 * time.Minute
	missingIfNot     = 5 * time.Second
)

// catalog holds the kinds that discovery lists. All kinds share one list, so
// the number of requests does not depend on the number of missing kinds. It
// remembers nothing of a kind that discovery does not list: users choose those
// names.
type catalog struct {
	list func(ctx context.Context) (listing, error)
	// listed is called with the kinds that the last list has and the one before had not.
	listed func(added map[schema.GroupKind]bool)
	// stopped ends the lists of a manager that stops.
	stopped context.Context

	mu      sync.Mutex
	kinds   map[schema.GroupKind]servedKind // nil: there was no list yet
	failed  map[string]error                // by group: why the last list lacks it
	err     error                           // of the last list as a whole
	began   time.Time                       // the list that kinds is from
	ended   time.Time                       // the last list
	running chan struct{}                   // closed when the list under way ends; nil: there is none
	watched bool                            // definitions are watched
	defined map[string]time.Time            // by group: the last event of a definition
}

// listing is the answer of discovery.
type listing struct {
	kinds  map[schema.GroupKind]servedKind
	failed map[string]error
}

// servedKind is a kind that the API server serves.
type servedKind struct {
	versions   []string // that can be listed and watched; the API server's preferred one first
	status     []string // versions with the subresource status
	namespaced bool
}

// find returns how the API server serves a kind. found is false if discovery
// does not list a kind of exactly this name.
func (c *catalog) find(ctx context.Context, gk schema.GroupKind) (k servedKind, found bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, found = c.kinds[gk]; !found && c.due(gk.Group) {
		c.refresh(ctx)
		if ctx.Err() != nil {
			return k, false, fmt.Errorf("%w: %w", errNotDiscovered, ctx.Err())
		}
	}
	if k, found = c.kinds[gk]; !found {
		err = cmp.Or(c.err, c.failed[gk.Group])
	}
	return k, found, err
}

// hasStatus reports whether discovery lists the subresource status of a kind. It
// waits for a list for at most wait. An answer other than yes holds for
// RefusedFor. A version that discovery does not list yet is an error.
func (c *catalog) hasStatus(ctx context.Context, kind schema.GroupVersionKind, wait time.Duration) (has bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	has = slices.Contains(c.kinds[kind.GroupKind()].status, kind.Version)
	if !has && (c.running != nil || time.Since(c.ended) >= RefusedFor) {
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		c.refresh(ctx)
		if ctx.Err() != nil {
			return false, fmt.Errorf("%w: %w", errNotDiscovered, context.Cause(ctx))
		}
	}
	switch k := c.kinds[kind.GroupKind()]; {
	case slices.Contains(k.status, kind.Version):
		return true, nil
	case !slices.Contains(k.versions, kind.Version):
		return false, cmp.Or(c.err, c.failed[kind.Group], errNotListed)
	}
	return false, cmp.Or(c.err, c.failed[kind.Group])
}

// dropStatus forgets that a kind has the subresource status: a write found none. The
// next pass reads discovery.
func (c *catalog) dropStatus(gk schema.GroupKind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, found := c.kinds[gk]; found {
		k.status = nil
		c.kinds[gk], c.ended = k, time.Time{}
	}
}

var (
	errNotDiscovered = errors.New("discovery has not answered yet")
	errNotListed     = errors.New("discovery does not list this version of the kind yet")
)

// due reports whether a list may find a kind of group that the last one
// lacks. It is called with the lock held.
func (c *catalog) due(group string) bool {
	if c.running != nil {
		return true
	}
	if time.Since(c.ended) < discoveryGap {
		return false
	}
	granted := missingIfNot
	if c.watched {
		granted = missingIfWatched
	}
	// After an event of a definition, and once more after the time in which discovery lags.
	stale := !c.began.After(c.defined[group]) || !c.settling(group) && c.provisional(group)
	return c.err != nil || c.failed[group] != nil || time.Since(c.began) > granted || stale
}

// provisional reports whether the last list may lack the last change of a
// definition of group. It is called with the lock held.
func (c *catalog) provisional(group string) bool {
	return !c.began.After(c.defined[group].Add(settleTime))
}

// refreshNow reads discovery, and returns when the answer is taken over, or ctx is done.
func (c *catalog) refreshNow(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refresh(ctx)
}

// refresh is refreshNow with the lock held. It releases the lock while it waits.
func (c *catalog) refresh(ctx context.Context) {
	running := c.running
	if running == nil {
		running = make(chan struct{})
		c.running = running
		go func() {
			began := time.Now()
			ctx, cancel := context.WithTimeout(c.stopped, discoveryTimeout)
			defer cancel()
			got, err := c.list(ctx)
			added := c.take(began, got, err)
			close(running)
			if len(added) > 0 {
				c.listed(added)
			}
		}()
	}
	c.mu.Unlock()
	defer c.mu.Lock()
	select {
	case <-running:
	case <-ctx.Done():
	}
}

// take takes over the answer of discovery, and returns the kinds that are new.
// A group whose discovery failed keeps the kinds and versions that it had.
func (c *catalog) take(began time.Time, got listing, err error) (added map[schema.GroupKind]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, c.ended, c.err = nil, time.Now(), err
	if err != nil {
		return nil
	}
	for gk, k := range c.kinds {
		if now, listed := got.kinds[gk]; got.failed[gk.Group] != nil {
			if listed {
				k.versions, k.status = union(now.versions, k.versions), union(now.status, k.status)
			}
			got.kinds[gk] = k
		}
	}
	if c.kinds != nil {
		added = map[schema.GroupKind]bool{}
		for gk := range got.kinds {
			if _, had := c.kinds[gk]; !had {
				added[gk] = true
			}
		}
	}
	c.kinds, c.failed, c.began = got.kinds, got.failed, began
	return added
}

// drop forgets a kind that discovery listed and the API server does not know.
func (c *catalog) drop(gk schema.GroupKind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.kinds, gk)
	c.defined[gk.Group] = time.Now()
}

// watch notes that events of definitions call define from now on.
func (c *catalog) watch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watched = true
}

// define notes an event of a definition of group.
func (c *catalog) define(group string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.defined[group] = time.Now()
}

// settling reports whether a definition of group has changed a moment ago. It
// is called with the lock held.
func (c *catalog) settling(group string) bool { return time.Since(c.defined[group]) < settleTime }

// unsettled reports whether a kind is missing and a list may find it: a
// definition of its group has changed after the last list, or a moment ago.
func (c *catalog) unsettled(gk schema.GroupKind) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, found := c.kinds[gk]
	return !found && c.provisional(gk.Group)
}

// wakes reports whether the waiters of a kind are woken once it is installed.
// It is false for kinds that discovery lists.
func (c *catalog) wakes(gk schema.GroupKind) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, found := c.kinds[gk]
	return !found && c.watched && c.err == nil && c.failed[gk.Group] == nil && (c.settling(gk.Group) || !c.provisional(gk.Group))
}

// discover returns a function that reads discovery: two requests, for /api and
// /apis. API servers without aggregated discovery cost one more request for
// each version of a group.
func discover(config *rest.Config, httpClient *http.Client) func(context.Context) (listing, error) {
	made := sync.OnceValues(func() (*discovery.DiscoveryClient, error) {
		return discovery.NewDiscoveryClientForConfigAndClient(config, httpClient)
	})
	return func(ctx context.Context) (listing, error) {
		client, err := made()
		if err != nil {
			return listing{}, err
		}
		groups, lists, err := discovery.ServerGroupsAndResourcesWithContext(ctx, client)
		failures, partly := discovery.GroupDiscoveryFailedErrorGroups(err)
		if err != nil && !partly {
			return listing{}, err
		}
		failed := map[string]error{}
		for gv := range failures {
			failed[gv.Group] = err
		}
		return listing{kindsOf(groups, lists), failed}, nil
	}
}

// kindsOf returns the kinds that discovery lists, under their exact names.
// Subresources other than the status are left out.
func kindsOf(groups []*metav1.APIGroup, lists []*metav1.APIResourceList) map[schema.GroupKind]servedKind {
	resources := map[string][]metav1.APIResource{}
	for _, list := range lists {
		resources[list.GroupVersion] = list.APIResources
	}
	kinds := map[schema.GroupKind]servedKind{}
	for _, group := range groups {
		versions := []metav1.GroupVersionForDiscovery{group.PreferredVersion}
		for _, v := range group.Versions {
			if v.Version != group.PreferredVersion.Version {
				versions = append(versions, v)
			}
		}
		for _, v := range versions {
			for _, r := range resources[v.GroupVersion] {
				if strings.Contains(r.Name, "/") {
					continue
				}
				gk := schema.GroupKind{Group: group.Name, Kind: r.Kind}
				k := kinds[gk]
				k.namespaced = r.Namespaced
				if slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "watch") && !slices.Contains(k.versions, v.Version) {
					k.versions = append(k.versions, v.Version)
				}
				if slices.ContainsFunc(resources[v.GroupVersion], func(sub metav1.APIResource) bool { return sub.Name == r.Name+"/status" }) {
					k.status = append(k.status, v.Version)
				}
				kinds[gk] = k
			}
		}
	}
	return kinds
}

// union returns the values of both lists, those of a first.
func union(a, b []string) []string {
	for _, v := range b {
		if !slices.Contains(a, v) {
			a = append(a, v)
		}
	}
	return a
}

// RefusedFor is the time for which the engine keeps a refusal.
const RefusedFor = 5 * time.Second
