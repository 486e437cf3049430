package why_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
)

// A namespace has its own number of waiters, their age, and a sample of them.
func TestDocumentIn(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	of := func(namespace, name string) checks.Ref {
		return checks.Ref{Kind: "Pool", Namespace: namespace, Name: name}
	}
	waits := func(ref checks.Ref, hours int, awaited ...checks.Ref) why.Object {
		return why.Object{Ref: ref, State: why.Blocked, Since: at.Add(-time.Duration(hours) * time.Hour), WaitingFor: awaited}
	}
	net := of("infra", "net")
	objects := []why.Object{
		{Ref: net, State: why.Missing}, waits(of("b", "alone"), 1), waits(of("b", "x"), 2, of("b", "y")), waits(of("b", "y"), 2, of("b", "x")),
	}
	for i := range 1000 {
		objects = append(objects, waits(of("a", fmt.Sprintf("p%03d", i)), 9, net))
	}
	objects = append(objects, waits(of("b", "p"), 3, net), waits(of("b", "q"), 4, of("b", "p")), waits(of("c", "far"), 1, of("b", "q")),
		why.Object{Ref: of("b", "ready"), State: why.Ready}, why.Object{Ref: of("a", "ready"), State: why.Ready}, why.Object{Ref: of("c", "awaited"), State: why.Ready},
		waits(of("c", "w"), 1, of("c", "awaited")))
	cases := map[string]struct {
		reason, namespace       string
		waiting, objects, ready int
		want                    []string
	}{
		"All":   {"an empty namespace selects all", "", 1008, 1011, 2, []string{"9h 1003 net Pool a/p000", "2h 2 x ", "1h 1 awaited Pool c/w", "1h 0 alone "}},
		"Many":  {"the waiters of another namespace do not count", "a", 1000, 1002, 1, []string{"9h 1000 net Pool a/p000"}},
		"Few":   {"the sample and the age are those of the namespace", "b", 5, 7, 1, []string{"4h 2 net Pool b/p", "2h 2 x ", "1h 0 alone "}},
		"Far":   {"the objects on the way to a root cause are there, and an awaited one that is ready does not wait", "c", 2, 6, 0, []string{"1h 1 awaited Pool c/w", "1h 1 net Pool c/far"}},
		"Cause": {"the namespace of the root cause has it, too", "infra", 1, 1, 0, []string{"unknown 0 net "}},
		"None":  {"no object", "empty", 0, 0, 0, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := why.New(objects).DocumentIn(tc.namespace, at)
			var got []string
			for _, c := range d.Causes {
				age, sample := "unknown", ""
				if !c.Since.IsZero() {
					age = fmt.Sprintf("%dh", int(at.Sub(c.Since).Hours()))
				}
				if len(c.Sample) > 0 {
					sample = c.Sample[0].String()
				}
				got = append(got, fmt.Sprintf("%s %d %s %s", age, c.Waiters, c.Objects[0].Name, sample))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || d.Waiting != tc.waiting || d.Namespace != tc.namespace || d.Ready != tc.ready || len(d.Objects)+d.OmittedObjects != tc.objects {
				t.Errorf("%s: %d of %d wait in %q, %d are ready, causes: -want, +got:\n%s", tc.reason, d.Waiting, len(d.Objects)+d.OmittedObjects, d.Namespace, d.Ready, diff)
			}
		})
	}
}
