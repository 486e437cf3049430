package soak_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// setLabel is the label of the clusters and of the databases of a set.
const setLabel = "set"

// setWaits is a check that needs a running cluster in the set of a database. The
// database waits for the set, or follows it.
type setWaits struct {
	waits atomic.Int64
	looks sync.Map // func(), by the value of the label
}

func (s *setWaits) check(ctx context.Context, req *checks.Request[database]) (checks.Result, error) {
	set := req.Resource.Labels[setLabel]
	q := checks.Query{Group: testv1.GroupVersion.Group, Kind: "Cluster", Selector: setLabel + "=" + set}
	all, err := req.Lister(ctx, q)
	if err != nil {
		return checks.Result{}, err
	}
	if looked, ok := s.looks.Load(set); ok {
		looked.(func())()
	}
	req.Follow(ctx, q.Ref())
	for _, c := range all {
		if c.Value.(*testv1.Cluster).Status.State == "Running" {
			return checks.Proceed(), nil
		}
	}
	s.waits.Add(1)
	return checks.Block("NoCluster", "no cluster of the set runs", checks.WithWaitingFor(q.Ref())), nil
}

// TestSets makes clusters enter sets while the waiters of the sets are created,
// and a third of the clusters leave and enter again. Then each cluster leaves and
// enters its set while the databases follow the set. The operator does not poll,
// so a lost wake-up stays lost.
func TestSets(t *testing.T) {
	sets, waiters, rounds := size(10, 50), size(100, 1000), size(1, *raceRounds)
	c := newCloud(t, random(t), 0, 0)
	ns := namespace(t)
	s := &setWaits{}
	o := start(t, setup{Process: "one", Namespace: ns, Get: true, Workers: 8}, c, func(o *operator) {
		o.entry = chain.New(checks.Check("set", s.check))
	})
	lost, begun := 0, time.Now()
	quiet := func(round int, want metav1.ConditionStatus) {
		t.Helper()
		o.wire.quiet(t, time.Second)
		list := &testv1.DatabaseList{}
		if err := api.List(t.Context(), list, client.InNamespace(ns), client.MatchingLabels{"round": strconv.Itoa(round)}); err != nil {
			t.Fatal(err)
		}
		if len(list.Items) != waiters {
			t.Fatalf("there are %d databases", len(list.Items))
		}
		for i := range list.Items {
			if !meta.IsStatusConditionPresentAndEqual(list.Items[i].Status.Conditions, "Ready", want) {
				lost++
			}
		}
	}
	for round := range rounds {
		set := func(i int) string { return fmt.Sprintf("r%d-s%d", round, i) }
		enter := func(i int, label string) {
			cluster := &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: set(i)}}
			patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, setLabel, label)
			if err := api.Patch(context.Background(), cluster, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
				t.Error(err)
			}
		}
		var wg sync.WaitGroup
		for i := range sets {
			makeCluster(t, ns, set(i), "Running")
			var looks atomic.Int64
			wg.Add(1)
			s.looks.Store(set(i), func() {
				if looks.Add(1) != int64(waiters/sets/2) {
					return
				}
				go func() { // passes over others are under way
					defer wg.Done()
					enter(i, strconv.Quote(set(i)))
					if strings.ContainsAny(set(i)[len(set(i))-1:], "147") {
						enter(i, "null")
						enter(i, strconv.Quote(set(i)))
					}
				}()
			})
		}
		for part := range 4 {
			wg.Go(func() {
				for i := part; i < waiters; i += 4 {
					d := &testv1.Database{ObjectMeta: metav1.ObjectMeta{
						Namespace: ns, Name: fmt.Sprintf("r%d-%d", round, i),
						Labels: map[string]string{"round": strconv.Itoa(round), setLabel: set(i * sets / waiters)},
					}, Spec: testv1.DatabaseSpec{Size: 1}}
					if err := api.Create(t.Context(), d); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		quiet(round, metav1.ConditionTrue)
		for i := range sets { // the databases follow the sets
			enter(i, "null")
		}
		quiet(round, metav1.ConditionFalse)
		for i := range sets {
			enter(i, strconv.Quote(set(i)))
		}
		quiet(round, metav1.ConditionTrue)
	}
	c.soFar(t)
	t.Logf("%d wake-ups of %d waiters and followers lost in %d rounds and %s; %d waits for sets",
		lost, rounds*waiters, rounds, time.Since(begun).Round(time.Second), s.waits.Load())
	if lost > 0 {
		t.Errorf("%d wake-ups were lost", lost)
	}
	if n := s.waits.Load(); n < int64(rounds*waiters) {
		t.Errorf("only %d passes waited for a set, so the test proves little", n)
	}
}
