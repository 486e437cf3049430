package flowtest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// A run prints as a timeline and as the changes of the Ready condition.
func TestPasses(t *testing.T) {
	w, _ := newWorld(doing())
	subnet := checks.Ref{Kind: "Subnet", Name: "a"}
	w.Extensions.PreCheck = chain.New(checks.Check("Both", func(context.Context, *checks.Request[*Pool]) (checks.Result, error) {
		if w.Elapsed() == 0 {
			return checks.Block("Waits", "for both", checks.WithWaitingFor(prod, subnet), checks.WithRetry(classify.OnChange)), nil
		}
		return checks.Proceed(), nil
	}))
	w.Apply.Fail(flowtest.Response(429, "Busy", "two\nlines", 1500*time.Millisecond)).Then(underWay)
	got := w.Run(t)

	mustEqual(t, "the timeline has aligned columns", `00:00      blocked at PreCheck by Both: Waits  again in 1h or with Cluster prod, Subnet a  []
1:00:00    failed at Apply: Busy               again in 1.5s                               [Apply]
1:00:01.5  in progress at Apply                again in 1s                                 [Apply]
1:00:02.5  ready                               again in 1h                                 [Apply(op)]
`, got.String())
}

// Want ignores spaces and empty lines, and fails if a line is missing.
// ExampleRun_Want has the text of a failure.
func TestWant(t *testing.T) {
	w, _ := newWorld(doing())
	w.Apply.Fail(conflict)
	r := w.Run(t)
	const lines = "\n\t00:00 failed at Apply: Conflict   again in 1s [Apply]\n\n  00:01 ready again\tin 1h [Apply]  "
	r.Want(t, lines)
	failures, fatal := failuresOf(func(t rapid.TB) { r.Want(t, lines+"\n01:00 gone") })
	if fatal || !strings.Contains(failures, "line 3:\n  want 01:00 gone\n  got  \n") {
		t.Errorf("the test must continue after Want: fatal %t\n%s", fatal, failures)
	}
	mustFail(t, "a run without passes", func(t rapid.TB) { (&flowtest.Run{}).Want(t, "00:00 ready") }, "the whole timeline:\n")
}

// A restart cancels the running call, and the next process reconciles the resource
// at once. The canceled pass keeps the condition, and a resource that is gone has none.
func TestReady(t *testing.T) {
	w, p := newWorld(doing())
	w.Apply.Fail(conflict)
	calls := 0
	w.Operations.Apply = func(ctx context.Context, _ *request) (flow.Progress, error) {
		if calls++; calls == 1 { // the first call has a scripted answer
			w.Restart()
		}
		return flow.Done(), ctx.Err()
	}
	w.Edit(time.Minute, "the user deletes it", func() { p.Deleted = true })
	r := w.RunUntil(t, time.Hour)
	r.Want(t, `
		00:00 failed at Apply: Conflict again in 1s [Apply]
		00:01 canceled at Apply: Canceled [Apply]
		00:01 * the process restarts
		00:01 ready again in 1h [Apply]
		01:00 * the user deletes it
		01:00 gone [Delete]`)
	var got []string
	for _, p := range r.Passes {
		got = append(got, p.Ready.Reason)
	}
	mustEqual(t, "the reasons of Ready", []string{"Conflict", "Conflict", "Succeeded", ""}, got)
}
