package cloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"

	"github.com/windlass-go/windlass/examples/internal/sim"
)

// The fake server calls these four methods. The transport turns an
// [sim.Refusal] given to SetError into a response.

func (c *Cloud) getCluster(_ context.Context, _, name string, _ *armcontainerservice.ManagedClustersClientGetOptions) (resp azfake.Responder[armcontainerservice.ManagedClustersClientGetResponse], refused azfake.ErrorResponder) {
	found := c.clusters[strings.ToLower(name)]
	if found == nil {
		refused.SetError(notFound("ResourceNotFound", "managed cluster", name))
		return resp, refused
	}
	resp.SetResponse(http.StatusOK, armcontainerservice.ManagedClustersClientGetResponse{ManagedCluster: found.at(c.now())}, nil)
	return resp, refused
}

func (c *Cloud) putCluster(_ context.Context, _, name string, spec armcontainerservice.ManagedCluster, _ *armcontainerservice.ManagedClustersClientBeginCreateOrUpdateOptions) (resp azfake.PollerResponder[armcontainerservice.ManagedClustersClientCreateOrUpdateResponse], refused azfake.ErrorResponder) {
	now := c.now()
	if there := c.clusters[strings.ToLower(name)]; there != nil && there.state(now) != Succeeded {
		refused.SetError(busy(there.state(now)))
		return resp, refused
	}
	made := &cluster{spec: spec, begun: now}
	c.clusters[strings.ToLower(name)] = made
	return operation(ClusterTakes, armcontainerservice.ManagedClustersClientCreateOrUpdateResponse{
		ManagedCluster: made.at(now.Add(ClusterTakes)),
	}), refused
}

func (c *Cloud) getPool(_ context.Context, _, owner, name string, _ *armcontainerservice.AgentPoolsClientGetOptions) (resp azfake.Responder[armcontainerservice.AgentPoolsClientGetResponse], refused azfake.ErrorResponder) {
	found := c.pools[poolKey(owner, name)]
	switch {
	case c.clusters[strings.ToLower(owner)] == nil:
		refused.SetError(notFound("ParentResourceNotFound", "managed cluster", owner))
	case found == nil:
		refused.SetError(notFound("ResourceNotFound", "agent pool", name))
	default:
		resp.SetResponse(http.StatusOK, armcontainerservice.AgentPoolsClientGetResponse{AgentPool: found.at(c.now())}, nil)
	}
	return resp, refused
}

func (c *Cloud) putPool(_ context.Context, _, owner, name string, spec armcontainerservice.AgentPool, _ *armcontainerservice.AgentPoolsClientBeginCreateOrUpdateOptions) (resp azfake.PollerResponder[armcontainerservice.AgentPoolsClientCreateOrUpdateResponse], refused azfake.ErrorResponder) {
	if r := c.admit(owner, spec); r != nil {
		refused.SetError(r)
		return resp, refused
	}
	now := c.now()
	made := &pool{spec: spec, begun: now}
	c.pools[poolKey(owner, name)] = made
	return operation(PoolTakes, armcontainerservice.AgentPoolsClientCreateOrUpdateResponse{
		AgentPool: made.at(now.Add(PoolTakes)),
	}), refused
}

// operation returns the responses of a long-running operation: one to the
// request that starts it and one to each poll. The last poll has the result.
//
// The fake server finds an operation by its path and keeps it until the client
// fetched the last response. The client must therefore poll each operation to
// its end. Otherwise its next PUT would receive the old operation.
func operation[R any](takes time.Duration, result R) (answers azfake.PollerResponder[R]) {
	for range takes / PollEvery {
		answers.AddNonTerminalResponse(http.StatusCreated, nil)
	}
	answers.SetTerminalResponse(http.StatusOK, result, nil)
	return answers
}

// at returns the cluster as a GET shows it at a time.
func (c *cluster) at(t time.Time) armcontainerservice.ManagedCluster {
	shown, properties := c.spec, *c.spec.Properties
	properties.ProvisioningState = new(c.state(t))
	shown.Properties = &properties
	return shown
}

// at returns the agent pool as a GET shows it at a time.
func (p *pool) at(t time.Time) armcontainerservice.AgentPool {
	shown, properties := p.spec, *p.spec.Properties
	properties.ProvisioningState = new(p.state(t))
	shown.Properties = &properties
	return shown
}

func poolKey(owner, name string) string { return strings.ToLower(owner + "/" + name) }

// Do answers a request as the transport of the SDK's clients.
func (c *Cloud) Do(req *http.Request) (*http.Response, error) {
	verb := req.Method
	if strings.HasSuffix(req.URL.Path, "/get/fake/status") { // the path of the fake server's pollers
		verb = "POLL"
	}
	c.tally.Request(verb)
	resp, err := c.fake.Do(req)
	var refusal *sim.Refusal
	switch {
	case errors.As(err, &refusal):
		c.tally.Refused(verb, fmt.Sprint(refusal.Status, " ", refusal.Code))
		return refusal.Response(req), nil
	case err != nil:
		c.tally.Refused(verb, "no answer")
		return nil, err
	}
	if resp.Header.Get("Fake-Poller-Status") == "InProgress" {
		resp.Header.Set("Retry-After", sim.Seconds(PollEvery))
	}
	return resp, nil
}
