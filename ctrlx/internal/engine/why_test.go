package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/why"
	"github.com/windlass-go/windlass/internal/testing/ratio"
)

var longMessage = "owner Cluster.example.com apps/cluster is not ready: Creating" + strings.Repeat(" and waits", 1000)

// passes are more passes than a document shows, with long texts.
var passes = slices.Repeat([]flow.Explanation{{Name: "Database", State: "failed", Error: strings.Repeat("no answer ", 3000)}}, 20)

// crowd reports n objects that wait for 100 others.
type crowd int

func (n crowd) Unready(_ context.Context, _ bool, add func(why.Object)) (int, int, error) {
	for i := range int(n) {
		id := index.ID{Group: "example.com", Kind: "Database", Namespace: "apps", Name: fmt.Sprintf("database-%06d", i)}
		add(why.Object{
			Ref: id, Reconciler: "Database", State: why.Blocked, Reason: "OwnerNotReady", Point: "OwnerCheck", Link: "OwnerReady", Since: time.Unix(1, 0),
			Message: longMessage, Passes: passes,
		})
	}
	return 0, 0, nil
}

func (crowd) View(client.Object, checks.Ref) checks.Object { return checks.Object{} }
func (crowd) Keeps(context.Context, types.NamespacedName, checks.Ref, client.Object) bool {
	return false
}
func (crowd) Decided(context.Context, types.NamespacedName) bool { return false }
func (crowd) Describe() why.Flow                                 { return why.Flow{Name: "Database"} }

// crowdedEngine has n waiters of 100 objects.
func crowdedEngine(n int) *Engine {
	e := &Engine{index: index.New(func(index.ID) {}, nil), catalog: &catalog{}, reporters: []Reporter{crowd(n)}}
	_, _, _ = crowd(n).Unready(context.Background(), false, func(o why.Object) {
		id := o.Ref
		var at int
		_, _ = fmt.Sscanf(id.Name, "database-%d", &at)
		p := e.index.Begin(id)
		owner := index.ID{Group: "example.com", Kind: "Cluster", Namespace: "apps", Name: fmt.Sprintf("cluster-%d", at%100)}
		p.Register(owner).Saw(1)
		p.End(index.End{Awaited: []index.ID{owner}})
	})
	return e
}

// answer returns the answer of the endpoint.
func answer(e *Engine) []byte {
	all, _, _, err := e.Unready(context.Background(), false)
	if err != nil {
		panic(err)
	}
	data, err := json.Marshal(why.New(all).Document(time.Unix(100, 0)))
	if err != nil {
		panic(err)
	}
	return data
}

// An answer for 100,000 waiters has at most 5 MB and all root causes.
func TestWhyOfManyWaiters(t *testing.T) {
	const n = 100_000
	data := answer(crowdedEngine(n))
	d, err := why.Read(bytes.NewReader(data))
	if err != nil || len(data) > 5_000_000 || len(d.Causes) != 100 || d.Causes[0].Waiters != n/100 || d.Waiting < n {
		t.Errorf("the answer has %d bytes and %d causes: %v", len(data), len(d.Causes), err)
	}
}

// The time of an answer is proportional to the number of the waiters.
func TestWhyRatio(t *testing.T) {
	ratio.InVerify(t)
	few, many := crowdedEngine(10_000), crowdedEngine(100_000)
	if got := ratio.Of(func() { answer(many) }, func() { answer(few) }, ratio.Options{Samples: 1}); got > 40 {
		t.Errorf("ten times as many waiters take %.0f times as long", got)
	}
}
