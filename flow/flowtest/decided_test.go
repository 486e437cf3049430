package flowtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// certificate is a certificate request. An approver writes its status. It ends
// issued or denied.
type certificate struct {
	approved, denied bool
	generation       int64
}

// approved waits for the approver.
var approved = checks.Check("approved", func(_ context.Context, req *checks.Request[*certificate]) (checks.Result, error) {
	switch {
	case req.Resource.denied:
		return checks.Block("Denied", "the approver denied the request", checks.WithRetry(classify.Never)), nil
	case !req.Resource.approved:
		return checks.Block("ApprovalPending", "not approved yet", checks.WithWaitingForSelf(), checks.WithRetry(classify.OnChange)), nil
	}
	return checks.Proceed(), nil
})

// The engine acts on each decision as a real engine does.
func TestDecided(t *testing.T) {
	cases := map[string]struct {
		reason string
		script func(w *flowtest.World[*certificate], c *certificate)
		want   string
	}{
		"Issued": {"a write of the status wakes the request, and an issued request has no further pass, even after a restart",
			func(w *flowtest.World[*certificate], c *certificate) {
				w.Change(10*time.Minute, "approved", func() { c.approved = true }, checks.Ref{})
				w.Change(2*time.Hour, "", w.Restart)
				w.Apply.Then(flow.InProgress("order", time.Minute), flow.Finished("Issued", "issued by ours"))
			}, `
			00:00    blocked at PreCheck by approved: ApprovalPending  again in 1h or with its status  []
			10:00    * approved
			10:00    in progress at Apply  again in 1m  [Apply]
			11:00    finished at Apply: Issued  [Apply(order)]
			2:00:00  * the process restarts`},
		"Denied": {"a denied request is retried only after a change of its spec",
			func(w *flowtest.World[*certificate], c *certificate) {
				c.denied = true
				w.Change(time.Minute, "another condition", nil, checks.Ref{})
				w.Edit(time.Hour, "a new request", func() { c.denied, c.approved, c.generation = false, true, 2 })
				w.Apply.Then(flow.Done())
			}, `
			00:00    blocked at PreCheck by approved: Denied  []
			01:00    * another condition
			1:00:00  * a new request
			1:00:00  ready  again in 1h  [Apply]`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &certificate{generation: 1}
			w := &flowtest.World[*certificate]{Resource: c, Extensions: flow.Extensions[*certificate]{PreCheck: chain.New(approved)}}
			w.Operations.Generation = func(c *certificate) int64 { return c.generation }
			tc.script(w, c)
			t.Log(tc.reason)
			w.Run(t).Want(t, tc.want)
		})
	}
}
