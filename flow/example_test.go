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

// Resource is the common type of the engine's resources.
type Resource interface {
	Kind() string
	Name() string
	Paused() bool
}

// Meta holds the fields that all resources have.
type Meta struct {
	kind, name string
	paused     bool
}

func (m *Meta) Kind() string { return m.kind }
func (m *Meta) Name() string { return m.name }
func (m *Meta) Paused() bool { return m.paused }

// Kafka and Topic have extensions. Cache has none, and is not registered.
type (
	Kafka struct {
		Meta
		Brokers int
	}
	Topic struct {
		Meta
		Partitions int
	}
	Cache struct{ Meta }
)

// base makes the extensions that all kinds share.
func base[T Resource]() flow.Extensions[T] {
	return flow.Extensions[T]{
		PreCheck: chain.New(checks.Paused(func(r T) bool { return r.Paused() })),
		Classify: classify.Table{{Name: "Maintenance", Code: "InMaintenance", Retry: classify.VerySlow}}.Chain(),
	}
}

// An engine learns its kinds at run time. Each registered kind is one typed
// line, with the links that it needs besides the base.
func ExampleRegistry() {
	var registry flow.Registry[Resource]
	flow.Register(&registry, "Kafka", base[*Kafka]())
	flow.Register(&registry, "Topic", base[*Topic]().Extend(flow.Extensions[*Topic]{PreCheck: chain.New(checks.ResourceIs("Partitions", (*Topic).objection))}))

	// The engine has one set of operations. It makes a runner for each new
	// kind.
	operations := flow.Operations[Resource]{
		Key: Resource.Name,
		Apply: func(_ context.Context, req *flow.Request[Resource]) (flow.Progress, error) {
			fmt.Println("  PUT", req.Resource.Kind(), req.Resource.Name())
			return flow.Done(), nil
		},
	}
	runners := map[string]flow.Runner[Resource]{}
	for _, r := range []Resource{
		&Kafka{Meta: Meta{kind: "Kafka", name: "events"}, Brokers: 3},
		&Topic{Meta: Meta{kind: "Topic", name: "orders"}},
		&Topic{Meta: Meta{kind: "Topic", name: "users", paused: true}, Partitions: 6},
		&Cache{Meta{kind: "Cache", name: "sessions", paused: true}},
		&Cache{Meta{kind: "Kafka", name: "mistaken"}},
	} {
		runner := runners[r.Kind()]
		if runner == nil {
			var err error
			if runner, err = registry.For(r.Kind(), operations); err != nil {
				fmt.Println(err)
				continue
			}
			runners[r.Kind()] = runner
		}
		out := runner.Reconcile(context.Background(), r)
		fmt.Printf("%s %s: %s\n", r.Kind(), r.Name(), out)
	}
	// Output:
	//   PUT Kafka events
	// Kafka events: ready
	// Topic orders: blocked at PreCheck by Partitions: ResourceUnsuitable: a topic has at least one partition
	// Topic users: blocked at PreCheck by Paused: Paused: the resource is paused; resume it to continue
	//   PUT Cache sessions
	// Cache sessions: ready
	// Kafka mistaken: failed at Pass: Unknown: Kafka: cannot convert *flow_test.Cache to *flow_test.Kafka: the resource is not of the type that the extensions of its kind are registered for
}

func (t *Topic) objection() string {
	if t.Partitions < 1 {
		return "a topic has at least one partition"
	}
	return ""
}
