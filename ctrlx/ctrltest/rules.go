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

// isReady reports whether the condition Ready of an object is True.
func isReady(o *unstructured.Unstructured) bool {
	return is(o, "Ready").Status == metav1.ConditionTrue
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

// ours returns the objects of World whose kind has a status, by their names.
func (r *run) ours(all []*unstructured.Unstructured) map[string]*unstructured.Unstructured {
	found := map[string]*unstructured.Unstructured{}
	for _, o := range r.World {
		for _, is := range all {
			if simulation.Name(is) == simulation.Name(o) && client.ObjectKeyFromObject(is) == client.ObjectKeyFromObject(o) {
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

// requireQuiet requires what holds when all is settled.
func (r *run) requireQuiet() {
	all := r.Objects()
	ours := r.ours(all)
	ready := r.Ready
	if ready == nil {
		ready = ReadyCondition
	}
	bad, waits := map[string]bool{}, map[string][]string{}
	why := map[string]string{}
	for what, o := range ours {
		if !r.managed(o) {
			continue
		}
		ok, because := ready(o)
		bad[what], why[what] = !ok || o.GetDeletionTimestamp() != nil, because
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
		waits[what] = r.named(what, why[what])
		cause := len(waits[what]) == 0
		for _, other := range waits[what] {
			at := ours[other]
			cause = cause || at == nil || at.GetDeletionTimestamp() != nil || bad[other] || o.GetDeletionTimestamp() != nil
		}
		if !cause {
			r.Wrong(RuleSettled, "%s says %q, and %s is Ready", what, why[what], strings.Join(waits[what], ", "))
		}
	}
	r.requireCycles(ours, waits)
	names, _, faults := r.cloud.state()
	for _, f := range faults {
		r.Wrong(RuleTwice, "%s", f)
	}
	r.requireRules(all, names)
}

// requireRules requires the rules of the user.
func (r *run) requireRules(all []*unstructured.Unstructured, cloud []string) {
	for _, rule := range slices.Sorted(maps.Keys(r.Rules)) {
		if check := r.Rules[rule]; check != nil {
			if err := check(&State{Objects: all, Cloud: cloud}); err != nil {
				r.Wrong(rule, "%v", err)
			}
		}
	}
}

// named returns the objects of World that a message names: the name as a word, and
// the kind anywhere, or the namespace and the name.
func (r *run) named(of, message string) (all []string) {
	for _, o := range r.World {
		what := simulation.Name(o)
		word := regexp.MustCompile(`(^|[^\w.-])` + regexp.QuoteMeta(o.GetName()) + `($|[^\w.-]|[.-](\s|$))`)
		kind := o.GetObjectKind().GroupVersionKind().Kind
		if what != of && word.MatchString(message) && strings.Contains(strings.ToLower(message), strings.ToLower(kind)) {
			all = append(all, what)
		}
	}
	return all
}

// requireCycles requires that objects that wait for each other say so.
func (r *run) requireCycles(ours map[string]*unstructured.Unstructured, waits map[string][]string) {
	reached := simulation.Reach(waits)
	for _, what := range slices.Sorted(maps.Keys(waits)) {
		says := false
		for _, at := range append(slices.Collect(maps.Keys(reached[what])), what) {
			c := is(ours[at], "Ready")
			says = says || is(ours[at], "Stalled").Status == metav1.ConditionTrue || strings.Contains(strings.ToLower(c.Reason+c.Message), "cycle")
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
	settled := true // else errors are retried
	for _, o := range ours {
		settled = settled && (!r.managed(o) || isReady(o))
	}
	sent, _, wrote := r.Counts()
	for _, what := range slices.Sorted(maps.Keys(wrote)) {
		most := heartbeats
		if o := ours[what]; o != nil && !isReady(o) {
			most = restingWrites
		}
		if times := wrote[what] - writes[what]; times > most {
			r.Wrong(RuleRest, "the operator changed %s %d times in %s without a change by users", what, times, restTime)
		}
	}
	if _, now, _ := r.cloud.state(); now > began && settled {
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
		all[o.GetNamespace()+" "+simulation.Name(o)] = o
	}
	return all
}

// requireSame requires that the objects are as they were. A restart may try again what
// has failed, or notice a cycle in another place: an object that is not Ready must only
// stay so.
func (r *run) requireSame(before map[string]*unstructured.Unstructured) {
	now := r.snapshot()
	for _, key := range slices.Sorted(maps.Keys(before)) {
		was, o := before[key], now[key]
		if o == nil {
			r.Wrong(RuleRestart, "%s is gone after a restart", simulation.Name(was))
		} else if c, now := is(was, "Ready"), is(o, "Ready"); c.Type != "" && !isReady(was) && c.Status == now.Status && c.ObservedGeneration == now.ObservedGeneration {
			continue
		} else if patch := simulation.MergePatch(simulation.Stripped(was, false), simulation.Stripped(o, false)); string(patch) != "{}" {
			r.Wrong(RuleRestart, "%s is another one after a restart: it was not settled before, and no event woke it: %s", simulation.Name(was), simulation.Short(string(patch)))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if before[key] == nil {
			r.Wrong(RuleRestart, "%s is created by a restart", simulation.Name(now[key]))
		}
	}
	names, _, _ := r.cloud.state()
	r.requireRules(r.Objects(), names)
}

// requireGone requires that nothing is left.
func (r *run) requireGone() {
	for _, o := range r.Objects() {
		r.Wrong(RuleGone, "%s is left%s", simulation.Name(o), simulation.Described(o))
	}
	names, _, _ := r.cloud.state()
	for _, n := range names {
		r.Wrong(RuleLeft, "%s is left in the cloud", n)
	}
}
