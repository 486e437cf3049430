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

// EdgeSite is reconciled. After the PUT it is rolled out to its regions, which another API tells about.
type EdgeSite struct{ Name, ID string }

// EdgeRollout is a client for that API.
type EdgeRollout struct {
	done, regions int
	err           error
}

// Deployed is the check: how far is the rollout? It is no checks.LiveState, which takes a 404 for "not in the cloud yet"
// and goes on. That is right before a PUT; before Ready, a rollout that nobody knows of is no reason to go on.
func (r *EdgeRollout) Deployed(_ context.Context, req *checks.Request[*EdgeSite]) (checks.Result, error) {
	switch {
	case req.Resource.ID == "":
		return checks.Block("NoResourceID", "Azure has not given the site an ID yet"), nil
	case r.err != nil:
		return checks.Result{}, fmt.Errorf("asking for the rollout of %s: %w", req.Resource.Name, r.err)
	case r.done < r.regions:
		return checks.Block("RollingOut", fmt.Sprintf("it is in %d of %d regions", r.done, r.regions)), nil
	}
	return checks.Proceed(), nil
}

// A site is ready when it has been rolled out. That it is not is a block; that nobody could tell is an error.
func Example_postCheckDeployment() {
	rollout := &EdgeRollout{regions: 3}
	sites := flow.New("Site", flow.Operations[*EdgeSite]{
		Key: func(s *EdgeSite) string { return s.Name },
		Get: func(_ context.Context, req *flow.Request[*EdgeSite]) (flow.Observation, error) {
			there := req.Resource.ID != ""
			return flow.Observation{Presence: checks.PresenceOf(there), InSync: there}, nil
		},
		Apply: func(context.Context, *flow.Request[*EdgeSite]) (flow.Progress, error) {
			fmt.Println("PUT")
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
			fmt.Println("  looked at again", out.Retry(), "- error:", out.Err() != nil)
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
	// blocked at PostCheck by Deployed: NoResourceID: Azure has not given the site an ID yet
	//   looked at again slow - error: false
	// failed at PostCheck by Deployed: RolloutNotFound: check Deployed failed: the service gave no message (HTTP 404 Not Found)
	//   looked at again slow - error: true
	// blocked at PostCheck by Deployed: RollingOut: it is in 2 of 3 regions
	//   looked at again slow - error: false
	// ready
}
