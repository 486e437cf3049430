package aso_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// SearchService is reconciled. Azure takes the PUT at once and goes on to provision for a while.
type SearchService struct {
	Name     string
	Replicas int
	Status   *SearchStatus // nil: nothing was seen yet
}

// SearchStatus is what Azure said last.
type SearchStatus struct{ ProvisioningState *string }

// searchCloud is Azure, with what it has of the service.
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

// A service is ready when Azure says so, not when the PUT was answered.
func Example_postCheckSucceeded() {
	azure := &searchCloud{}
	services := flow.New("SearchService", flow.Operations[*SearchService]{
		Key: func(s *SearchService) string { return s.Name }, Get: azure.get, Apply: azure.put,
	}, flow.Extensions[*SearchService]{
		// The same check at PreCheck lets Failed and Canceled proceed, too. Before Ready it allows Succeeded only.
		PostCheck: chain.New(checks.ProvisioningState(
			func(s *SearchService) *string { return s.Status.ProvisioningState })),
	})
	search := &SearchService{Name: "catalog", Replicas: 2}
	reconcile := func() {
		out := services.Reconcile(context.Background(), search)
		fmt.Println(out)
		fmt.Println("  Ready is", out.Conditions()[0].Status, "after", azure.puts, "PUT")
	}
	// There, and nobody has said in which state: that does not count as ready.
	reconcile()

	// What is in sync is not sent again while the check waits.
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
