package flow_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

func portOperations(apply func(context.Context, *flow.Request[*Port]) (flow.Progress, error)) flow.Operations[*Port] {
	return flow.Operations[*Port]{
		Key: func(p *Port) string { return p.Name },
		Get: func(context.Context, *flow.Request[*Port]) (flow.Observation, error) {
			fmt.Println("GET")
			return flow.Observation{Presence: checks.Absent}, nil
		},
		Apply: apply,
	}
}

// EntryCheck runs before the first request. It ignores a port of another
// controller, and blocks a port without credentials.
func ExampleExtensions_entryCheck() {
	secret := checks.Ref{Kind: "Secret", Name: "clouds.yaml"}
	ports := flow.New("Port", portOperations(func(context.Context, *flow.Request[*Port]) (flow.Progress, error) {
		return flow.Done(), nil
	}), flow.Extensions[*Port]{
		EntryCheck: chain.New(
			checks.Check("ours", func(_ context.Context, req *checks.Request[*Port]) (checks.Result, error) {
				if req.Resource.Manager != "" {
					return checks.Ignore("managed by " + req.Resource.Manager), nil
				}
				return checks.Proceed(), nil
			}),
			checks.Check("credentials", func(_ context.Context, req *checks.Request[*Port]) (checks.Result, error) {
				if !req.Resource.Credentials {
					return checks.Block("NoCredentials", "secret clouds.yaml is missing", checks.WithWaitingFor(secret)), nil
				}
				return checks.Proceed(), nil
			}),
		),
	})
	for _, p := range []*Port{{Name: "a", Manager: "terraform"}, {Name: "b"}, {Name: "c", Credentials: true}} {
		out := ports.Reconcile(context.Background(), p)
		fmt.Println(out, len(out.Conditions()), "conditions")
	}
	// Output:
	// ignored at EntryCheck by ours: managed by terraform 0 conditions
	// blocked at EntryCheck by credentials: NoCredentials: secret clouds.yaml is missing 2 conditions
	// GET
	// ready 1 conditions
}

// The cloud reports that a subnet is missing. The pass fails, and waits for the
// subnet as a block does.
func ExampleWaitFor() {
	subnet := checks.Ref{Kind: "Subnet", Name: "apps"}
	ports := flow.New("Port", portOperations(func(context.Context, *flow.Request[*Port]) (flow.Progress, error) {
		return flow.Progress{}, flow.WaitFor(errors.New("subnet apps was not found"), subnet)
	}), flow.Extensions[*Port]{})
	out := ports.Reconcile(context.Background(), &Port{Name: "a"})
	fmt.Println(out.State(), "waiting for", out.WaitingFor())
	// Output:
	// GET
	// failed waiting for [Subnet apps]
}

// An operation names the objects on which it depends. A change of one of them
// causes a poll at once.
func ExampleInProgress_awaited() {
	nodes := checks.Ref{Kind: "Node", Name: "pool-1"}
	ports := flow.New("Port", portOperations(func(context.Context, *flow.Request[*Port]) (flow.Progress, error) {
		return flow.InProgress("operation-7", time.Minute, nodes), nil
	}), flow.Extensions[*Port]{})
	out := ports.Reconcile(context.Background(), &Port{Name: "a"})
	fmt.Println(out.State(), "waiting for", out.WaitingFor())
	// Output:
	// GET
	// in progress waiting for [Node pool-1]
}

// A certificate is issued once. The resource stays Ready, and no resync
// follows.
func ExampleFinished() {
	certificates := flow.New("CertificateRequest", portOperations(func(context.Context, *flow.Request[*Port]) (flow.Progress, error) {
		return flow.Finished("Issued", "certificate 4711 was issued"), nil
	}), flow.Extensions[*Port]{})
	out := certificates.Reconcile(context.Background(), &Port{Name: "web"})
	_, again := out.Again()
	fmt.Println(out, again)
	for _, c := range out.Conditions() {
		fmt.Println(c.Type, c.Status, c.Reason)
	}
	// Output:
	// GET
	// finished at Apply: Issued: certificate 4711 was issued false
	// Ready True Issued
	// Finished True Issued
}

// A rule makes a failure final. Only a change of the spec starts another
// attempt.
func ExampleOutcome_Final() {
	ports := flow.New("Port", portOperations(func(context.Context, *flow.Request[*Port]) (flow.Progress, error) {
		return flow.Progress{}, errors.New("the address is not in the range of the subnet")
	}), flow.Extensions[*Port]{
		Classify: classify.Table{{Name: "Address", Message: classify.Contains("not in the range"), Retry: classify.Never}}.Chain(),
	})
	out := ports.Reconcile(context.Background(), &Port{Name: "a"})
	fmt.Println(out.State(), out.Retry(), out.Final())
	// Output:
	// GET
	// failed never true
}
