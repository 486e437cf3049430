package aso_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
)

// EdgeSite is reconciled. After the PUT another API reports its rollout.
type EdgeSite struct{ Name, ID string }

// EdgeRollout is a client for that API.
type EdgeRollout struct {
	done, regions int
	err           error
}

// Deployed checks the progress of the rollout. checks.LiveState would be wrong
// here: it proceeds after a 404, which is right before a PUT but not before
// Ready.
func (r *EdgeRollout) Deployed(_ context.Context, req *checks.Request[*EdgeSite]) (checks.Result, error) {
	switch {
	case req.Resource.ID == "":
		return checks.Block("NoResourceID", "the site has no ID in Azure yet"), nil
	case r.err != nil:
		return checks.Result{}, fmt.Errorf("reading the rollout of %s: %w", req.Resource.Name, r.err)
	case r.done < r.regions:
		return checks.Block("RollingOut", fmt.Sprintf("it is in %d of %d regions", r.done, r.regions)), nil
	}
	return checks.Proceed(), nil
}

// Example_postCheckDeployment: a site is Ready after its rollout. An unfinished
// rollout is a block, an unreadable one an error.
func Example_postCheckDeployment() {
	rollout, found := &EdgeRollout{regions: 3}, false
	sites := flow.New("Site", flow.Operations[*EdgeSite]{
		Key: func(s *EdgeSite) string { return s.Name },
		Get: func(_ context.Context, req *flow.Request[*EdgeSite]) (flow.Observation, error) {
			return flow.Observation{Presence: checks.PresenceOf(found), InSync: req.Resource.ID != ""}, nil
		},
		Apply: func(context.Context, *flow.Request[*EdgeSite]) (flow.Progress, error) {
			fmt.Println("PUT")
			found = true
			return flow.Done(), nil
		},
	}, flow.Extensions[*EdgeSite]{
		PostCheck: chain.New(checks.Check("Deployed", rollout.Deployed)),
	}, flow.WithErrors(azure.Errors()))
	site := &EdgeSite{Name: "shop"}
	reconcile := func() {
		out := sites.Reconcile(context.Background(), site)
		fmt.Println(out)
		if out.State() != flow.StateReady {
			fmt.Println("  retried", out.Retry(), "- error:", out.Err() != nil)
		}
	}
	reconcile()

	site.ID = "/sites/shop"
	rollout.err = &azcore.ResponseError{ErrorCode: "RolloutNotFound", StatusCode: http.StatusNotFound}
	reconcile()

	rollout.err = nil
	rollout.done = 2
	reconcile()

	rollout.done = 3
	reconcile()
	// Output:
	// PUT
	// blocked at PostCheck by Deployed: NoResourceID: the site has no ID in Azure yet
	//   retried slow - error: false
	// failed at PostCheck by Deployed: RolloutNotFound: check Deployed failed: the service gave no message (HTTP 404 Not Found)
	//   retried slow - error: true
	// blocked at PostCheck by Deployed: RollingOut: it is in 2 of 3 regions
	//   retried slow - error: false
	// ready
}
