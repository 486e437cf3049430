package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/flow/why"
)

// crowd reports n objects that wait for 100 others.
type crowd int

func (n crowd) Unready(_ context.Context, add func(index.ID, why.Object)) {
	for i := range int(n) {
		id := index.ID{Group: "example.com", Kind: "Database", Namespace: "apps", Name: fmt.Sprintf("database-%06d", i)}
		add(id, why.Object{
			Ref: refOf(id), Reconciler: "Database", State: why.Blocked, Reason: "OwnerNotReady", Point: "OwnerCheck", Link: "OwnerReady", Since: time.Unix(1, 0),
			Message: fmt.Sprintf("owner Cluster.example.com apps/cluster-%d is not ready: Creating", i%100),
		})
	}
}

func (crowd) View(client.Object, checks.Ref) checks.Object           { return checks.Object{} }
func (crowd) Verdict(types.NamespacedName) (why.State, string, bool) { return "", "", false }
func (crowd) Describe() why.Flow                                     { return why.Flow{Name: "Database"} }

// An answer for 100,000 waiters takes less than a second and 5 MB.
func BenchmarkWhy(b *testing.B) {
	const n = 100_000
	e := &Engine{index: index.New(func(index.ID) {}, nil), catalog: &catalog{}, reporters: []Reporter{crowd(n)}}
	crowd(n).Unready(context.Background(), func(id index.ID, _ why.Object) {
		var at int
		_, _ = fmt.Sscanf(id.Name, "database-%d", &at)
		p := e.index.Begin(id)
		owner := index.ID{Group: "example.com", Kind: "Cluster", Namespace: "apps", Name: fmt.Sprintf("cluster-%d", at%100)}
		p.Register(owner).Saw(1)
		p.End(index.End{Awaited: []index.ID{owner}})
	})
	b.ReportAllocs()
	for b.Loop() {
		d := why.New(e.Unready(context.Background())).Document(time.Unix(100, 0))
		data, err := json.Marshal(d)
		if err != nil || len(d.Causes) != 100 || d.Causes[0].Waiters != n/100 {
			b.Fatalf("there are %d causes: %v", len(d.Causes), err)
		}
		b.ReportMetric(float64(len(data)), "bytes/answer")
	}
}
