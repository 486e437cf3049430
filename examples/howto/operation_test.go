package howto

import (
	"context"
	"fmt"
	"time"

	"github.com/windlass-go/windlass/flow"
)

// Client is the client of a service with long-running operations.
type Client interface {
	Start(ctx context.Context, name string) (operation string, err error)
	Poll(ctx context.Context, operation string) (state string, err error)
}

// apply:

func apply(client Client) func(context.Context, *flow.Request[*Database]) (flow.Progress, error) {
	return func(ctx context.Context, req *flow.Request[*Database]) (flow.Progress, error) {
		if req.Token == "" { // no operation is under way
			operation, err := client.Start(ctx, req.Resource.Name)
			if err != nil {
				return flow.Progress{}, err
			}
			return flow.InProgress(operation, 30*time.Second), nil
		}
		switch state, err := client.Poll(ctx, req.Token); {
		case err != nil: // unknown: the flow keeps the token and polls again
			return flow.Progress{}, err
		case state == "Succeeded":
			return flow.Done(), nil
		case state == "Running":
			return flow.InProgress(req.Token, 30*time.Second), nil
		case state == "Failed", state == "Canceled": // ended: the next pass starts another operation
			return flow.Progress{}, flow.Failed(fmt.Errorf("operation %s has ended: %s", req.Token, state))
		default: // unknown, too
			return flow.Progress{}, fmt.Errorf("operation %s is in the state %q, which is not known", req.Token, state)
		}
	}
}

// :apply

type states []string

func (s *states) Start(context.Context, string) (string, error) { return "op-1", nil }

func (s *states) Poll(context.Context, string) (string, error) {
	state := (*s)[0]
	*s = (*s)[1:]
	if state == "" {
		return "", fmt.Errorf("the network is down")
	}
	return state, nil
}

func Example_operation() {
	ops := operations()
	ops.Apply = apply(&states{"Running", "", "Succeeded"})
	databases := flow.New("Database", ops, flow.Extensions[*Database]{}, noJitter())
	for range 4 {
		show(databases.Reconcile(context.Background(), &Database{Name: "orders"}))
	}
	// Output:
	// in progress at Apply: InProgress: the operation is under way in the cloud
	//   again in 30s
	// in progress at Apply: InProgress: the operation is under way in the cloud
	//   again in 30s
	// failed at Apply: Unknown: operation op-1 cannot be polled: the network is down; return flow.Failed if it has failed
	//   again in 1s
	// ready
}
