package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-go/windlass/examples/operator/internal/kusto"
)

// Figures holds the measurements of a story.
type Figures struct {
	WhileBlocked        int // requests to the API server while all databases waited
	AfterRestart        int // requests to the cloud after a restart with all objects ready
	WrittenAfterRestart int // writes to the API server after that restart
	WhileStopped        int // requests to the cloud about databases of the stopped cluster
	NeedlessRequests    int // requests about a database that no event concerns
}

// Summary prints the requests. Its error lists the differences from the
// expected story.
func (s *Story) Summary(out io.Writer) error { return s.summary(out, s.cloud.Requests()) }

func (s *Story) summary(out io.Writer, calls []kusto.Call) error {
	verbs, changes, refused, most := map[string]int{}, map[string]int{}, 0, 0
	for _, a := range calls {
		verbs[a.Verb]++
		if a.Verb == "PUT" || strings.HasPrefix(a.Verb, "POST") {
			changes[a.Correlation]++
			most = max(most, changes[a.Correlation])
		}
		if a.Refused != "" {
			refused++
		}
	}
	var all []error
	row := func(what string, value int) { fmt.Fprintf(out, "%-70s %d\n", what, value) }
	expect := func(what string, value, want int) {
		if row(what, value); value != want {
			all = append(all, fmt.Errorf("%s: %d, want %d", strings.TrimSpace(what), value, want))
		}
	}
	fmt.Fprintln(out)
	row("requests to the cloud", len(calls))
	for _, verb := range slices.Sorted(maps.Keys(verbs)) {
		row("  "+verb, verbs[verb])
	}
	expect("  refused", refused, 0)
	expect("versions of specs and passwords that caused changes", len(changes), 8)
	expect("  most changes for a version", most, 1)
	row("requests to the API server by the operators", len(s.traffic.Requests()))
	expect(fmt.Sprintf("  during %s in which all databases waited", quietFor), s.figures.WhileBlocked, 0)
	expect("requests to the cloud after a restart with all objects ready", s.figures.AfterRestart, 0)
	expect("  writes to the API server", s.figures.WrittenAfterRestart, 0)
	expect("requests to the cloud about the databases of a stopped cluster", s.figures.WhileStopped, 0)
	expect("requests to the cloud about a database that no event concerns", s.figures.NeedlessRequests, 0)
	return errors.Join(all...)
}
