package flow_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// Database is the resource of the examples. A Server owns it.
type Database struct {
	Name, Server string
	Size         int
}

// Server is the owner. A nil State is not reported yet.
type Server struct{ State *string }

// Cloud holds the size of each database.
type Cloud map[string]int

// CloudError is an error of the cloud. The flow reads its method ErrorCode.
type CloudError struct{ Code string }

func (e *CloudError) Error() string     { return "the cloud refuses: " + e.Code }
func (e *CloudError) ErrorCode() string { return e.Code }

func (c Cloud) Get(_ context.Context, req *flow.Request[*Database]) (flow.Observation, error) {
	size, there := c[req.Resource.Name]
	return flow.Observation{Presence: checks.PresenceOf(there), InSync: size == req.Resource.Size}, nil
}

func (c Cloud) Put(_ context.Context, req *flow.Request[*Database]) (flow.Progress, error) {
	if req.Resource.Size > 100 {
		return flow.Progress{}, &CloudError{Code: "DatabaseTooLarge"}
	}
	c[req.Resource.Name] = req.Resource.Size
	return flow.Done(), nil
}

// A reconciler has an owner check, a check before the PUT, and a rule for an
// error code of its service.
func Example() {
	updating, succeeded := "Updating", "Succeeded"
	servers := map[string]*Server{"north": {State: &updating}}
	cloud := Cloud{}

	databases := flow.New("Database", flow.Operations[*Database]{
		Key:   func(d *Database) string { return d.Name },
		Get:   cloud.Get,
		Apply: cloud.Put,
		Owner: func(_ context.Context, d *Database) (checks.Object, error) {
			owner := checks.Object{Ref: checks.Ref{Kind: "Server", Name: d.Server}}
			if s, found := servers[d.Server]; found {
				owner.Value = s
			}
			return owner, nil
		},
	}, flow.Extensions[*Database]{
		OwnerCheck: chain.New(checks.OwnerProvisioningState(func(s *Server) *string { return s.State })),
		PreCheck: chain.New(checks.ResourceIs("Size", func(d *Database) string {
			if d.Size < 1 {
				return "spec.size must be at least 1"
			}
			return ""
		}, checks.WithReason(checks.ReasonSpecInvalid))),
		Classify: classify.Table{{Code: "DatabaseTooLarge", Retry: classify.OnChange}}.Chain(),
	}, flow.WithBackoff(flow.NewBackoff(flow.WithBackoffJitter(0, 0)))) // jitter would make the delays of the output random
	fmt.Print(databases)

	reconcile := func(d *Database) {
		out := databases.Reconcile(context.Background(), d)
		fmt.Println("\n" + out.String())
		for _, c := range out.Conditions() {
			fmt.Printf("  %s=%s %s\n", c.Type, c.Status, c.Reason)
		}
		delay, _ := out.Again()
		fmt.Println("  again in", delay, "waiting for", out.WaitingFor())
	}
	orders := &Database{Name: "orders", Server: "north"}
	reconcile(orders)

	servers["north"].State = &succeeded
	reconcile(orders)

	orders.Size = 1000
	reconcile(orders)

	orders.Size = 10
	reconcile(orders)
	// Output:
	// Database
	//   Pass         -
	//   EntryCheck   -
	//   Owner        [resolve]
	//   OwnerCheck   OwnerProvisioningState
	//   GetCheck     -
	//   Get          [get]
	//   PreCheck     Size
	//   Apply        [apply]
	//   PostCheck    -
	//   Ready
	// errors of every point
	//   Classify     Table(1 rule) -> [default]
	//                  DatabaseTooLarge: on change
	//
	// blocked at OwnerCheck by OwnerProvisioningState: OwnerState: owner Server north is in state "Updating": it must be Succeeded, Failed or Canceled
	//   Ready=False OwnerState
	//   Reconciling=True OwnerState
	//   again in 1s waiting for [Server north]
	//
	// blocked at PreCheck by Size: SpecInvalid: spec.size must be at least 1
	//   Ready=False SpecInvalid
	//   Stalled=True SpecInvalid
	//   again in 1h0m0s waiting for []
	//
	// failed at Apply: DatabaseTooLarge: applying failed: the cloud refuses: DatabaseTooLarge
	//   Ready=False DatabaseTooLarge
	//   Stalled=True DatabaseTooLarge
	//   again in 1h0m0s waiting for []
	//
	// ready
	//   Ready=True Succeeded
	//   again in 1h0m0s waiting for []
}

// A page that renders Mermaid can show the flow.
func ExampleReconciler_Mermaid() {
	databases := flow.New("Database", flow.Operations[*Database]{
		Key:   func(d *Database) string { return d.Name },
		Apply: Cloud{}.Put,
	}, flow.Extensions[*Database]{
		PreCheck: chain.New(checks.Paused(func(*Database) bool { return false })),
	})
	fmt.Print(databases.Mermaid())
	// Output:
	// flowchart TD
	//   begin(["Database"])
	//   subgraph p0 ["PreCheck"]
	//     n0["Paused"]
	//   end
	//   begin --> n0
	//   subgraph p1 ["Apply"]
	//     n1["[apply]"]
	//   end
	//   n0 --> n1
	//   ready(["Ready"])
	//   n1 --> ready
	//   error(["an error of any point"])
	//   subgraph p2 ["Classify"]
	//     n2["[default]"]
	//   end
	//   error --> n2
}

// Resource is the common type of the engine's resources, and Meta holds the
// fields that all of them have.
type Resource interface {
	Kind() string
	Name() string
}

type Meta struct{ kind, name string }

func (m *Meta) Kind() string { return m.kind }
func (m *Meta) Name() string { return m.name }

// Topic has extensions.
type Topic struct {
	Meta
	Partitions int
}

// An engine learns its kinds at run time. Each registered kind is one typed
// line. Other kinds run without links.
func ExampleRegistry() {
	var registry flow.Registry[Resource]
	flow.Register(&registry, "Topic", flow.Extensions[*Topic]{PreCheck: chain.New(checks.ResourceIs("Partitions", func(t *Topic) string {
		if t.Partitions < 1 {
			return "a topic has at least one partition"
		}
		return ""
	}))})

	// The engine has one set of operations.
	operations := flow.Operations[Resource]{
		Key: Resource.Name,
		Apply: func(_ context.Context, req *flow.Request[Resource]) (flow.Progress, error) {
			fmt.Println("PUT", req.Resource.Kind(), req.Resource.Name())
			return flow.Done(), nil
		},
	}
	for _, r := range []Resource{&Topic{Meta{"Topic", "orders"}, 0}, &Topic{Meta{"Topic", "users"}, 6}, &Meta{"Cache", "sessions"}} {
		runner, err := registry.For(r.Kind(), operations)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(r.Name(), "is", runner.Reconcile(context.Background(), r))
	}
	// Output:
	// orders is blocked at PreCheck by Partitions: ResourceUnsuitable: a topic has at least one partition
	// PUT Topic users
	// users is ready
	// PUT Cache sessions
	// sessions is ready
}
