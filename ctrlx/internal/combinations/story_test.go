package combinations_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
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
	Write  int  // lose, crash, pause: which of the next writes of the operator it is, from 0
	Race   bool // the next step does not wait for the operator
}

// The actions of steps.
const (
	set     = "set"     // a user creates an object, or changes its spec
	remove  = "delete"  // a user deletes an object
	clear   = "clear"   // a user deletes all objects, one after the other
	restart = "restart" // of the operator
	outage  = "outage"  // of the cloud
	wait    = "wait"
	lose    = "lose"   // the answer to a write of the operator, which the API server has done
	crash   = "crash"  // of the operator, at the same moment
	pause   = "pause"  // the operator before a write, while another process leads; the write comes late
	revoke  = "revoke" // the rights for Secrets, for a while
	vanish  = "vanish" // the kind of Secrets, for a while
	poke    = "poke"   // the operator about an object
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
		s.Write = of(w, "which write", []int{4, 2, 1}, 0, 1, 3)
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
		fmt.Fprintf(&b, "  %s: %s", kindNames[i], d)
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
	var text string
	switch s.Do {
	case set:
		text = fmt.Sprintf("a user writes %s%s", s.On, s.Spec)
	case remove:
		text = fmt.Sprintf("a user deletes %s", s.On)
	case clear:
		text = fmt.Sprintf("a user deletes all objects, beginning with each %s", kindsInOrder(s.Last)[0])
	case restart:
		text = "the operator is restarted"
	case outage:
		text = fmt.Sprintf("the cloud is down for %s", s.For)
	case lose:
		text = fmt.Sprintf("the answer to write %d of the operator is lost", s.Write+1)
	case crash:
		text = fmt.Sprintf("the operator crashes after its write %d, and is started again", s.Write+1)
	case pause:
		text = fmt.Sprintf("the operator is paused before its write %d, while another process leads", s.Write+1)
	case vanish:
		text = fmt.Sprintf("the kind of Secrets is not served for %s", s.For)
	case poke:
		text = fmt.Sprintf("an event of the cloud is about %s", s.On)
	case revoke:
		text = fmt.Sprintf("the operator has no rights for Secrets for %s", s.For)
	case wait:
		text = fmt.Sprintf("%s pass", s.For)
	}
	if s.During {
		text = "in the next call of the cloud, " + text
	}
	if s.Race {
		text += ", and at the same time:"
	}
	return text
}

// String describes what a user writes.
func (s spec) String() string {
	var words []string
	if s.Owner != "" {
		words = append(words, "owner "+s.Owner)
	}
	for _, u := range s.Uses {
		words = append(words, "uses "+u.String())
	}
	if s.Size != 0 {
		words = append(words, fmt.Sprint("size ", s.Size))
	}
	if s.Paused {
		words = append(words, "paused")
	}
	if s.Limit.Duration > 0 {
		words = append(words, "a time-out of "+s.Limit.Duration.String())
	}
	if s.Role != "" {
		words = append(words, "role "+s.Role)
	}
	if s.Claim != "" {
		words = append(words, "claim "+s.Claim)
	}
	if len(words) == 0 {
		return ""
	}
	return " with " + strings.Join(words, ", ")
}

// kindsInOrder returns all kinds, in the order in which a user deletes them.
func kindsInOrder(last bool) []string {
	all := append([]string{secret}, kindNames...)
	if last {
		slices.Reverse(all)
	}
	return all
}
