package ctrltest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/memoryserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/simulation"
)

// explorer is an operator that was checked.
type explorer struct {
	Operator
	kinds       []memoryserver.Kind // that are served
	definitions []*extv1.CustomResourceDefinition
	watched     []schema.GroupKind // of World
	last        *failure           // the run that broke a rule
}

// prepare checks an operator.
func prepare(op Operator) (*explorer, error) {
	e := &explorer{Operator: op}
	if op.Start == nil || len(op.World) == 0 {
		return nil, errors.New("an Operator needs Start and World")
	}
	custom, definitions, err := readCRDs(op.CRDs)
	if err != nil {
		return nil, err
	}
	e.kinds, e.definitions = append(builtInKinds(), custom...), definitions
	if e.Patience == 0 {
		e.Patience = 40 * time.Minute
	}
	if e.Ready == nil {
		e.Ready = ReadyCondition
	}
	e.World = nil
	for _, o := range op.World {
		kind := o.GetObjectKind().GroupVersionKind()
		if kind.Empty() {
			if kind, err = apiutil.GVKForObject(o, scheme.Scheme); err != nil {
				return nil, fmt.Errorf("%T %s of World has no apiVersion and kind: %w", o, o.GetName(), err)
			}
		}
		if o.GetName() == "" {
			return nil, fmt.Errorf("an object of World of the kind %s has no name: set metadata.name", kind)
		}
		i := slices.IndexFunc(e.kinds, func(k memoryserver.Kind) bool { return k.GroupVersionKind == kind })
		if i < 0 {
			return nil, fmt.Errorf("no CRD has %s, the kind of %s in World", kind, o.GetName())
		}
		o = o.DeepCopyObject().(client.Object)
		o.GetObjectKind().SetGroupVersionKind(kind)
		if o.GetNamespace() == "" && !e.kinds[i].Cluster {
			o.SetNamespace("default")
		}
		if e.World = append(e.World, o); !slices.Contains(e.watched, kind.GroupKind()) {
			e.watched = append(e.watched, kind.GroupKind())
		}
	}
	return e, nil
}

// plan is all that is drawn for a run.
type plan struct {
	lags  map[schema.GroupKind]time.Duration // the empty kind: all other ones
	steps []step
	world *explorer
}

// step is a step of a run.
type step struct {
	simulation.Step
	on    int                        // index in World; -1: any object
	state *unstructured.Unstructured // set: the object as the user wants it
	patch []byte                     // set: the merge patch from the last state
	down  *step                      // Restart: what a user does while the operator is down; nil: nothing
	then  time.Duration              // the time until the next step
}

// What users do.
const (
	set    = "set" // creates or changes an object
	remove = "delete"
)

var (
	ofCloud = []string{simulation.Outage, simulation.LoseCall}
	// rapid draws the first ones of a list more often.
	allSteps = []string{
		set, set, remove, simulation.Outage, simulation.Stop, simulation.Lose, simulation.Conflict, set, simulation.Restart, simulation.Pause,
		simulation.Revoke, simulation.Vanish, simulation.Expire, simulation.LoseCall, set, remove, remove,
		simulation.Wait, simulation.Broken, simulation.TimeOut, simulation.Busy, simulation.Outage, simulation.Conflict, simulation.Stop,
		simulation.Lose, simulation.Conflict, simulation.Pause, set, simulation.Restart, simulation.Vanish, simulation.LoseCall, remove, simulation.Stop, simulation.Vanish,
	}
	withoutCloud = slices.DeleteFunc(slices.Clone(allSteps), func(s string) bool { return slices.Contains(ofCloud, s) })
)

// draw draws a plan.
func (e *explorer) draw(t *rapid.T) (p plan) {
	p.world, p.lags = e, map[schema.GroupKind]time.Duration{}
	for _, kind := range append([]schema.GroupKind{{}}, e.watched...) {
		p.lags[kind] = rapid.SampledFrom([]time.Duration{0, 0, 20 * time.Millisecond, 3 * time.Second}).Draw(t, "lag "+kind.Kind)
	}
	states := make([]client.Object, len(e.World))
	write := func(i int) step {
		s := step{Step: simulation.Step{Do: set}, on: i, patch: []byte("{}")}
		was := states[i]
		if was == nil {
			states[i] = e.World[i].DeepCopyObject().(client.Object)
		} else {
			states[i] = was.DeepCopyObject().(client.Object)
		}
		if e.Edit != nil && (was != nil || rapid.Bool().Draw(t, "edited")) {
			e.Edit(t, states[i])
		}
		if s.state = plain(states[i]); was != nil {
			s.patch = simulation.MergePatch(plain(was), s.state)
		}
		return s
	}
	user := func(s step) step {
		if s.Nth = rapid.SampledFrom([]int{0, 0, 0, 0, 1, 1, 2, 3, 4}).Draw(t, "during"); s.Nth > 0 {
			s.After = rapid.Bool().Draw(t, "after")
			s.Takes = rapid.SampledFrom([]time.Duration{10 * time.Millisecond, 5 * time.Second}).Draw(t, "takes")
		}
		s.then = then(t)
		return s
	}
	for i := range e.World {
		if !chance(t, "left out", 5) {
			s := write(i)
			s.then = then(t)
			p.steps = append(p.steps, s)
		}
	}
	all := allSteps
	if e.Cloud == nil {
		all = withoutCloud
	}
	for range rapid.IntRange(0, 8).Draw(t, "steps") {
		s := step{Step: simulation.Step{Do: rapid.SampledFrom(all).Draw(t, "do")}, then: simulation.Settles}
		i := rapid.IntRange(0, len(e.World)-1).Draw(t, "object")
		s.Kind = e.World[i].GetObjectKind().GroupVersionKind().GroupKind()
		switch s.Do {
		case set:
			p.steps = append(p.steps, user(write(i)))
			continue
		case remove:
			p.steps = append(p.steps, user(step{Step: simulation.Step{Do: remove}, on: i}))
			continue
		case simulation.Wait, simulation.Outage, simulation.Revoke, simulation.Vanish, simulation.Expire:
			s.Last = rapid.SampledFrom([]time.Duration{time.Second, time.Minute, 15 * time.Minute}).Draw(t, "for")
		case simulation.Restart:
			if s.then = then(t); chance(t, "while it is down", 2) {
				down := write(i)
				s.down, down.then = &down, simulation.Settles
			}
		default:
			s.Nth = rapid.SampledFrom([]int{1, 1, 1, 2, 2, 3, 5}).Draw(t, "request")
			if s.on = i; chance(t, "of any object", 2) {
				s.on = -1
			} else {
				s.Name = client.ObjectKeyFromObject(e.World[i])
			}
		}
		p.steps = append(p.steps, s)
		if s.Do == simulation.Wait || s.Do == simulation.Restart {
			continue
		}
		// Nothing meets the fault unless something happens. An operator may take an object of a
		// kind that is not served for a deleted one.
		if s.Do != simulation.Vanish || chance(t, "then another one", 2) {
			i = rapid.IntRange(0, len(e.World)-1).Draw(t, "then object")
		}
		if chance(t, "then delete", 3) {
			p.steps = append(p.steps, user(step{Step: simulation.Step{Do: remove}, on: i}))
		} else {
			p.steps = append(p.steps, user(write(i)))
		}
		p.steps[len(p.steps)-2].then = 0
	}
	return p
}

// then draws the time until the next step.
func then(t *rapid.T) time.Duration {
	return rapid.SampledFrom([]time.Duration{simulation.Settles, simulation.Settles, simulation.Settles, 10 * time.Millisecond, 0}).Draw(t, "then")
}

// chance draws true with a probability of 1/n, and shrinks to false.
func chance(t *rapid.T, label string, n int) bool {
	return rapid.IntRange(0, n-1).Draw(t, label) == n-1
}

// plain returns an object as users write it.
func plain(o client.Object) *unstructured.Unstructured {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		panic(fmt.Sprintf("ctrltest: %T is no object of an API: %v", o, err))
	}
	delete(content, "status")
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(o.GetObjectKind().GroupVersionKind())
	for _, field := range []string{"creationTimestamp", "resourceVersion", "uid", "generation"} {
		unstructured.RemoveNestedField(content, "metadata", field)
	}
	return u
}

// GoString describes a plan, one line a step. rapid prints it.
func (p plan) GoString() string {
	b := strings.Builder{}
	b.WriteString("\n")
	for _, kind := range p.world.watched {
		if lag := p.lags[kind]; lag > 0 {
			fmt.Fprintf(&b, "  watches of %s are %s late\n", kind, lag)
		}
	}
	if lag := p.lags[schema.GroupKind{}]; lag > 0 {
		fmt.Fprintf(&b, "  watches of other kinds are %s late\n", lag)
	}
	for i, s := range p.steps {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, p.world.describe(s))
	}
	return b.String()
}

// describe describes a step.
func (e *explorer) describe(s step) (text string) {
	of := simulation.Name(e.World[max(s.on, 0)])
	switch s.Do {
	case set:
		spec, _ := s.state.MarshalJSON()
		text = fmt.Sprintf("a user writes %s: %s", of, simulation.Short(strings.TrimSpace(string(spec))))
		if string(s.patch) != "{}" {
			text = fmt.Sprintf("a user edits %s: %s", of, simulation.Short(string(s.patch)))
		}
	case remove:
		text = "a user deletes " + of
	default:
		if text = s.Step.String(); s.down != nil {
			text = "while the operator is restarted, " + e.describe(*s.down)
		}
	}
	if s.Nth > 0 && (s.Do == set || s.Do == remove) {
		text += fmt.Sprintf(", %s request %d of the operator", map[bool]string{false: "before", true: "after"}[s.After], s.Nth)
	}
	if s.Takes > simulation.Settles/2 {
		text += fmt.Sprintf(", which takes %s", s.Takes)
	}
	if s.then < simulation.Settles {
		text += fmt.Sprintf("; %s later:", s.then)
	}
	return text
}
