package aso_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// SearchService is reconciled. Azure accepts the PUT and then provisions for a
// while.
type SearchService struct {
	Name     string
	Replicas int
	Status   *SearchStatus // nil: not read yet
}

// SearchStatus is the last report of Azure.
type SearchStatus struct{ ProvisioningState *string }

// searchCloud fakes Azure.
type searchCloud struct {
	replicas int
	state    *string
	puts     int
}

func (c *searchCloud) get(_ context.Context, req *flow.Request[*SearchService]) (flow.Observation, error) {
	req.Resource.Status = &SearchStatus{ProvisioningState: c.state}
	return flow.Observation{Presence: checks.PresenceOf(c.puts > 0), InSync: c.replicas == req.Resource.Replicas}, nil
}

func (c *searchCloud) put(_ context.Context, req *flow.Request[*SearchService]) (flow.Progress, error) {
	c.replicas = req.Resource.Replicas
	c.puts++
	return flow.Done(), nil
}

// Example_postCheckSucceeded: a service is Ready when its state is Succeeded,
// not when Azure has accepted the PUT.
func Example_postCheckSucceeded() {
	azure := &searchCloud{}
	services := flow.New("SearchService", flow.Operations[*SearchService]{
		Key: func(s *SearchService) string { return s.Name }, Get: azure.get, Apply: azure.put,
	}, flow.Extensions[*SearchService]{
		// At PreCheck the same check also allows Failed and Canceled. Before
		// Ready it allows Succeeded only.
		PostCheck: chain.New(checks.ProvisioningState(
			func(s *SearchService) *string { return s.Status.ProvisioningState })),
	})
	search := &SearchService{Name: "catalog", Replicas: 2}
	reconcile := func() {
		out := services.Reconcile(context.Background(), search)
		fmt.Println(out)
		fmt.Println("  Ready is", out.Conditions()[0].Status, "after", azure.puts, "PUT")
	}
	// The service exists without a state. That is not Ready.
	reconcile()

	// A service in sync is not sent again while the check blocks.
	for _, state := range []string{"Provisioning", "Failed", "Succeeded"} {
		azure.state = &state
		reconcile()
	}
	// Output:
	// blocked at PostCheck by ProvisioningState: ResourceStateUnknown: the resource is in the cloud and has not reported a state yet: it must be Succeeded
	//   Ready is False after 1 PUT
	// blocked at PostCheck by ProvisioningState: ResourceState: the resource is in state "Provisioning": it must be Succeeded
	//   Ready is False after 1 PUT
	// blocked at PostCheck by ProvisioningState: ResourceState: the resource is in state "Failed": it must be Succeeded
	//   Ready is False after 1 PUT
	// ready
	//   Ready is True after 1 PUT
}
