// Package cloud is a small Azure for one example: managed clusters and their agent pools, in memory, in virtual time.
//
// What answers is Microsoft's own fake server (armcontainerservice/v6/fake), so the real SDK clients talk to it. This
// package gives it a memory, rules and a script of faults, and stands in front of it as the transport, which counts and
// adds what the fake server cannot say: the body of an error and Retry-After. Nothing depends on the real time or on
// chance, so each run is the same.
package cloud

import (
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6/fake"

	"github.com/windlass-go/windlass/examples/internal/armsim"
)

// How long things take, in virtual time.
const (
	// ClusterTakes is how long a new cluster is Creating.
	ClusterTakes = 2 * time.Minute
	// UpgradeTakes is how long it is Upgrading then, since its upgrade channel finds a newer patch version at once.
	UpgradeTakes = 4 * time.Minute
	// PoolTakes is how long a new agent pool is Creating.
	PoolTakes = 90 * time.Second
	// PollEvery is the Retry-After of a long-running operation.
	PollEvery = 30 * time.Second
)

// The provisioning states that are reported here.
const (
	Creating  = "Creating"
	Upgrading = "Upgrading"
	Succeeded = "Succeeded"
)

// Cloud is a simulated cloud. It is a policy.Transporter, which is how the SDK's clients reach it. It serves one
// request at a time.
type Cloud struct {
	now      func() time.Time
	fake     *fake.ServerFactoryTransport
	clusters map[string]*cluster // by lower-case name
	pools    map[string]*pool    // by lower-case cluster/name
	subnets  map[string]bool     // by lower-case ID
	admitted int                 // PUTs of agent pools that the rules let through, for the script of faults
	tally    armsim.Tally
}

// cluster and pool are what the cloud remembers. Their state follows from the time.
type cluster struct {
	spec  armcontainerservice.ManagedCluster
	begun time.Time
}

type pool struct {
	spec  armcontainerservice.AgentPool
	begun time.Time
}

// New makes an empty cloud that looks at its clock by now.
func New(now func() time.Time) *Cloud {
	c := &Cloud{now: now, clusters: map[string]*cluster{}, pools: map[string]*pool{}, subnets: map[string]bool{}}
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

// Tally is what was counted up to now.
func (c *Cloud) Tally() armsim.Tally { return c.tally.Clone() }

// AddSubnet makes a subnet with that ID, as a person would.
func (c *Cloud) AddSubnet(id string) { c.subnets[strings.ToLower(id)] = true }

// state is that of a cluster at a time.
func (c *cluster) state(at time.Time) string {
	switch age := at.Sub(c.begun); {
	case age < ClusterTakes:
		return Creating
	case age < ClusterTakes+UpgradeTakes:
		return Upgrading
	}
	return Succeeded
}

// state is that of an agent pool at a time.
func (p *pool) state(at time.Time) string {
	if at.Sub(p.begun) < PoolTakes {
		return Creating
	}
	return Succeeded
}
