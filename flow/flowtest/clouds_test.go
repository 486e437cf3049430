package flowtest_test

import (
	"testing"
	"time"

	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
	"github.com/windlass-go/windlass/internal/testing/sdkfake"
)

// There is one operation at a time, whichever SDK makes the errors of polls.
func TestOneOperationOnAnyCloud(t *testing.T) {
	for name, err := range sdkfake.Unavailable() {
		t.Run(name+"/Apply", func(t *testing.T) {
			w := &flowtest.World[*Pool]{Resource: &Pool{}}
			w.Apply.Then(flow.InProgress("op-1", time.Second)).Fail(err, err).Then(flow.Done())
			w.Run(t)
		})
		t.Run(name+"/Delete", func(t *testing.T) {
			w := &flowtest.World[*Pool]{Resource: &Pool{Deleted: true}}
			w.Operations.Deleting = func(p *Pool) bool { return p.Deleted }
			w.Apply.Optional()
			w.Apply.From(0, flow.Done())
			w.Delete.Then(flow.InProgress("op-1", time.Second)).Fail(err, err).Then(flow.Done())
			w.Run(t)
		})
	}
}
