package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/windlass-go/windlass/examples/operator/internal/kusto"
)

// Figures holds the measurements of a story.
type Figures struct {
	WhileBlocked        int  // requests to the API server while all databases waited
	TokenStored         bool // the object had the operation's token after the operator stopped
	AfterRestart        int  // requests to the cloud after a restart with all objects ready
	WrittenAfterRestart int  // writes to the API server after that restart

	WhileStopped     int             // requests to the cloud about databases of the stopped cluster
	NeedlessRequests int             // requests about a database that no event concerns
	Woken            []time.Duration // from the event to the first request about each database that it woke
	Password         string          // of the database in the cloud, after it was changed
}

// wakesWithin is the limit for a wake-up, even on a machine that runs much else.
// Without a wake-up a database waits for the resync of an hour.
const wakesWithin = 20 * time.Second

// Summary prints the requests. Its error lists the differences from the
// expected story.
func (s *Story) Summary(out io.Writer) error { return s.summary(out, s.cloud.Requests()) }

func (s *Story) summary(out io.Writer, calls []kusto.Call) error {
	verbs, changes, refused := map[string]int{}, map[string]int{}, 0
	for _, a := range calls {
		verbs[a.Verb]++
		if a.Verb == "PUT" || strings.HasPrefix(a.Verb, "POST") {
			changes[a.Correlation]++
		}
		if a.Refused != "" {
			refused++
		}
	}
	most := 0
	for _, n := range changes {
		most = max(most, n)
	}
	row := func(what string, value any) { fmt.Fprintf(out, "%-70s %v\n", what, value) }
	fmt.Fprintln(out)
	row("requests to the cloud", len(calls))
	for _, verb := range sorted(verbs) {
		row("  "+verb, verbs[verb])
	}
	row("  refused", refused)
	row("versions of specs and passwords that caused changes", len(changes))
	row("  most changes for a version", most)
	row("requests to the API server by the operators", len(s.traffic.Requests()))
	row(fmt.Sprintf("  during %s in which all databases waited", quietFor), s.figures.WhileBlocked)
	row("requests to the cloud after a restart with all objects ready", s.figures.AfterRestart)
	row("  writes to the API server", s.figures.WrittenAfterRestart)
	row("requests to the cloud about the databases of a stopped cluster", s.figures.WhileStopped)
	row("requests to the cloud about a database that no event concerns", s.figures.NeedlessRequests)
	slices.Sort(s.figures.Woken)
	for i, took := range s.figures.Woken {
		label := "from an event to the first request about the database that it wakes"
		if i > 0 {
			label = ""
		}
		row(label, took.Round(100*time.Microsecond))
	}
	return s.differs(changes, refused, most)
}

// differs returns the differences from the expected story.
func (s *Story) differs(changes map[string]int, refused, most int) error {
	f := s.figures
	var all []error
	expect := func(as bool, format string, args ...any) {
		if !as {
			all = append(all, fmt.Errorf(format, args...))
		}
	}
	expect(refused == 0, "the cloud refused %d requests", refused)
	expect(most == 1, "%d changes for one version of a spec, want 1", most)
	expect(len(changes) == 8, "changes for %d versions of specs and passwords, want 8", len(changes))
	expect(f.TokenStored, "the cluster had no token after the operator stopped")
	expect(f.WhileBlocked == 0, "%d requests to the API server while all databases waited, want 0", f.WhileBlocked)
	expect(f.AfterRestart == 0, "%d requests to the cloud after a restart with all objects ready, want 0", f.AfterRestart)
	expect(f.WrittenAfterRestart == 0, "%d writes after a restart with all objects ready, want 0", f.WrittenAfterRestart)
	expect(f.WhileStopped == 0, "%d requests to the cloud about databases of a stopped cluster, want 0", f.WhileStopped)
	expect(f.NeedlessRequests == 0, "%d requests about a database that no event concerns, want 0", f.NeedlessRequests)
	expect(len(f.Woken) == 4, "databases were woken %d times, want 4", len(f.Woken))
	expect(f.Password == "summer", "the cloud has the password %q", f.Password)
	for _, took := range f.Woken {
		expect(took < wakesWithin, "a database was woken after %s, which is too late for a wake-up", took)
	}
	return errors.Join(all...)
}

func sorted(counts map[string]int) []string {
	var keys []string
	for key := range counts {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
