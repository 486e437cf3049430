package flowtest_test

import (
	"context"
	"errors"
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
	group            string // of the issuer
	approved, denied bool
	generation       int64
	deleting, retain bool
}

func certificateExtensions() flow.Extensions[*certificate] {
	check := func(name string, decide func(*certificate) checks.Result) checks.Middleware[*certificate] {
		return checks.Check(name, func(_ context.Context, req *checks.Request[*certificate]) (checks.Result, error) {
			return decide(req.Resource), nil
		})
	}
	return flow.Extensions[*certificate]{
		EntryCheck: chain.New(check("ours", func(c *certificate) checks.Result {
			if c.group != "ours" {
				return checks.Ignore("the issuer belongs to " + c.group)
			}
			return checks.Proceed()
		})),
		PreCheck: chain.New(check("approved", func(c *certificate) checks.Result {
			switch {
			case c.denied:
				return checks.Block("Denied", "the approver denied the request", checks.WithRetry(classify.Never))
			case !c.approved:
				return checks.Block("ApprovalPending", "not approved yet", checks.WithWaitingForSelf(), checks.WithRetry(classify.OnChange))
			}
			return checks.Proceed()
		})),
		DeleteCheck: chain.New(check("retain", func(c *certificate) checks.Result {
			if c.retain {
				return checks.Release("the certificate is retained")
			}
			return checks.Proceed()
		})),
	}
}

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
			c := &certificate{group: "ours", generation: 1}
			w := &flowtest.World[*certificate]{Resource: c, Extensions: certificateExtensions()}
			w.Operations.Apply = func(context.Context, *flow.Request[*certificate]) (flow.Progress, error) {
				return flow.Progress{}, errors.New("a request of another controller was applied")
			}
			w.Operations.Deleting = func(c *certificate) bool { return c.deleting }
			w.Operations.Generation = func(c *certificate) int64 { return c.generation }
			tc.script(w, c)
			t.Log(tc.reason)
			w.Run(t).Want(t, tc.want)
		})
	}
}
