package soak_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// pollEvery is the interval between live reads of awaited objects. The first
// waiter must be woken within this interval and a little more, after the return
// of the API server. The last waiter must be woken when there has been time for
// the passes over all waiters.
const (
	pollEvery = 5 * time.Second
	little    = 5 * time.Second
)

// TestServerKilled kills and restarts the API server. The awaited objects
// change before their waiters can see it.
func TestServerKilled(t *testing.T) {
	const owners, busy = 10, 20
	waiters, each := size(100, 1000), size(40*time.Millisecond, 15*time.Millisecond)
	outages := size([]time.Duration{0}, []time.Duration{0, 2 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second})
	r := random(t)
	c := newCloud(t, r, 10*time.Millisecond, 100*time.Millisecond)
	ns := namespace(t)
	name := func(i int) string { return fmt.Sprintf("c%d", i) }
	for i := range owners {
		makeCluster(t, ns, name(i), "Stopped")
	}
	start(t, setup{Process: "one", Namespace: ns, Get: true, Delete: true, Workers: 8, Poll: pollEvery}, c)
	for i := range waiters {
		d := &testv1.Database{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("db-%d", i)},
			Spec:       testv1.DatabaseSpec{Cluster: name(i % owners), Size: i + 1},
		}
		if err := api.Create(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	// Other databases are not blocked when the API server is killed. They are
	// larger.
	const large = 1 << 30
	makeCluster(t, ns, "runs", "Running")
	for i := range busy {
		d := &testv1.Database{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("busy-%d", i)}, Spec: testv1.DatabaseSpec{Cluster: "runs", Size: large},
		}
		if err := api.Create(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	resize := func(name string, size int) {
		t.Helper()
		d := &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
		if err := api.Patch(t.Context(), d, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"size":%d}}`, size))); err != nil {
			t.Fatal(err)
		}
	}
	all := func(want string, as func(database) bool) func() error {
		return func() error {
			list := &testv1.DatabaseList{}
			if err := api.List(context.Background(), list, client.InNamespace(ns)); err != nil {
				return err
			}
			n := 0
			var first error
			for i := range list.Items {
				if d := &list.Items[i]; as(d) || d.Spec.Size >= large && readyNow(d) {
					n++
				} else if first == nil {
					first = fmt.Errorf("%s: %+v", d.Name, d.Status)
				}
			}
			if n < waiters+busy {
				return fmt.Errorf("%d of %d are %s: %w", n, waiters+busy, want, first)
			}
			return nil
		}
	}
	for round, outage := range outages {
		until(t, 3*time.Minute, all("blocked", blockedNow))
		var mu sync.Mutex
		var woken []time.Time
		c.hears(func(q question, done bool) {
			if q.Do == "put" && !done && q.Size < large {
				mu.Lock()
				defer mu.Unlock()
				woken = append(woken, time.Now())
			}
		})
		for i := range busy {
			resize(fmt.Sprintf("busy-%d", i), large+round+1)
		}
		the.kill()
		killed := time.Now()
		time.Sleep(outage)
		if err := the.restart(); err != nil {
			t.Fatal(err)
		}
		back := time.Now()
		for i := range owners {
			if err := retried(func() error { return tryReport(ns, name(i), "Running") }); err != nil {
				t.Fatal(err)
			}
		}
		ran := time.Now()
		until(t, 3*time.Minute, func() error {
			mu.Lock()
			defer mu.Unlock()
			if len(woken) < waiters {
				return fmt.Errorf("%d of %d waiters were woken since the return of the API server", len(woken), waiters)
			}
			return nil
		})
		c.hears(nil)
		after := func(at time.Time) time.Duration { return at.Sub(back).Round(10 * time.Millisecond) }
		t.Logf("down for %s; after the return owners run within %s, the first waiter is woken after %s, half after %s, the last after %s",
			back.Sub(killed).Round(10*time.Millisecond), after(ran), after(woken[0]), after(woken[waiters/2]), after(woken[waiters-1]))
		if first, last := woken[0].Sub(ran), woken[waiters-1].Sub(woken[0]); first > pollEvery+little || last > time.Duration(waiters)*each+little {
			t.Errorf("the first waiter was woken %s after the owners run, want at most %s; the last %s after the first, with %s for each",
				first, pollEvery+little, last, each)
		}
		until(t, 3*time.Minute, all("ready", readyNow))
		if round == len(outages)-1 {
			break
		}
		for i := range owners { // once more, for new specs
			report(t, ns, name(i), "Stopped")
		}
		for i := range waiters {
			resize(fmt.Sprintf("db-%d", i), (round+1)*waiters+i+1)
		}
	}
	got := c.counts()
	t.Logf("the cloud: %+v", got)
	if got.Doubled+got.Refused > 0 {
		t.Errorf("repeated PUTs: %d, PUTs while an operation was under way: %d", got.Doubled, got.Refused)
	}
	c.soFar(t)
}

// retried repeats a request until the API server, which has just returned,
// accepts it.
func retried(try func() error) (err error) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = try(); err == nil {
			return nil
		}
	}
	return errors.Join(errors.New("the API server does not accept the request"), err)
}
