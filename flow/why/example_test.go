package why_test

import (
	"fmt"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
)

func ref(kind, name string) checks.Ref { return checks.Ref{Kind: kind, Namespace: "apps", Name: name} }

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// Two agent pools wait for a subnet, one of them by way of a cluster.
func Example() {
	cluster, subnet := ref("ManagedCluster", "demo"), ref("Subnet", "batch")
	g := why.New([]why.Object{
		{Ref: ref("AgentPool", "system"), State: why.Blocked, Link: "OwnerReady", Reason: "OwnerNotReady", Since: noon.Add(-time.Minute), WaitingFor: []checks.Ref{cluster}},
		{Ref: cluster, State: why.Blocked, Link: "ReferenceReady(network)", Reason: "ReferenceNotFound", Since: noon.Add(-2 * time.Minute), WaitingFor: []checks.Ref{subnet}},
		{Ref: ref("AgentPool", "batch"), State: why.Blocked, Link: "ReferenceReady(network)", Reason: "ReferenceNotFound", Since: noon.Add(-90 * time.Second), WaitingFor: []checks.Ref{subnet}},
		{Ref: subnet, State: why.Missing},
	})
	for _, c := range g.Causes() {
		fmt.Println(&c)
	}
	// Output:
	// Subnet apps/batch is missing; 3 objects wait for it: create it, or correct the reference
}

func ExampleGraph_Tree() {
	cluster, subnet := ref("ManagedCluster", "demo"), ref("Subnet", "batch")
	g := why.New([]why.Object{
		{Ref: ref("AgentPool", "system"), State: why.Blocked, Link: "OwnerReady", Reason: "OwnerNotReady", Since: noon.Add(-time.Minute), WaitingFor: []checks.Ref{cluster}},
		{Ref: cluster, State: why.Blocked, Link: "ReferenceReady(network)", Reason: "ReferenceNotFound", Since: noon.Add(-2 * time.Minute), WaitingFor: []checks.Ref{subnet}},
		{Ref: subnet, State: why.Missing},
	})
	fmt.Print(g.Tree(ref("AgentPool", "system"), noon))
	// Output:
	// AgentPool apps/system  blocked for 1m by OwnerReady: OwnerNotReady
	// └─ ManagedCluster apps/demo  blocked for 2m by ReferenceReady(network): ReferenceNotFound
	//    └─ Subnet apps/batch  is missing  <- root cause: create it, or correct the reference
}
