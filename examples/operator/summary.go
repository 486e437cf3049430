package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Figures is what was measured while the story went on.
type Figures struct {
	WhileBlocked    int             // requests to the API server while all databases waited
	Kept            bool            // the token of the operation outlived the operator
	WhileStopped    int             // requests to the cloud about databases since a person has stopped the cluster
	WokenForNothing int             // requests about a database that waited for nothing
	Woken           []time.Duration // from the status of the cluster to the first request about each database that waited for it
}

// wakesWithin is what counts as woken, even on a busy machine. Who is not woken looks by itself at the resync, in an hour.
const wakesWithin = 3 * time.Second

// Summary prints what was asked of whom. Its error says what is not as told.
func (s *Story) Summary(out io.Writer) error {
	asked := s.cloud.Requests()
	verbs, changes, refused := map[string]int{}, map[string]int{}, 0
	for _, a := range asked {
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
	row("requests to the cloud", len(asked))
	for _, verb := range sorted(verbs) {
		row("  "+verb, verbs[verb])
	}
	row("  refused", refused)
	row("versions of a spec that something was changed for", len(changes))
	row("  changes for each at most", most)
	row("requests to the API server by the operators", len(s.traffic.Requests()))
	row(fmt.Sprintf("  while all databases waited, for %s", quietFor), s.figures.WhileBlocked)
	row("requests to the cloud about the databases of a stopped cluster", s.figures.WhileStopped)
	row("requests to the cloud about a database that waited for nothing", s.figures.WokenForNothing)
	slices.Sort(s.figures.Woken)
	for i, took := range s.figures.Woken {
		label := "from the status of the cluster to the first request about a database"
		if i > 0 {
			label = ""
		}
		row(label, took.Round(100*time.Microsecond))
	}
	return s.differs(changes, refused, most)
}

// differs says what is not as told.
func (s *Story) differs(changes map[string]int, refused, most int) error {
	f := s.figures
	var all []error
	expect := func(as bool, format string, args ...any) {
		if !as {
			all = append(all, fmt.Errorf(format, args...))
		}
	}
	expect(refused == 0, "the cloud refused %d requests", refused)
	expect(most == 1, "for one version of a spec the cloud was changed %d times", most)
	expect(len(changes) == 6, "for %d versions of specs the cloud was changed, and there were 6", len(changes))
	expect(f.Kept, "the operator kept no token in the cluster when it was stopped")
	expect(f.WhileBlocked == 0, "waiting cost %d requests to the API server", f.WhileBlocked)
	expect(f.WhileStopped == 0, "the cloud was asked %d times about databases of a stopped cluster", f.WhileStopped)
	expect(f.WokenForNothing == 0, "a database that waited for nothing was looked at: %d requests", f.WokenForNothing)
	expect(len(f.Woken) == 3, "%d databases were woken, and 3 waited", len(f.Woken))
	for _, took := range f.Woken {
		expect(took < wakesWithin, "a database was woken after %s, which is no wake-up", took)
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
