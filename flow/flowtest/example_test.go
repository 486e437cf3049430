package flowtest_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// Pool is an agent pool. A cluster owns it.
type Pool struct {
	Size       int
	Generation int64
	Deleted    bool

	Token   string // of the operation under way
	TokenOf int64  // its generation
}

// Cluster is the owner. Its value is its state.
type Cluster string

func cluster(state string, readiness checks.State) checks.Object {
	c := Cluster(state)
	return checks.Object{Ref: prod, Value: &c, Readiness: checks.Readiness{State: readiness, Reason: state}}
}

var (
	prod     = checks.Ref{Kind: "Cluster", Name: "prod"}
	creating = cluster("Creating", checks.NotReady)
	ready    = cluster("Succeeded", checks.Ready)
	conflict = flowtest.Response(http.StatusConflict, "Conflict", "another operation is under way", 0)
)

// poolExtensions are the links under test.
var poolExtensions = flow.Extensions[*Pool]{OwnerCheck: chain.New(checks.OwnerReady())}

// t stands for the *testing.T of a test.
var t printing

type printing struct{ rapid.TB }

func (printing) Helper()                           {}
func (printing) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (printing) Fatalf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// A pool waits until its cluster is ready. Then two requests fail, because the
// cluster is busy. The third one starts an operation that takes 20 seconds.
func Example() {
	w := &flowtest.World[*Pool]{Kind: "AgentPool", Resource: &Pool{Size: 3}, Extensions: poolExtensions}
	w.Owner.From(0, creating).From(10*time.Second, ready)
	w.Get.From(0, flow.Observation{Presence: checks.Absent})
	w.Apply.Fail(conflict, conflict).Then(flow.InProgress("op-1", 20*time.Second), flow.Done())

	w.Run(t).Want(t, `
		00:00  blocked at OwnerCheck by OwnerReady: OwnerNotReady  again in 1s or with Cluster prod  [Owner]
		00:01  blocked at OwnerCheck by OwnerReady: OwnerNotReady  again in 2s or with Cluster prod  [Owner]
		00:03  blocked at OwnerCheck by OwnerReady: OwnerNotReady  again in 4s or with Cluster prod  [Owner]
		00:07  blocked at OwnerCheck by OwnerReady: OwnerNotReady  again in 8s or with Cluster prod  [Owner]
		00:10  * Cluster prod changes
		00:10  failed at Apply: Conflict  again in 1s   [Owner Get Apply]
		00:11  failed at Apply: Conflict  again in 2s   [Owner Get Apply]
		00:13  in progress at Apply       again in 20s  [Owner Get Apply]
		00:33  ready                      again in 1h   [Owner Apply(op-1)]`)
	// Output:
}

// A pool whose registry Secret is rotated is applied again, although it was
// Ready. Its deletion waits until no job uses it.
func ExampleWorld_Set() {
	secret := checks.Ref{Kind: "Secret", Name: "registry"}
	jobs := checks.Query{Kind: "Job", Field: "spec.pool", Value: "blue"}
	found := checks.Object{Ref: secret, Value: "password", Readiness: checks.Readiness{State: checks.Ready}}

	pool := &Pool{Size: 3}
	w := &flowtest.World[*Pool]{Resource: pool, Extensions: flow.Extensions[*Pool]{
		PreCheck:    chain.New(checks.ReferenceReady("registry", func(*Pool) []checks.Ref { return []checks.Ref{secret} })),
		DeleteCheck: chain.New(checks.Unused("jobs", func(*Pool) checks.Query { return jobs }, checks.WithAfter(time.Hour))),
	}}
	w.Operations.Deleting = func(p *Pool) bool { return p.Deleted }
	w.Apply.From(0, flow.Done())
	w.Delete.Then(flow.Done())
	w.Object(secret).From(0, found).From(10*time.Minute, found)
	w.Set(jobs).From(0, []checks.Object{{Ref: checks.Ref{Kind: "Job", Name: "nightly"}}}).From(25*time.Minute, nil)
	w.Edit(20*time.Minute, "a user deletes the pool", func() { pool.Deleted = true })

	w.Run(t).Want(t, `
		00:00  ready                                          again in 1h                                        [Resolve(Secret registry) Apply]
		10:00  * Secret registry changes
		10:00  ready                                          again in 1h                                        [Resolve(Secret registry) Apply]
		20:00  * a user deletes the pool
		20:00  blocked at DeleteCheck by Unused(jobs): InUse  again in 1h or with every Job with spec.pool=blue  [List(every Job with spec.pool=blue)]
		25:00  * every Job with spec.pool=blue changes
		25:00  gone                                                                                              [List(every Job with spec.pool=blue) Delete]`)
	// Output:
}

// A failure shows the first line that differs, and the actual timeline. This test expects a delay
// of three minutes after the second conflict.
func ExampleRun_Want() {
	w := &flowtest.World[*Pool]{Resource: &Pool{}}
	w.Apply.Fail(conflict, conflict).Then(flow.Done())

	w.Run(t).Want(t, `
		00:00  failed at Apply: Conflict  again in 1s  [Apply]
		00:01  failed at Apply: Conflict  again in 3m  [Apply]
		03:01  ready                      again in 1h  [Apply]`)
	// Output:
	// flowtest: the timeline differs at line 2:
	//   want 00:01 failed at Apply: Conflict again in 3m [Apply]
	//   got  00:01 failed at Apply: Conflict again in 2s [Apply]
	// the whole timeline:
	//   00:00  failed at Apply: Conflict  again in 1s  [Apply]
	//   00:01  failed at Apply: Conflict  again in 2s  [Apply]
	//   00:03  ready                      again in 1h  [Apply]
}

// A process ends during an operation. The resource stores the token, so the
// next process polls the operation. The spec has changed, so another PUT
// follows.
func ExampleWorld_Restart() {
	pool := &Pool{Size: 3, Generation: 1}
	w := &flowtest.World[*Pool]{Resource: pool, Operations: flow.Operations[*Pool]{
		Generation: func(p *Pool) int64 { return p.Generation },
		Token:      func(p *Pool) (string, int64) { return p.Token, p.TokenOf },
		SetToken: func(_ context.Context, p *Pool, token string, generation int64) error {
			p.Token, p.TokenOf = token, generation
			return nil
		},
	}}
	w.Apply.Then(flow.InProgress("op-1", time.Minute), flow.Done(), flow.InProgress("op-2", time.Minute), flow.Done())
	w.Edit(20*time.Second, "the size changes", func() { pool.Size, pool.Generation = 5, 2 })
	w.Change(20*time.Second, "", w.Restart)

	fmt.Print(w.Run(t))
	// Output:
	// 00:00  in progress at Apply  again in 1m  [Apply]
	// 00:20  * the size changes
	// 00:20  * the process restarts
	// 00:20  in progress at Apply  again in 1m  [Apply(op-1) Apply]
	// 01:20  ready                 again in 1h  [Apply(op-2)]
}
