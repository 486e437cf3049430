package flow_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

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
