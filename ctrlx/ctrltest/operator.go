package ctrltest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/simulation"
)

// Operator is an operator with its world.
type Operator struct {
	// Start runs the operator until the context ends, as a main function does. It is
	// called for each run, and again after a restart. Use the config as it is. An
	// error before the context ends is a crash, and Start is called again after ten
	// seconds, or five minutes from the tenth crash on. Required.
	Start func(ctx context.Context, config *rest.Config) error
	// CRDs are files and folders with CustomResourceDefinitions, as YAML. Explore
	// serves their storage version, and common built-in kinds. nil: built-in kinds
	// only.
	CRDs []string
	// World has the objects that users create, in the order of their creation. Set
	// apiVersion and kind, unless the kind is built in. At least one.
	World []client.Object
	// Edit changes an object of World as a user does: draw what changes. It gets a
	// copy as users wrote it last, without status. nil: users only create and delete.
	Edit func(t *rapid.T, o client.Object)
	// Cloud makes a new fake of the service outside of the cluster that the operator
	// manages. It is called before each run, and Start must use that fake. The fake
	// reports to the argument. nil: there is none.
	Cloud func(*Cloud)
	// Ready reports whether an object is as users want it, or else why not. All rules ask it,
	// about each object whose kind has a definition in CRDs with a status. An empty why
	// means that an object of World does not say it, which breaks RuleSettled.
	// An object of World that why names must be a cause, too. nil: [ReadyCondition].
	Ready func(o *unstructured.Unstructured) (ready bool, why string)
	// Rules are further rules, by name. They are asked when everything is settled, and
	// again after the time at rest and the restart. nil as a value switches off the rule
	// of that name.
	Rules map[string]func(*State) error
	// Patience is the time after the last step until everything must be settled,
	// longer than each back-off. 0: 40 minutes.
	Patience time.Duration
}

// State is the state of a run that is quiet.
type State struct {
	// Objects are all objects of the cluster but Leases, by kind and name.
	Objects []*unstructured.Unstructured
	// Cloud has the names of the resources in the cloud.
	Cloud []string
}

// Explore draws runs of an operator, and fails the test if a rule does not hold.
// The package comment says what a run is.
func Explore(t *testing.T, op Operator) {
	t.Helper()
	e, err := prepare(op)
	if err != nil {
		t.Fatalf("ctrltest: %v", err)
	}
	t.Cleanup(func() {
		if e.last != nil {
			t.Log(e.last)
		}
	})
	e.explore(t, t)
}

const rounds = 3 // of rapid.Check, with 100 runs each

// explore draws runs until one breaks a rule.
func (e *explorer) explore(t *testing.T, tb rapid.TB) {
	plans := rapid.Custom(e.draw)
	rounds, tries := rounds, 1
	if given("rapid.seed") || given("rapid.failfile") {
		rounds, tries = 1, 3 // the run is known to fail, and may depend on the order of goroutines
	} else if seed := os.Getenv("RAPID_SEED"); seed != "" && seed != "0" {
		rounds = 1 // another round would draw the same runs
	}
	failed := ""
	for range rounds {
		rapid.Check(tb, func(rt *rapid.T) {
			p := plans.Draw(rt, "plan")
			if e.last == nil {
				if f := e.tried(t, p, tries, ""); f != nil {
					failed, e.last = p.GoString(), e.shrink(t, p, f)
				}
			}
			// The shrinking of rapid ends soon, because no other plan fails.
			if e.last != nil && failed == p.GoString() {
				rt.Fatalf("rule %s does not hold", e.last.rule())
			}
		})
		if e.last != nil {
			tb.Fatalf("rule %s does not hold", e.last.rule()) // rapid did not fail
		}
	}
}

// tried runs a plan until it breaks a rule, at most so many times. An empty rule is
// any one.
func (e *explorer) tried(t *testing.T, p plan, times int, rule string) *failure {
	for range times {
		if f := e.run(t, p); f != nil && (rule == "" || rule == f.rule()) {
			return f
		}
	}
	return nil
}

// shrink returns the failure of the smallest plan that breaks the same rule: it drops
// steps one by one, and then delays.
func (e *explorer) shrink(t *testing.T, p plan, f *failure) *failure {
	long, _ := flag.Lookup("rapid.shrinktime").Value.(flag.Getter).Get().(time.Duration)
	end := time.Now().Add(long)
	try := func(smaller plan) bool {
		if time.Now().After(end) {
			return false
		}
		g := e.tried(t, smaller, 2, f.rule())
		if g != nil {
			p, f = smaller, g
		}
		return g != nil
	}
	for again := true; again; {
		again = false
		for i := len(p.steps) - 1; i >= 0; i-- {
			q := p
			q.steps = slices.Delete(slices.Clone(p.steps), i, i+1)
			again = try(q) || again
		}
	}
	q := p
	q.lags = nil
	try(q)
	for i, s := range p.steps {
		if q := p; s.then < simulation.Settles {
			q.steps = slices.Clone(p.steps)
			q.steps[i].then = simulation.Settles
			try(q)
		}
	}
	return f
}

// given reports whether a flag has another value than by default.
func given(name string) bool {
	f := flag.Lookup(name)
	return f != nil && f.Value.String() != f.DefValue
}

// failure is a run that broke a rule.
type failure struct {
	faults []simulation.Fault
	steps  string
	line   string
}

// rule is the first one that it broke.
func (f *failure) rule() string { return f.faults[0].Rule }

func (f *failure) String() string {
	b := strings.Builder{}
	for _, fault := range f.faults {
		fmt.Fprintf(&b, "%s: %s\n", fault.Rule, fault.Text)
	}
	return fmt.Sprintf("%s\nthe steps:%s\nthe time line:\n%s", b.String(), f.steps, f.line)
}
