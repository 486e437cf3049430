package ctrltest

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/simulation"
)

// The names of the rules. The package comment says what each one requires.
const (
	RuleSettled = "settled"
	RuleCycle   = "cycle"
	RuleTwice   = "twice"
	RuleRest    = "rest"
	RuleSpin    = simulation.Spin
	RuleRestart = "restart"
	RuleGone    = "gone"
	RuleLeft    = "left"
	RuleExit    = simulation.Exit
)

const (
	heartbeats      = 3   // writes of an object
	restingWrites   = 16  // the same, if it is not Ready, because errors are retried
	restingRequests = 100 // for each object, and three times as many without one
)

// is returns a condition of an object. The zero value: it has none.
func is(o *unstructured.Unstructured, kind string) (c metav1.Condition) {
	if found := meta.FindStatusCondition(simulation.Conditions(o), kind); found != nil {
		return *found
	}
	return c
}

// ReadyCondition is Operator.Ready by default: the condition Ready, if it is for the present
// generation, and its reason and message.
func ReadyCondition(o *unstructured.Unstructured) (ready bool, why string) {
	c := is(o, "Ready")
	observed := c.ObservedGeneration
	if observed == 0 {
		observed, _, _ = unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	}
	switch {
	case c.Type == "", observed != 0 && observed != o.GetGeneration():
		return false, ""
	case c.Status == metav1.ConditionTrue:
		return true, ""
	}
	return false, strings.TrimSpace(c.Reason + " " + c.Message)
}

// ours returns the objects of World, by their names.
func (r *run) ours(all []*unstructured.Unstructured) map[string]*unstructured.Unstructured {
	found := map[string]*unstructured.Unstructured{}
	for _, o := range r.World {
		for _, is := range all {
			if simulation.Name(is) == simulation.Name(o) {
				found[simulation.Name(o)] = is
			}
		}
	}
	return found
}

// managed reports whether the operator reconciles a kind: it has a definition with a
// status.
func (r *run) managed(o client.Object) bool {
	kind := o.GetObjectKind().GroupVersionKind()
	for _, k := range r.kinds {
		if k.GroupVersionKind == kind {
			return k.Status && k.Type == nil
		}
	}
	return false
}

// ready reports whether an object is Ready, or else why not. Each rule asks it. An object
// that the operator does not reconcile is Ready.
func (r *run) ready(o *unstructured.Unstructured) (ready bool, why string) {
	if !r.managed(o) {
		return true, ""
	}
	return r.Ready(o)
}

// requireQuiet requires what holds when all is settled.
func (r *run) requireQuiet() {
	all := r.Objects()
	ours := r.ours(all)
	bad, waits := map[string]bool{}, map[string][]string{}
	why := map[string]string{}
	for what, o := range ours {
		ok, because := r.ready(o)
		bad[what], why[what] = r.managed(o) && (!ok || o.GetDeletionTimestamp() != nil), because
	}
	for _, what := range slices.Sorted(maps.Keys(bad)) {
		o := ours[what]
		if !bad[what] {
			continue
		}
		if why[what] == "" {
			r.Wrong(RuleSettled, "%s is not Ready for generation %d, and does not say why%s", what, o.GetGeneration(), simulation.Described(o))
			continue
		}
		waits[what] = r.named(o, why[what])
		cause := len(waits[what]) == 0
		for _, other := range waits[what] {
			at := ours[other]
			cause = cause || at == nil || at.GetDeletionTimestamp() != nil || bad[other] || o.GetDeletionTimestamp() != nil
		}
		if !cause {
			r.Wrong(RuleSettled, "%s says %q, and %s is Ready", what, why[what], strings.Join(waits[what], ", "))
		}
	}
	r.requireCycles(ours, waits, why)
	r.requireRules(all)
}

// requireRules requires the rules of the user.
func (r *run) requireRules(all []*unstructured.Unstructured) {
	cloud, _ := r.cloud.state()
	for _, rule := range slices.Sorted(maps.Keys(r.Rules)) {
		if check := r.Rules[rule]; check != nil {
			if err := check(&State{Objects: all, Cloud: cloud}); err != nil {
				r.Wrong(rule, "%v", err)
			}
		}
	}
}

// named returns the objects of World that a message of an object names: the name as a
// word, and the kind anywhere, and the namespace as a word if it is another one.
func (r *run) named(of *unstructured.Unstructured, message string) (all []string) {
	says := func(before, word string) bool {
		return regexp.MustCompile(`(^|[^\w./-]|` + before + `/)` + regexp.QuoteMeta(word) + `($|[^\w.-]|[.-](\s|$))`).MatchString(message)
	}
	for _, o := range r.World {
		what, in := simulation.Name(o), o.GetNamespace()
		kind := o.GetObjectKind().GroupVersionKind().Kind
		here := in == "" || in == of.GetNamespace() || says("", in)
		name := says(`(?i:`+kind+`)[\w.]*/|`+in, o.GetName()) // no other namespace before it
		if what != simulation.Name(of) && here && name && strings.Contains(strings.ToLower(message), strings.ToLower(kind)) {
			all = append(all, what)
		}
	}
	return all
}

// requireCycles requires that objects that wait for each other say so.
func (r *run) requireCycles(ours map[string]*unstructured.Unstructured, waits map[string][]string, why map[string]string) {
	reached := simulation.Reach(waits)
	for _, what := range slices.Sorted(maps.Keys(waits)) {
		says := false
		for _, at := range append(slices.Collect(maps.Keys(reached[what])), what) {
			says = says || is(ours[at], "Stalled").Status == metav1.ConditionTrue || strings.Contains(strings.ToLower(why[at]), "cycle")
		}
		if reached[what][what] && !says {
			r.Wrong(RuleCycle, "%s waits for itself by way of %s, and none of them says so%s", what, strings.Join(waits[what], ", "), simulation.Described(ours[what]))
		}
	}
}

// requireRest requires that little happened in the time at rest, after these numbers of requests, operations and
// writes.
func (r *run) requireRest(requests, began int, writes map[string]int) {
	all := r.Objects()
	ours := r.ours(all)
	settled, most := true, map[string]int{} // else errors are retried
	for what, o := range ours {
		if ready, _ := r.ready(o); !ready {
			settled, most[what] = false, restingWrites
		}
	}
	sent, _, wrote := r.Counts()
	for _, what := range slices.Sorted(maps.Keys(wrote)) {
		if times := wrote[what] - writes[what]; times > max(heartbeats, most[what]) {
			r.Wrong(RuleRest, "the operator changed %s %d times in %s without a change by users", what, times, restTime)
		}
	}
	if _, now := r.cloud.state(); now > began && settled {
		r.Wrong(RuleRest, "%d operations of the cloud began in %s without a change by users", now-began, restTime)
	}
	if most := restingRequests * (len(all) + 3); sent-requests > most {
		r.Wrong(RuleSpin, "the operator sent %d requests in %s without a change by users, to %d objects", sent-requests, restTime, len(all))
	}
}

// snapshot returns the objects, by their names.
func (r *run) snapshot() map[string]*unstructured.Unstructured {
	all := map[string]*unstructured.Unstructured{}
	for _, o := range r.Objects() {
		all[simulation.Name(o)] = o
	}
	return all
}

// requireSame requires that the objects are as they were. A restart may try again what
// has failed, or notice a cycle in another place: an object that is not Ready must only
// stay so.
func (r *run) requireSame(before map[string]*unstructured.Unstructured) {
	now := r.snapshot()
	for _, what := range slices.Sorted(maps.Keys(before)) {
		was, o := before[what], now[what]
		if o == nil {
			r.Wrong(RuleRestart, "%s is gone after a restart", what)
			continue
		}
		wasReady, why := r.ready(was)
		ready, whyNow := r.ready(o)
		if !wasReady && !ready && why != "" && whyNow != "" && was.GetGeneration() == o.GetGeneration() {
			continue
		}
		if patch := simulation.MergePatch(simulation.Stripped(was, false), simulation.Stripped(o, false)); string(patch) != "{}" {
			r.Wrong(RuleRestart, "%s is another one after a restart: it was not settled before, and no event woke it: %s", what, simulation.Short(string(patch)))
		}
	}
	for _, what := range slices.Sorted(maps.Keys(now)) {
		if before[what] == nil {
			r.Wrong(RuleRestart, "%s is created by a restart", what)
		}
	}
	r.requireRules(r.Objects())
}

// requireGone requires that nothing is left.
func (r *run) requireGone() {
	for _, o := range r.Objects() {
		r.Wrong(RuleGone, "%s is left%s", simulation.Name(o), simulation.Described(o))
	}
	names, _ := r.cloud.state()
	for _, n := range names {
		r.Wrong(RuleLeft, "%s is left in the cloud", n)
	}
}
