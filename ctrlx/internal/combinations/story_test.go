package combinations_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/simulation"
)

// plan is an operator and a story: all that is drawn.
type plan struct {
	Designs []design // by kindNames
	Lag     []time.Duration
	Steps   []step
}

// step is a step of a story.
type step struct {
	Do     string // of actions
	On     use
	Spec   spec
	For    time.Duration
	Last   bool // clear begins with the last kind
	During bool // it happens in the next call of the cloud, and not at once
	Write  int  // lose, crash, pause: which of the next writes of the operator it is
	Race   bool // the next step does not wait for the operator
}

// The actions of steps.
const (
	set     = "set"    // a user creates an object, or changes its spec
	remove  = "delete" // a user deletes an object
	clear   = "clear"  // a user deletes all objects, one after the other
	poke    = "poke"   // the operator about an object
	restart = simulation.Restart
	outage  = simulation.Outage
	wait    = simulation.Wait
	lose    = simulation.Lose
	crash   = simulation.Stop
	pause   = simulation.Pause
	revoke  = simulation.Revoke // the rights for Secrets
	vanish  = simulation.Vanish // the kind of Secrets
)

// names are the names of all objects.
var names = []string{"a", "b"}

func drawPlan(t *rapid.T) (p plan) {
	for _, kind := range kindNames {
		p.Designs = append(p.Designs, drawDesign(t, kind))
		p.Lag = append(p.Lag, rapid.SampledFrom([]time.Duration{0, 0, 20 * time.Millisecond, 3 * time.Second}).Draw(t, kind+" lag"))
	}
	w := writer{t: t}
	for range rapid.IntRange(1, 4).Draw(t, "objects") {
		p.Steps = append(p.Steps, w.write())
	}
	for range rapid.IntRange(0, 8).Draw(t, "steps") {
		p.Steps = append(p.Steps, w.step())
	}
	return p
}

// writer draws a story. It knows the objects that users have written, because
// steps about others say little.
type writer struct {
	t       *rapid.T
	written []use
}

// of draws one of several values with a weight for each.
func of[V any](w *writer, label string, weights []int, values ...V) V {
	var all []V
	for i, v := range values {
		for range weights[i] {
			all = append(all, v)
		}
	}
	return rapid.SampledFrom(all).Draw(w.t, label)
}

// known draws an object that a user has written, or any other one.
func (w *writer) known(label string) use {
	if len(w.written) > 0 && of(w, label+" is known", []int{4, 1}, true, false) {
		return rapid.SampledFrom(w.written).Draw(w.t, label)
	}
	return w.object(label)
}

func (w *writer) object(label string) use {
	return use{of(w, label+" kind", []int{2, 1, 1, 1}, secret, kindNames[0], kindNames[1], kindNames[2]), of(w, label+" name", []int{3, 1}, names[0], names[1])}
}

func (w *writer) write() step {
	s := step{Do: set, On: w.object("object")}
	w.written = append(w.written, s.On)
	return w.spec(s)
}

func (w *writer) step() step {
	s := step{Do: of(w, "do", []int{3, 3, 5, 5, 2, 1, 3, 4, 6, 4, 1, 1, 1}, "write", set, remove, clear, restart, outage, wait, lose, crash, pause, revoke, vanish, poke)}
	switch s.Do {
	case "write":
		s = w.write()
	case set:
		s.On = w.known("object")
		s = w.spec(s)
	case remove, poke:
		s.On = w.known("object")
	case clear:
		s.Last = rapid.Bool().Draw(w.t, "last first")
	case lose, crash, pause:
		s.Write = of(w, "which write", []int{4, 2, 1}, 1, 2, 4)
	case outage, wait, revoke, vanish:
		// An outage ends within patience.
		s.For = rapid.SampledFrom([]time.Duration{2 * time.Second, time.Minute, 20 * time.Minute}).Draw(w.t, "for")
	}
	s.During = (s.Do == set || s.Do == remove || s.Do == outage) && of(w, "during", []int{4, 1}, false, true)
	s.Race = of(w, "race", []int{4, 1}, false, true)
	return s
}

func (w *writer) spec(s step) step {
	if s.On.Kind == secret {
		return s
	}
	s.Spec = spec{
		Size:   of(w, "size", []int{6, 3, 1, 1}, 1, 2, 0, refusedSize),
		Paused: of(w, "paused", []int{9, 1}, false, true),
		Claim:  of(w, "claim", []int{3, 1}, "", "x"),
		Limit:  metav1.Duration{Duration: of(w, "limit", []int{6, 1, 1}, 0, 10*time.Second, 10*time.Minute)},
		Role:   of(w, "role", []int{8, 1, 1, 2}, "", foreign, finished, released),
	}
	if above(s.On.Kind) != "" {
		s.Spec.Owner = of(w, "owner", []int{1, 3, 1}, "", names[0], names[1])
	}
	for range of(w, "uses", []int{1, 3, 1}, 0, 1, 2) {
		if u := w.known("used"); u != s.On && !slices.Contains(s.Spec.Uses, u) { // package inuse refuses a reference to the resource itself
			s.Spec.Uses = append(s.Spec.Uses, u)
		}
	}
	return s
}

// String tells the operator and the story in words.
func (p plan) String() string {
	var b strings.Builder
	b.WriteString("the operator:\n")
	for i, d := range p.Designs {
		fmt.Fprintf(&b, "  %s: %+v", kindNames[i], d)
		if p.Lag[i] > 0 {
			fmt.Fprintf(&b, "; watches are %s late", p.Lag[i])
		}
		b.WriteString("\n")
	}
	b.WriteString("the story:\n")
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, s)
	}
	return b.String()
}

func (s step) String() string {
	text := s.simulated().String()
	switch s.Do {
	case set:
		spec, _ := json.Marshal(s.Spec)
		text = fmt.Sprintf("a user writes %s: %s", s.On, spec)
	case remove:
		text = fmt.Sprintf("a user deletes %s", s.On)
	case clear:
		text = fmt.Sprintf("a user deletes all objects, beginning with each %s", kindsInOrder(s.Last)[0])
	case poke:
		text = fmt.Sprintf("an event of the cloud is about %s", s.On)
	}
	if s.During {
		text = "in the next call of the cloud, " + text
	}
	if s.Race {
		text += ", and at the same time:"
	}
	return text
}

// simulated returns a step as it is played between two calls of the cloud.
func (s step) simulated() simulation.Step {
	at := simulation.Step{Do: s.Do, Kind: schema.GroupKind{Kind: secret}, Last: s.For}
	if s.Do == lose || s.Do == crash || s.Do == pause {
		at.Nth = s.Write
	}
	return at
}

// kindsInOrder returns all kinds, in the order in which a user deletes them.
func kindsInOrder(last bool) []string {
	all := append([]string{secret}, kindNames...)
	if last {
		slices.Reverse(all)
	}
	return all
}
