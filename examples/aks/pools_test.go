package main

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain/chaintest"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// These tests show how to test pools.go without a cloud: the order of the links
// with chaintest, the checks with checkstest, and the flow with flowtest.

func cluster(state string) *Cluster { return &Cluster{Status: Status{ProvisioningState: &state}} }

var demo = checks.Ref{Kind: clusterKind, Name: "demo"}

func TestPoolOrder(t *testing.T) {
	chaintest.Order(t, poolExtensions().OwnerCheck, "OwnerReady", "OwnerProvisioningState")
	chaintest.Order(t, poolExtensions().Classify, "Table(1 rule)")
}

func TestPoolOwnerCheck(t *testing.T) {
	of := func(owner checks.Object) *checks.OwnerRequest {
		return checkstest.OwnerRequest(checkstest.OwnedBy(owner))
	}
	checkstest.Run(t, poolExtensions().OwnerCheck, checkstest.OwnerCases{
		"Succeeded": {Reason: "the cluster exists", Request: of(checkstest.Ready(demo, cluster("Succeeded"))), Want: checkstest.Proceeds()},
		"Upgrading": {Reason: "Azure refuses changes of its pools", Request: of(checkstest.Ready(demo, cluster("Upgrading"))),
			Want: checkstest.Blocks(checks.ReasonOwnerState, checks.WithWaitingFor(demo))},
		"NotReady": {Reason: "the reported state may be stale", Request: of(checkstest.NotReady(demo, cluster("Succeeded"), "Blocked")),
			Want: checkstest.Blocks(checks.ReasonOwnerNotReady, checks.WithWaitingFor(demo))},
		"NotFound": {Reason: "the cluster does not exist", Request: of(checkstest.NotFound(demo)),
			Want: checkstest.Blocks(checks.ReasonOwnerNotFound, checks.WithWaitingFor(demo))},
	})
}

func TestPoolPreCheckLaws(t *testing.T) {
	checkstest.Laws(t, poolExtensions().PreCheck, rapid.Custom(func(t *rapid.T) *checks.Request[*AgentPool] {
		p := &AgentPool{Owner: "demo", Subnet: "apps/batch"}
		p.Status.ProvisioningState = rapid.SampledFrom([]*string{nil, new("Succeeded"), new("failed"), new("Upgrading"), new(" ")}).Draw(t, "state")
		subnet := rapid.SampledFrom([]checks.Object{checkstest.NotFound(p.SubnetRef()), checkstest.Ready(p.SubnetRef(), "apps/batch")}).Draw(t, "subnet")
		return checkstest.Request(p, checkstest.Resolving(subnet))
	}))
}

func TestMatches(t *testing.T) {
	pool := func(size, subnet string) bool {
		return (&AgentPool{VMSize: "Standard_D4s_v5", Subnet: "apps/batch"}).matches((&AgentPool{VMSize: size, Subnet: subnet}).desired())
	}
	cluster := func(location string) bool {
		return (&Cluster{Location: "West Europe"}).matches((&Cluster{Location: location}).desired())
	}
	for reason, matches := range map[string][2]bool{ // got, want
		"the pool has its spec":                       {pool("Standard_D4s_v5", "apps/batch"), true},
		"Azure answers in a case of its own":          {pool("standard_d4s_V5", "Apps/batch"), true},
		"the pool has another size":                   {pool("Standard_D8s_v5", "apps/batch"), false},
		"the pool has another subnet":                 {pool("Standard_D4s_v5", "apps/typo"), false},
		"Azure answers with the name of the location": {cluster("westeurope"), true},
		"the cluster is in another location":          {cluster("northeurope"), false},
	} {
		if matches[0] != matches[1] {
			t.Errorf("%s: matches: %t, want %t", reason, matches[0], matches[1])
		}
	}
}

func TestPoolFlow(t *testing.T) {
	p := &AgentPool{Owner: "demo", Subnet: "apps/batch"}
	w := &flowtest.World[*AgentPool]{Resource: p, Extensions: poolExtensions(), Options: []flow.Option{flow.WithErrors(azure.Errors())}}
	w.Owner.From(0, checkstest.Ready(demo, cluster("Upgrading"))).From(time.Second, checkstest.Ready(demo, cluster("Succeeded")))
	w.Get.From(0, flow.Observation{Presence: checks.Absent})
	w.Object(p.SubnetRef()).From(0, checkstest.NotFound(p.SubnetRef())).From(3*time.Second, checkstest.Ready(p.SubnetRef(), "apps/batch"))
	lags := &sim.Refusal{Status: 400, Code: "NodePoolMcVersionIncompatible", Message: "It is above the control plane version."}
	w.Apply.Fail(lags.ResponseError()).
		Then(flow.InProgress("op-1", 30*time.Second), flow.Done())
	w.Run(t).Want(t, `
		00:00 blocked at OwnerCheck by OwnerProvisioningState: OwnerState again in 1s or with ManagedCluster demo [Owner]
		00:01 * ManagedCluster demo changes
		00:01 blocked at PreCheck by ReferenceReady(network): ReferenceNotFound again in 1s or with Subnet apps/batch [Owner Get Resolve(Subnet apps/batch)]
		00:02 blocked at PreCheck by ReferenceReady(network): ReferenceNotFound again in 2s or with Subnet apps/batch [Owner Get Resolve(Subnet apps/batch)]
		00:03 * Subnet apps/batch changes
		00:03 failed at Apply: NodePoolMcVersionIncompatible again in 2s [Owner Get Resolve(Subnet apps/batch) Apply]
		00:05 in progress at Apply again in 30s [Owner Get Resolve(Subnet apps/batch) Apply]
		00:35 ready again in 1h [Owner Apply(op-1)]`)
}
