package ctrltest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/simulation"
)

// run is a run under way.
type run struct {
	*explorer
	*simulation.Run
	plan  plan
	cloud *Cloud
}

const restTime = 80 * time.Minute // when nothing changes

// run runs a plan. nil: all rules hold.
func (e *explorer) run(t *testing.T, p plan) *failure {
	var r *run
	over := false
	problem := simulation.Bubble(t, func(t *testing.T) {
		s, err := simulation.New(e.kinds, kruntime.NewScheme(), func(kind schema.GroupKind) time.Duration {
			lag, ok := p.lags[kind]
			if !ok {
				lag = p.lags[schema.GroupKind{}]
			}
			// Events of kinds never arrive at the same time.
			return lag + time.Millisecond + time.Duration(slices.Index(e.watched, kind)+1)*137*time.Microsecond
		})
		must(t, err)
		r = &run{e, s, p, &Cloud{run: s}}
		s.Operator, s.Latency, s.Spins = e.Start, true, e.off(RuleSpin)
		// The process may not have stored what it began just now.
		s.Ends = func() { r.cloud.loses(time.Now().Add(-time.Second)) }
		if e.Cloud != nil {
			e.Cloud(r.cloud)
		}
		r.story(t)
		r.End()
		over = true
	})
	if r == nil {
		return &failure{[]simulation.Fault{{Rule: RuleExit, Text: problem}}, p.GoString(), ""}
	}
	if problem != "" {
		r.Wrong(RuleExit, "%s", problem)
	}
	faults := r.broken()
	if !over { // the run stopped before it asked the other rules
		faults = r.Faults()
	}
	if len(faults) == 0 {
		return nil
	}
	return &failure{faults, p.GoString(), r.Line()}
}

// story runs the steps, and requires the rules.
func (r *run) story(t *testing.T) {
	for _, crd := range r.definitions {
		o := plain(crd)
		status, err := kruntime.DefaultUnstructuredConverter.ToUnstructured(crd)
		must(t, err)
		must(t, r.Users.Create(t.Context(), o.DeepCopy()))
		o.Object["status"] = status["status"]
		must(t, r.Users.Status().Update(t.Context(), o))
	}
	r.Run.Start()
	time.Sleep(simulation.Settles)
	for i := range r.plan.steps {
		s := r.plan.steps[i]
		r.play(&s)
		time.Sleep(s.then)
	}
	time.Sleep(simulation.Settles)
	r.EndFaults()
	r.quiet("the steps and the faults are over")
	if r.requireQuiet(); len(r.broken()) > 0 {
		return
	}

	before := r.snapshot()
	requests, _, writes := r.Counts()
	_, began := r.cloud.state()
	r.Tell("run", "nothing changes for %s", restTime)
	time.Sleep(restTime)
	simulation.Settle()
	if r.requireRest(requests, began, writes); len(r.broken()) > 0 {
		return
	}

	r.Restart(nil)
	r.quiet("the operator was restarted")
	if r.requireSame(before); len(r.broken()) > 0 {
		return
	}

	order := slices.Clone(r.World)
	if len(r.plan.steps)%2 == 1 {
		slices.Reverse(order)
	}
	for _, o := range order {
		r.delete(o)
		simulation.Settle()
	}
	r.quiet("users have deleted all objects")
	r.requireGone()
}

// broken returns the rules that do not hold, and are not switched off.
func (r *run) broken() []simulation.Fault {
	return slices.DeleteFunc(r.Faults(), func(f simulation.Fault) bool { return r.off(f.Rule) })
}

// off reports whether a rule is switched off.
func (e *explorer) off(rule string) bool {
	check, has := e.Rules[rule]
	return has && check == nil
}

func must(t *testing.T, err error) {
	if err != nil {
		t.Fatalf("ctrltest: %v", err)
	}
}

// quiet waits until the operator has had enough time for everything.
func (r *run) quiet(why string) {
	r.Tell("run", "%s", why)
	time.Sleep(r.Patience)
	simulation.Settle()
}

// play begins a step.
func (r *run) play(s *step) {
	if s.User = func() { r.act(s) }; s.Do == simulation.Restart {
		s.User = nil
		if down := s.down; down != nil {
			s.User = func() { r.act(down) }
		}
	}
	text, _, _ := strings.Cut(r.describe(*s), "; ")
	r.Play(&s.Step, text)
}

// act does what a user does in a step.
func (r *run) act(s *step) {
	o := r.World[s.on]
	if s.Do == remove {
		r.delete(o)
		return
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(o.GetObjectKind().GroupVersionKind())
	err := r.Users.Get(context.Background(), client.ObjectKeyFromObject(o), live)
	if apierrors.IsNotFound(err) {
		err = r.Users.Create(context.Background(), s.state.DeepCopy())
	} else if err == nil {
		err = r.Users.Patch(context.Background(), live, client.RawPatch(types.MergePatchType, s.patch))
	}
	if err != nil {
		r.Tell("user", "the write of %s failed: %v", simulation.Name(o), err)
	}
}

func (r *run) delete(o client.Object) {
	if err := r.Users.Delete(context.Background(), plain(o)); err != nil && !apierrors.IsNotFound(err) {
		r.Tell("user", "the deletion of %s failed: %v", simulation.Name(o), err)
	}
}
