// Package cloud simulates Azure for one example: managed clusters and their
// agent pools, in memory and in virtual time.
//
// Microsoft's fake server (armcontainerservice/v6/fake) answers the SDK's
// clients. This package adds storage, the rules of the service and a script of
// faults. Its transport counts the requests and adds the parts that the fake
// server lacks: the body of an error and Retry-After. All runs are equal.
package cloud

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6/fake"

	"github.com/windlass-go/windlass/examples/internal/sim"
)

// Durations in virtual time.
const (
	// ClusterTakes is the time for which a new cluster is Creating.
	ClusterTakes = 2 * time.Minute
	// UpgradeTakes is the time for which it is Upgrading after that. Its
	// upgrade channel finds a newer patch version at once.
	UpgradeTakes = 4 * time.Minute
	// PoolTakes is the time for which a new agent pool is Creating.
	PoolTakes = 90 * time.Second
	// PollEvery is the Retry-After of a long-running operation.
	PollEvery = 30 * time.Second
)

// The provisioning states of this cloud.
const (
	Creating  = "Creating"
	Upgrading = "Upgrading"
	Succeeded = "Succeeded"
)

// Cloud is a simulated cloud. It is a policy.Transporter for the SDK's clients.
// It serves one request at a time.
type Cloud struct {
	now      func() time.Time
	tally    *sim.Tally
	fake     *fake.ServerFactoryTransport
	clusters map[string]*cluster // by lower-case name
	pools    map[string]*pool    // by lower-case cluster/name
	subnets  map[string]bool     // by lower-case ID
	admitted int                 // PUTs of agent pools that the rules accepted, for the script of faults
}

// cluster and pool are stored resources, with properties. Their start and the
// time decide their state.
type cluster struct {
	spec  armcontainerservice.ManagedCluster
	begun time.Time
}

type pool struct {
	spec  armcontainerservice.AgentPool
	begun time.Time
}

// New returns an empty cloud. now is its clock, and tally counts its requests.
func New(now func() time.Time, tally *sim.Tally) *Cloud {
	c := &Cloud{now: now, tally: tally, clusters: map[string]*cluster{}, pools: map[string]*pool{}, subnets: map[string]bool{}}
	c.fake = fake.NewServerFactoryTransport(&fake.ServerFactory{
		ManagedClustersServer: fake.ManagedClustersServer{
			Get:                 c.getCluster,
			BeginCreateOrUpdate: c.putCluster,
		},
		AgentPoolsServer: fake.AgentPoolsServer{
			Get:                 c.getPool,
			BeginCreateOrUpdate: c.putPool,
		},
	})
	return c
}

// AddSubnet creates a subnet, as a person would do it.
func (c *Cloud) AddSubnet(id string) { c.subnets[strings.ToLower(id)] = true }

func (c *cluster) state(at time.Time) string {
	switch age := at.Sub(c.begun); {
	case age < ClusterTakes:
		return Creating
	case age < ClusterTakes+UpgradeTakes:
		return Upgrading
	}
	return Succeeded
}

func (p *pool) state(at time.Time) string {
	if at.Sub(p.begun) < PoolTakes {
		return Creating
	}
	return Succeeded
}

// faults is the script. Its keys are the numbers of the PUTs of agent pools
// that the rules of [Cloud.admit] accept.
var faults = map[int]*sim.Refusal{
	// Azure works on the cluster although its state is Succeeded.
	1: busy("Reconcile"),
	// The subscription's limit for writes is reached.
	3: {Status: http.StatusTooManyRequests, Code: "TooManyRequests", RetryAfter: 20 * time.Second,
		Message: "The request is being throttled as the limit has been reached for operation type - PutAgentPoolHandler.PUT."},
	// The upgrade has not reached all replicas of the control plane.
	4: {Status: http.StatusBadRequest, Code: "NodePoolMcVersionIncompatible",
		Message: "Node pool version and control plane version are incompatible. Minor version of node pool cannot be bigger than control plane version."},
}

// admit applies the rules of the service to the PUT of an agent pool, and then
// the script of faults.
func (c *Cloud) admit(owner string, spec armcontainerservice.AgentPool) *sim.Refusal {
	parent := c.clusters[strings.ToLower(owner)]
	if parent == nil {
		return notFound("ParentResourceNotFound", "managed cluster", owner)
	}
	if state := parent.state(c.now()); state != Succeeded {
		return busy(state)
	}
	if id := spec.Properties.VnetSubnetID; id != nil && !c.subnets[strings.ToLower(*id)] {
		return &sim.Refusal{Status: http.StatusBadRequest, Code: "SubnetNotFound", Message: "The subnet " + *id + " could not be found."}
	}
	c.admitted++
	return faults[c.admitted]
}

func notFound(code, kind, name string) *sim.Refusal {
	return &sim.Refusal{Status: http.StatusNotFound, Code: code, Message: fmt.Sprintf("The %s %s was not found.", kind, name)}
}

func busy(state string) *sim.Refusal {
	return &sim.Refusal{Status: http.StatusConflict, Code: "OperationNotAllowed",
		Message: fmt.Sprintf("Operation is not allowed: Another operation (%s) is in progress, please wait for it to finish before starting a new operation.", state)}
}
