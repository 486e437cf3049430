package soak_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// TestManyWaiters measures many databases that wait for one cluster. Each wait costs
// its report, once, and then nothing. When the cluster runs, every database
// proceeds, in one pass each.
func TestManyWaiters(t *testing.T) {
	const workers = 8
	n := size(200, 1000)
	c := newCloud(t, random(t), 0, 0)
	ns := namespace(t)
	makeCluster(t, ns, "prod", "Stopped")
	for i := range n {
		d := &testv1.Database{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("db-%d", i)},
			Spec:       testv1.DatabaseSpec{Cluster: "prod", Size: i + 1},
		}
		if err := api.Create(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	begun := time.Now()
	o := start(t, setup{Process: "one", Namespace: ns, Get: true, Delete: true, Workers: workers}, c, func(o *operator) { o.wire.events = true })
	until(t, 2*time.Minute, func() error {
		if got := c.counts().Passes; got < n {
			return fmt.Errorf("%d of %d databases had a pass", got, n)
		}
		return nil
	})
	o.wire.quiet(t, time.Second)
	blocked := time.Since(begun)
	writes := cmpopts.IgnoreMapEntries(func(what string, _ int) bool {
		return strings.HasPrefix(what, "WATCH") || what == "GET discovery" || what == "GET clusters" || what == "GET databases"
	})
	toWait := map[string]int{"PATCH databases/status": n, "POST events": n}
	toGoOn := map[string]int{"PATCH databases": n, "PATCH databases/status": n, "POST events": n} // the PATCH of databases adds the finalizer
	got := o.wire.take()
	if diff := cmp.Diff(toWait, got, writes); diff != "" {
		t.Errorf("requests to the API server to wait: -want, +got:\n%s", diff)
	}
	if got["GET clusters"] > 20 || got["GET databases"] > 20 {
		t.Errorf("objects were read one by one: %v", got)
	}
	// The first passes begin before the cache has the clusters. Their waiters
	// are woken when it has them.
	waiting := c.counts()
	if waiting.Passes > n+workers {
		t.Errorf("%d waiters need one pass each, got %d passes", n, waiting.Passes)
	}
	if diff := cmp.Diff(counts{Passes: waiting.Passes}, waiting); diff != "" {
		t.Errorf("requests to the cloud to wait: -want, +got:\n%s", diff)
	}

	// An operator that polled would do it now.
	time.Sleep(size(2*time.Second, 30*time.Second))
	if diff := cmp.Diff(map[string]int(nil), o.wire.take()); diff != "" {
		t.Errorf("requests to the API server during the wait: -want, +got:\n%s", diff)
	}

	begun = time.Now()
	report(t, ns, "prod", "Running")
	until(t, 2*time.Minute, func() error {
		if got := c.counts().Puts; got < n {
			return fmt.Errorf("%d of %d databases were made", got, n)
		}
		return nil
	})
	made := time.Since(begun)
	o.wire.quiet(t, time.Second)
	got = o.wire.take()
	if got["GET discovery"] > 2 {
		t.Errorf("the subresources of the kind must be read once, before the first Apply: %v", got)
	}
	delete(got, "GET discovery")
	if diff := cmp.Diff(toGoOn, got); diff != "" {
		t.Errorf("requests to the API server to proceed: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(counts{Passes: waiting.Passes + n, Gets: 2 * n, Puts: n}, c.counts()); diff != "" {
		t.Errorf("requests to the cloud for each database, a GET before the PUT and one for PostCheck: -want, +got:\n%s", diff)
	}
	list := &testv1.DatabaseList{}
	if err := api.List(t.Context(), list, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		d := &list.Items[i]
		if !readyNow(d) {
			t.Errorf("%s: %+v", d.Name, d.Status)
		}
	}
	t.Logf("%d blocked in %s, made in %s", n, blocked.Round(time.Millisecond), made.Round(time.Millisecond))
	c.soFar(t)
}
