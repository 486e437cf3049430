package combinations_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// TestMain sets the number of draws: 250, which take about 10 seconds. The variable
// WINDLASS_DRAWS counts tens of them. The flag -rapid.checks wins.
func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	if err := flag.Set("rapid.checks", cmp.Or(os.Getenv("WINDLASS_DRAWS"), "25")+"0"); err != nil {
		panic("WINDLASS_DRAWS is not a number: " + err.Error())
	}
	os.Exit(m.Run())
}

// TestCombinations: whatever the operator is and whatever users do, what
// require_test.go says holds at the end. A draw that fails shows both, and what
// happened.
func TestCombinations(t *testing.T) {
	var last string
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(last)
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt)
		if faults, tale := run(t, p); len(faults) > 0 {
			// Not in the error, because rapid continues to shrink only if the error of
			// a smaller draw repeats, and the times of a tale have jitter.
			last = fmt.Sprintf("%s\n%s\nwhat happened:\n%s", strings.Join(faults, "\n"), p, tale)
			rt.Fatal("something does not hold")
		}
	})
}

// TestStories: stories that once ended badly, each with the operator that it needs.
func TestStories(t *testing.T) {
	plain := func() plan {
		return plan{Designs: make([]design, len(kindNames)), Lag: make([]time.Duration, len(kindNames))}
	}
	a, s, db := use{"Network", "a"}, use{secret, "a"}, use{"Database", "a"}
	slow := design{Takes: 20 * time.Second, Post: []string{"references"}}
	mutual := []step{{Do: set, On: a, Spec: spec{Uses: []use{db}}}, {Do: set, On: db, Spec: spec{Uses: []use{a}}}, {Do: wait, For: time.Minute}}
	cases := map[string]struct {
		reason   string
		design   design // of the networks
		database design
		steps    []step
		lag      time.Duration // of the watches of networks
	}{
		"GuardedReference": {"a Secret waits for the network that uses it, and the deleted network does not wait for the Secret",
			design{Deletes: true, Guards: true, Entry: []string{"references"}}, design{},
			[]step{{Do: set, On: s}, {Do: set, On: a, Spec: spec{Uses: []use{s}}}, {Do: wait, For: time.Minute}, {Do: remove, On: s}, {Do: remove, On: a}}, 0},
		"RestoredRequest": {"a link that restores the request loses no operation",
			design{Deletes: true, Takes: 20 * time.Second, Links: []string{"restores"}}, design{},
			[]step{{Do: set, On: a}, {Do: wait, For: time.Minute}, {Do: set, On: a, Spec: spec{Size: 2}}, {Do: wait, For: time.Minute}, {Do: remove, On: a}}, 0},
		"LostToken": {"a live read after a lost answer finds the token, and a pass over the late cache must not begin a second PUT",
			design{Takes: 20 * time.Second}, design{},
			[]step{{Do: set, On: a, Race: true}, {Do: lose, Write: 1, Race: true}, {Do: wait, For: time.Minute}}, 3 * time.Second},
		"MadeAgain": {"a write finds that the network was made again, and a pass over the late cache must not begin a second PUT for the first one",
			design{Takes: 20 * time.Second}, design{},
			[]step{{Do: set, On: a}, {Do: set, On: a, Spec: spec{Size: 2}}, {Do: remove, On: a}, {Do: set, On: a}, {Do: wait, For: time.Minute}}, 3 * time.Second},
		"CycleAtPostCheck":  {"without a Get, each pass sends the PUT again, so a cycle must cause no pass", design{Entry: []string{"references"}}, slow, mutual, 0},
		"CycleOfPostChecks": {"the PUT of one of them must not wake the other, whose PUT would wake the first", slow, slow, mutual, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := plain()
			p.Lag[0], p.Designs[0], p.Designs[2], p.Steps = tc.lag, tc.design, tc.database, tc.steps
			if faults, tale := run(t, p); len(faults) > 0 {
				t.Errorf("%s: %s\n%s\nwhat happened:\n%s", tc.reason, strings.Join(faults, "\n"), p, tale)
			}
		})
	}
}
