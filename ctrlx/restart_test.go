package ctrlx_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// cloud has operations that run until the test ends them. It counts by UID, because names
// are used again.
type cloud struct {
	mu     sync.Mutex
	begun  map[types.UID]int
	polled map[types.UID][]string // with which tokens
	done   bool
	// begins is called when an operation is begun, before it is known under its token.
	begins func(d *testv1.Database)
	events chan string
}

func newCloud() *cloud {
	return &cloud{begun: map[types.UID]int{}, polled: map[types.UID][]string{}, events: make(chan string, 1000)}
}

func (c *cloud) apply(_ context.Context, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
	d := req.Resource
	if req.Token == "" {
		c.mu.Lock()
		c.begun[d.UID]++
		begins := c.begins
		c.mu.Unlock()
		c.events <- "begin"
		if begins != nil {
			begins(d)
		}
		return flow.InProgress("operation of "+string(d.UID), 20*time.Millisecond), nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.polled[d.UID] = append(c.polled[d.UID], req.Token)
	select {
	case c.events <- "poll":
	default:
	}
	if !c.done {
		return flow.InProgress(req.Token, 20*time.Millisecond), nil
	}
	return flow.Done(), nil
}

func (c *cloud) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = true
}

// next waits for something to be asked of the cloud.
func (c *cloud) next(t *testing.T, want string) {
	t.Helper()
	end := time.After(patience)
	for {
		select {
		case got := <-c.events:
			if got == want {
				return
			}
		case <-end:
			t.Fatalf("no operator asked the cloud to %s", want)
		}
	}
}

func (c *cloud) check(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for uid, n := range c.begun {
		if n != 1 {
			t.Errorf("%d operations were begun for %s", n, uid)
		}
	}
	for uid, tokens := range c.polled {
		for _, token := range tokens {
			if token != "operation of "+string(uid) {
				t.Errorf("%s was polled with the token of another object: %s", uid, token)
				break
			}
		}
	}
}

// An object that is deleted and created again while an operation begins gets nothing of the old one: no token, no status.
func TestMadeAnew(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		ends   bool // at once
		breaks bool // the API server fails while the token is being kept
	}{
		"Token":  {reason: "the token is of an operation of another object"},
		"Status": {reason: "the status is of another object", ends: true},
		"Broken": {reason: "a token that could not be kept with its object is not kept with the next one", breaks: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, c := newOperator(t), newCloud()
			first := o.database("db", "")
			var second *testv1.Database
			c.begins = func(d *testv1.Database) {
				if d.UID != first.UID || second != nil {
					return
				}
				if tc.breaks {
					o.traffic.answers(refusing("PATCH databases/status", 500, "InternalError", 1))
				}
				if err := api.Delete(context.Background(), first); err != nil {
					t.Error(err)
				}
				second = o.database("db", "")
			}
			apply := func(ctx context.Context, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
				p, err := c.apply(ctx, req)
				req.Resource.Status.Size = 2
				if req.Resource.UID == first.UID {
					req.Resource.Status.Size = 99
					if tc.ends {
						return flow.Done(), nil
					}
				}
				return p, err
			}
			o.start(ctrlx.New("Database", flow.Operations[*testv1.Database]{Apply: apply}, flow.Extensions[*testv1.Database]{}))
			c.next(t, "begin")
			c.next(t, "begin")
			c.finish()
			d := o.until("db", "True Succeeded")
			if d.UID != second.UID || d.Status.Size != 2 || operationOf(d) != "" {
				t.Errorf("%s: %+v, %v", tc.reason, d.Status, d.Annotations)
			}
			if tc.ends { // its operation has ended, and the cache may still have the old object for some passes
				c.mu.Lock()
				c.begun[first.UID] = min(c.begun[first.UID], 1)
				c.mu.Unlock()
			}
			c.check(t)
		})
	}
}
