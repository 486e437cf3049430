package ctrltest

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/simulation"
)

// ExploreWith explores with the reports to tb.
func ExploreWith(t *testing.T, tb rapid.TB, op Operator) (failure string) {
	e, err := prepare(op)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan bool)
	go func() {
		defer close(ended)
		e.explore(t, tb)
	}()
	<-ended
	if e.last == nil {
		return ""
	}
	return e.last.String()
}

// RestartAfter creates the objects of World, and restarts the operator a while after
// the last one. A fault waits for the first write of it, or lasts a while. Empty: none.
func RestartAfter(t *testing.T, op Operator, fault string, while time.Duration) (failure string) {
	e, err := prepare(op)
	if err != nil {
		t.Fatal(err)
	}
	last := len(e.World) - 1
	p := plan{world: e, lags: map[schema.GroupKind]time.Duration{}}
	for i := range e.World {
		s := step{Step: simulation.Step{Do: set}, on: i, state: plain(e.World[i]), patch: []byte("{}"), then: simulation.Settles}
		if i == last {
			switch s.then = while; fault {
			case "":
			case Outage:
				p.steps = append(p.steps, step{Step: simulation.Step{Do: fault, Last: 15 * time.Minute}})
			default:
				p.steps = append(p.steps, step{Step: simulation.Step{Do: fault, Nth: 1}, on: -1})
			}
		}
		p.steps = append(p.steps, s)
	}
	p.steps = append(p.steps, step{Step: simulation.Step{Do: simulation.Restart}, then: simulation.Settles})
	if f := e.run(t, p); f != nil {
		return f.String()
	}
	return ""
}

const Stop, Pause, Outage = simulation.Stop, simulation.Pause, simulation.Outage
