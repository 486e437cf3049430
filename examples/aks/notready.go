package main

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

// notReady picks those that are not.
func notReady(passes []Pass, timeout time.Duration) error {
	e := &NotReady{Timeout: timeout}
	for _, p := range passes {
		if p.Outcome.State() != flow.StateReady {
			e.Waiting = append(e.Waiting, p)
		}
	}
	return e
}
