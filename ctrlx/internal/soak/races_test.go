package soak_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// TestRaces starts owners while their waiters are created, a third of the
// owners twice. The operator does not poll, so a lost wake-up stays lost.
func TestRaces(t *testing.T) {
	owners, waiters, rounds := size(25, 50), size(500, 1000), size(1, *raceRounds)
	r := random(t)
	c := newCloud(t, r, 0, 0)
	ns := namespace(t)
	o := start(t, setup{Process: "one", Namespace: ns, Get: true, Workers: 8}, c, nil)
	lost, begun := 0, time.Now()
	for round := range rounds {
		race(t, c, ns, round, owners, waiters)
		o.wire.quiet(t, time.Second)
		list := &testv1.DatabaseList{}
		if err := api.List(t.Context(), list, client.InNamespace(ns), client.MatchingLabels{"round": strconv.Itoa(round)}); err != nil {
			t.Fatal(err)
		}
		if len(list.Items) != waiters {
			t.Fatalf("there are %d databases", len(list.Items))
		}
		for _, d := range list.Items {
			if !meta.IsStatusConditionTrue(d.Status.Conditions, "Ready") {
				lost++
			}
		}
	}
	c.soFar(t)
	waits := o.waits()
	t.Logf("%d of %d waiters lost in %d rounds and %s; %d passes, %d of them ended in a wait",
		lost, rounds*waiters, rounds, time.Since(begun).Round(time.Second), c.counts().Passes, waits)
	if lost > 0 {
		t.Errorf("%d of %d waiters were lost: they are blocked on a cluster that runs", lost, rounds*waiters)
	}
	if waits < rounds*waiters/2 {
		t.Errorf("only %d passes had to wait, so the test proves little", waits)
	}
}

// waits returns the number of passes that an owner check has blocked.
func (o *operator) waits() (n int) {
	o.passes.of.Range(func(_, v any) bool {
		p := v.(*onePass)
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.blocked != "" {
			n++
		}
		return true
	})
	return n
}

// race creates databases of owners. An owner begins to run when half of its
// databases have had a pass.
func race(t *testing.T, c *cloud, ns string, round, owners, waiters int) {
	var looked sync.Map // *atomic.Int64, by cluster
	var wg sync.WaitGroup
	cluster := func(at int) string { return fmt.Sprintf("r%d-c%d", round, at) }
	for i := range owners {
		looked.Store(cluster(i), &atomic.Int64{})
		makeCluster(t, ns, cluster(i), "Stopped")
	}
	wg.Add(owners)
	c.hears(func(q question, done bool) {
		n, ok := looked.Load(q.Text)
		if !ok || done || n.(*atomic.Int64).Add(1) != int64(waiters/owners/2) {
			return
		}
		go func() { // passes over others are under way
			defer wg.Done()
			report(t, ns, q.Text, "Running")
			if strings.ContainsAny(q.Text[len(q.Text)-1:], "147") { // a third of the owners twice
				report(t, ns, q.Text, "Stopped")
				report(t, ns, q.Text, "Running")
			}
		}()
	})
	for part := range 4 {
		wg.Go(func() {
			for i := part; i < waiters; i += 4 {
				at := i * owners / waiters // the databases of a cluster are created in sequence
				d := &testv1.Database{
					ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("r%d-%d", round, i), Labels: map[string]string{"round": strconv.Itoa(round)}},
					Spec:       testv1.DatabaseSpec{Cluster: cluster(at), Size: 1},
				}
				if err := api.Create(t.Context(), d); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
