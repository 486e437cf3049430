package sim_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/examples/internal/sim"
)

func TestStore(t *testing.T) {
	ready := checks.Readiness{State: checks.Ready, Generation: 1, Observed: 1}
	cases := map[string]struct {
		reason string
		do     func(*sim.Store)
		want   checks.Object
	}{
		"Absent": {"an object that was not added has a ref and no value", func(*sim.Store) {}, checks.Object{Ref: thing("a")}},
		"Unknown": {"the readiness of an added object is unknown", func(s *sim.Store) { s.Add(thing("a"), 1) },
			checks.Object{Ref: thing("a"), Value: 1}},
		"Reported": {"Report sets the readiness", func(s *sim.Store) { s.Add(thing("a"), 1); s.Report(thing("a"), ready) },
			checks.Object{Ref: thing("a"), Value: 1, Readiness: ready}},
		"Other": {"Report changes only its own object", func(s *sim.Store) { s.Add(thing("a"), 1); s.Add(thing("b"), 2); s.Report(thing("b"), ready) },
			checks.Object{Ref: thing("a"), Value: 1}},
		"TooEarly": {"Report ignores an object that is added later", func(s *sim.Store) { s.Report(thing("a"), ready); s.Add(thing("a"), 1) },
			checks.Object{Ref: thing("a"), Value: 1}},
		"NotThere": {"Report adds no object", func(s *sim.Store) { s.Report(thing("a"), ready) }, checks.Object{Ref: thing("a")}},
		"AddedAgain": {"a replaced object loses its readiness", func(s *sim.Store) { s.Add(thing("a"), 1); s.Report(thing("a"), ready); s.Add(thing("a"), 2) },
			checks.Object{Ref: thing("a"), Value: 2}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := sim.NewStore()
			tc.do(s)
			got, err := s.Resolve(t.Context(), thing("a"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
