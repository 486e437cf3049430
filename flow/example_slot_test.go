package flow_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// Port is a port of a virtual network, in a subnet.
type Port struct {
	Name, Subnet string
	Manager      string // the controller that manages it; empty: this one
	Credentials  bool   // the secret with the credentials exists
}

// Subnet is the subnet of a port. Its ID is empty until the cloud has created
// it.
type Subnet struct{ ID string }

// subnet is the slot for the subnet that the check found.
var subnet = checks.NewSlot[*Subnet]("subnet")

// subnetCreated waits for the subnet, and keeps it for Apply.
func subnetCreated(find func(name string) (*Subnet, error)) checks.Middleware[*Port] {
	return checks.Check("subnetCreated", func(_ context.Context, req *checks.Request[*Port]) (checks.Result, error) {
		name := req.Resource.Subnet
		found, err := find(name)
		switch {
		case err != nil:
			return checks.Result{}, fmt.Errorf("reading subnet %s: %w", name, err)
		case found == nil || found.ID == "":
			return checks.Block("SubnetNotCreated", "subnet "+name+" has no ID yet: waiting until it is created"), nil
		}
		subnet.Set(req, found)
		return checks.Proceed(), nil
	})
}

// The check finds the subnet, and Apply reads it from the slot, without a
// second lookup. A pass that polls runs no check, so Apply reads the slot only
// to start the operation.
func Example_slot() {
	find := func(name string) (*Subnet, error) {
		fmt.Println("GET subnet", name)
		return &Subnet{ID: "7f3c"}, nil
	}
	operations := flow.Operations[*Port]{
		Key: func(p *Port) string { return p.Name },
		Apply: func(_ context.Context, req *flow.Request[*Port]) (flow.Progress, error) {
			if req.Token != "" {
				fmt.Println("poll", req.Token)
				return flow.Done(), nil
			}
			s, err := subnet.Get(req)
			if err != nil {
				return flow.Progress{}, err
			}
			fmt.Println("POST port", req.Resource.Name, "in subnet", s.ID)
			return flow.InProgress("operation-1", 0), nil
		},
	}
	port := &Port{Name: "web", Subnet: "front"}

	ports := flow.New("Port", operations, flow.Extensions[*Port]{PreCheck: chain.New(subnetCreated(find))})
	fmt.Println(ports.Reconcile(context.Background(), port).State())
	fmt.Println(ports.Reconcile(context.Background(), port).State())

	// Without the check, Apply fails before it calls the cloud.
	out := flow.New("Port", operations, flow.Extensions[*Port]{}).Reconcile(context.Background(), port)
	fmt.Println(out.State(), errors.Is(out.Err(), checks.ErrSlotUnset))
	// Output:
	// GET subnet front
	// POST port web in subnet 7f3c
	// in progress
	// poll operation-1
	// ready
	// failed true
}
