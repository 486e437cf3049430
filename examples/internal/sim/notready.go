package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/windlass-go/windlass/flow"
)

// NotReady is the error of a run in which not all got ready in time.
type NotReady struct {
	Timeout time.Duration
	Waiting []Pass // the last pass of each that is not ready
}

func (e *NotReady) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "not all is ready after %s:", e.Timeout)
	for _, p := range e.Waiting {
		what, _ := stopped(p)
		fmt.Fprintf(&b, "\n  %s: %s", p.Ref, what)
		for _, line := range details(p) {
			b.WriteString("\n    " + line)
		}
	}
	return b.String()
}

// NotReady is the error of a run that timeout was not enough for: a [*NotReady] of all that are not ready.
func (e *Engine) NotReady(timeout time.Duration) error {
	err := &NotReady{Timeout: timeout}
	for _, p := range e.Passes() {
		if p.Outcome.State() != flow.StateReady {
			err.Waiting = append(err.Waiting, p)
		}
	}
	return err
}
