package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// A set has at most 10,000 objects with content, in the cache and past it. Names
// have no limit.
func TestListTooMany(t *testing.T) {
	cases := map[string]struct {
		reason string
		n      int
		names  bool
		live   bool
		want   error
	}{
		"Limit":    {"the limit itself is allowed", MaxObjects, false, false, nil},
		"More":     {"one object more", MaxObjects + 1, false, false, ErrTooMany},
		"Live":     {"the same past the cache", MaxObjects + 1, false, true, ErrTooMany},
		"Names":    {"names of 50,000 objects", 50_000, true, false, nil},
		"LiveName": {"the same past the cache", 50_000, true, true, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			for i := range tc.n {
				c.both(fmt.Sprintf("c%05d", i), "9", "Running")
			}
			if tc.live {
				c.stale.Mark(named("c00000"), "10")
			}
			pass := c.Begin(index.ID{Kind: "Waiter", Name: "w"}, time.Minute)
			defer pass.Done()
			listed, err := pass.List(t.Context(), checks.Query{Group: clusters.Group, Kind: clusters.Kind, NamesOnly: tc.names})
			if !errors.Is(err, tc.want) || err == nil && len(listed.Objects) != tc.n {
				t.Errorf("%s: %d objects, error %v", tc.reason, len(listed.Objects), err)
			}
			if live := len(c.api.requests) > 0; live != tc.live {
				t.Errorf("%s: the API server was asked: %t", tc.reason, live)
			}
		})
	}
}
