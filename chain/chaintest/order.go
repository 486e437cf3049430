package chaintest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/linktag"
)

// Order fails the test unless the chain has exactly the links with these names,
// in this order, outermost first.
//
// Order compares the names with the list of links, and the list with calls. It
// draws 100 requests, or as many as the flag -rapid.checks sets, and calls the
// chain with each. The links must run in the listed order, and all of them if the
// call reaches the end. A failure shows the smallest request. Order makes the
// requests from their type. It only logs the first link that no call ran.
//
// A chain of checks fails the test: use checkstest.Order.
func Order[Req, Res any](t rapid.TB, c chain.Chain[Req, Res], names ...string) {
	t.Helper()
	if check := checkOf(c.Links()); check != "" {
		t.Fatalf("chaintest: Order: link %s is a check, which only checks.Compose runs: use checkstest.Order", check)
		return
	}
	OrderOf(t, c, names)
}

// OrderOf is [Order] with options: [WithRequests], [WithComposer] and
// [WithTimeout]. With WithRequests, every link must run for some request.
func OrderOf[Req, Res any](t rapid.TB, c chain.Chain[Req, Res], names []string, opts ...Option) {
	t.Helper()
	links := namesOf(c.Links())
	cfg := configure("Order", c.Links(), opts)
	r := runner[Req, Res]{t: t, by: "Order", config: cfg, c: c, listed: links}
	composer := composerOf[Req, Res](cfg)
	if composer != nil {
		r.compose, r.view = composer.Compose, composer.View
	}
	if cfg.requests != nil {
		var err error
		if r.requests, err = generator[Req]("WithRequests", cfg.requests); err != nil {
			cfg.refuse("%v", err)
		}
	}
	if len(cfg.wrong) > 0 {
		t.Fatalf("chaintest: Order: %s", strings.Join(cfg.wrong, "\nchaintest: Order: "))
		return
	}
	if !slices.Equal(names, links) {
		t.Errorf("chaintest: Order: the chain has other links, or in another order:\n%s  chain: %s", columns("expected", "actual", names, links), c)
		return
	}
	if len(links) > 0 {
		r.run()
	}
}

// checkOf returns the name of the first link that is a check, or "".
func checkOf(links []chain.Link) string {
	for i := range links {
		if _, check := links[i].Tag.(linktag.Check); check {
			return links[i].Name
		}
	}
	return ""
}

// runner calls a chain and compares the links that run with the listed links.
type runner[Req, Res any] struct {
	*config
	t        rapid.TB
	by       string
	c        chain.Chain[Req, Res]
	listed   []string
	requests *rapid.Generator[Req] // nil: make them from their type
	// compose is the function of a Composer, which needs the end as a link.
	// Nil: Then.
	compose func(chain.Chain[Req, Res]) chain.Handler[Req, Res]
	view    func(Req) any // returns the part of a request to print; nil: all of it

	ends  atomic.Int32 // the number of calls that reached the end
	calls int
	most  int    // the number of links that the longest call entered
	last  string // how the last call of that length ended
}

// run draws requests and reports the smallest one that shows another order.
func (r *runner[Req, Res]) run() {
	t, prefix := r.t, "chaintest: "+r.by
	t.Helper()
	given := r.requests != nil
	if !given {
		var err error
		if r.requests, err = generator[Req]("WithRequests", nil); err != nil {
			t.Logf("%s: no call was made: %v", prefix, err)
			return
		}
	}
	fault, stuck := "", false
	reported := search(t, r.by, func(rt *rapid.T) {
		req := r.requests.Draw(rt, "request")
		if stuck {
			return
		}
		r.calls++
		why, returned := r.call(req)
		stuck = !returned
		if why != "" {
			fault = why
			rt.Fatalf("the order differs")
		}
	})
	switch missing := r.most < len(r.listed); {
	case stuck:
		t.Fatalf("%s: %s", prefix, fault)
	case fault != "":
		t.Errorf("%s: %s%s", prefix, fault, strings.TrimSuffix(rerun(t, seed.FindString(reported)), "\n"))
	case reported != "":
		reported, _, _ = strings.Cut(reported, "\n") // the other lines are about this package
		t.Fatalf("%s: the requests could not be drawn: %s", prefix, reported)
	case missing && given:
		t.Errorf("%s: %s: give requests that pass the outer links", prefix, r.unseen())
	case missing:
		t.Logf("%s: %s: the links from there on were compared with the list only", prefix, r.unseen())
	}
}

// call makes one call. The call must enter the links in the listed order, and
// all of them if it reaches the end. Else call returns the difference.
func (r *runner[Req, Res]) call(req Req) (fault string, returned bool) {
	expected := slices.Clone(r.listed)
	if r.compose != nil {
		expected = append(expected, "end")
	}
	rec, before := &recorder{}, r.ends.Load()
	how := "it ended its goroutine"
	if !within(r.within, func() {
		defer func() {
			if v := recover(); v != nil {
				how = "it panicked: " + text(v)
			}
		}()
		res, err := r.handler(rec)(context.Background(), req)
		if how = "it returned " + show(res); err != nil {
			how = "it failed: " + text(err)
		}
	}) {
		return fmt.Sprintf("a call did not return within %s: it entered %s", r.within, strings.Join(rec.links(), ", ")), false
	}
	entered := rec.links()
	reached := r.ends.Load() > before
	inOrder := len(entered) <= len(expected) && slices.Equal(entered, expected[:len(entered)])
	if !inOrder || reached && len(entered) < len(expected) {
		end := "did not reach the end"
		if reached {
			end = "reached the end"
		}
		printed := any(req)
		if r.view != nil {
			printed = r.view(req)
		}
		return fmt.Sprintf("a call did not run the links in the order of the list\n  chain:   %s\n  request: %s\n  call:    it %s; %s\n%s",
			r.c, show(printed), end, how, columns("listed", "ran", expected, entered)), true
	}
	if len(entered) >= r.most {
		r.most, r.last = len(entered), how
	}
	return "", true
}

// recorder records the links that were entered, each after the one around it. It
// records no link within another one.
type recorder struct {
	mu      sync.Mutex
	depth   int
	entered []string
}

func (r *recorder) Enabled(context.Context) bool { return true }

func (r *recorder) Enter(ctx context.Context, link *chain.Link) context.Context {
	if link.Within == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.depth == len(r.entered) {
			r.entered = append(r.entered, link.Name)
		}
		r.depth++
	}
	return ctx
}

func (r *recorder) Exit(_ context.Context, link *chain.Link, _ chain.Exit) {
	if link.Within == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.depth--
	}
}

func (r *recorder) links() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.entered)
}

// handler composes the chain, observed by rec.
func (r *runner[Req, Res]) handler(rec *recorder) chain.Handler[Req, Res] {
	c := r.c.Observe(rec)
	if r.compose == nil {
		return c.Then(func(context.Context, Req) (res Res, err error) {
			r.ends.Add(1)
			return res, nil
		})
	}
	return r.compose(c.Append(chain.Named("end", func(next chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		return func(ctx context.Context, req Req) (Res, error) {
			r.ends.Add(1)
			return next(ctx, req)
		}
	})))
}

// unseen describes the first link that no call ran, and the longest call.
func (r *runner[Req, Res]) unseen() string {
	outer := "none ran any link"
	if r.most > 0 {
		outer = "the longest ended in link " + r.listed[r.most-1]
	}
	return fmt.Sprintf("none of %d calls ran link %s; %s; %s", r.calls, r.listed[r.most], outer, r.last)
}
