package overwrite

import (
	"errors"
	"fmt"
	"strconv"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"
)

// state is a version of an object in the API server. Ready stands for the owned
// conditions, Other for the rest of the status.
type state struct {
	version      int
	ready, other int
	message      string
	foreign      bool // another writer wrote this Ready
}

func (s state) conditions() []metav1.Condition {
	return []metav1.Condition{
		{Type: "Other", Status: "True", Reason: fmt.Sprint("Other", s.other)},
		{Type: "Ready", Status: "True", Reason: fmt.Sprint("Reason", s.ready), Message: s.message},
	}
}

func (s state) object() metav1.Object {
	return &metav1.ObjectMeta{UID: "uid", ResourceVersion: strconv.Itoa(s.version)}
}

var (
	errConflict = apierrors.NewConflict(schema.GroupResource{}, "a", errors.New("it was changed"))
	errNetwork  = errors.New("the connection was closed")
)

// world is an object with a reconciler, another writer, and a watch that may
// skip versions. Each pass comes to another Ready.
type world struct {
	t      *rapid.T
	writes Writes
	server []state
	seen   int // the index of the last version that the watch reported
	passes int
	prunes bool // the API server drops the message
	due    bool // a foreign update was reported after the last pass began

	read    int   // the version that the running request is based on; 0: no request runs
	ready   int   // the Ready of the running request
	answer  error // of the running or the last request
	written string
	sent    bool
}

func (w *world) now() state { return w.server[len(w.server)-1] }

func (w *world) add(s state) {
	s.version = w.now().version + 1
	w.server = append(w.server, s)
}

// begin begins a pass. The pass writes if its Ready differs from the Ready that
// it reads. A pass after a lost answer has the same Ready as the pass before.
func (w *world) begin() {
	if w.read != 0 {
		return
	}
	w.due = false
	if w.answer != errNetwork {
		w.passes++
	}
	if w.answer = nil; w.now().ready == w.passes {
		return
	}
	w.read, w.ready, w.sent = w.now().version, w.passes, false
	w.writes.Begin("uid", strconv.Itoa(w.read), w.now().conditions(), w.wants().conditions())
}

// wants returns what the running request writes.
func (w *world) wants() state {
	if w.prunes {
		return state{ready: w.ready, message: "pruned"}
	}
	return state{ready: w.ready}
}

// serve lets the API server do the running request.
func (w *world) serve() {
	switch {
	case w.read == 0 || w.sent:
		return
	case w.now().version != w.read:
		w.answer, w.written = errConflict, ""
	default:
		w.add(state{ready: w.ready, other: w.now().other})
		w.answer, w.written = nil, strconv.Itoa(w.now().version)
	}
	w.sent = true
}

// end returns the answer of the running request. A lost answer, or request, is
// an error of the network.
func (w *world) end(lost bool) {
	if w.read == 0 || !w.sent && !lost {
		return
	}
	if lost {
		w.answer, w.written = errNetwork, ""
	}
	err, version := w.answer, w.written
	w.read = 0
	if _, foreign := w.writes.End("uid", version, state{ready: w.ready}.conditions(), err); foreign {
		w.report("the answer")
	}
	if err != nil {
		w.due = true // Reconcile is called again
	}
}

// watch reports the version that is n later than the last one.
func (w *world) watch(n int) {
	to := min(w.seen+n, len(w.server)-1)
	if to == w.seen {
		return
	}
	was, is := w.server[w.seen], w.server[to]
	w.seen = to
	if w.writes.Foreign(Update{was.object(), is.object(), was.conditions(), is.conditions()}) {
		w.report(fmt.Sprintf("version %d", is.version))
	}
}

func (w *world) report(by string) {
	w.due = true
	for _, s := range w.server {
		if s.foreign {
			return
		}
	}
	w.t.Fatalf("%s: no other writer changed Ready: %+v", by, w.server)
}

// Whatever the order of requests, answers and updates is: the conditions of
// another writer never stay without a pass, and without another writer no update
// is foreign. In the end the watch has reported all writes, and none is kept.
func TestEachOrder(t *testing.T) {
	for name, tc := range map[string]struct{ foreign, prunes bool }{"Foreign": {true, false}, "Alone": {false, false}, "Pruned": {false, true}} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				w := &world{t: t, prunes: tc.prunes, server: []state{{version: 10, ready: -1}}}
				t.Repeat(map[string]func(*rapid.T){
					"begin":  func(*rapid.T) { w.begin() },
					"serve":  func(*rapid.T) { w.serve() },
					"answer": func(*rapid.T) { w.end(false) },
					"lose":   func(*rapid.T) { w.end(!tc.prunes) }, // of a pruned write, a lost answer would be unknown
					"watch":  func(*rapid.T) { w.watch(1) },
					"skip":   func(*rapid.T) { w.watch(3) },
					"other":  func(*rapid.T) { s := w.now(); s.other++; w.add(s) },
					"foreign": func(*rapid.T) {
						if tc.foreign {
							w.add(state{ready: 1000 + len(w.server), other: w.now().other, foreign: true})
						}
					},
				})
				w.serve()
				w.end(false)
				for w.seen < len(w.server)-1 {
					w.watch(1)
				}
				if w.now().foreign && !w.due {
					t.Fatalf("no pass corrects Ready: %+v", w.server)
				}
				if w.begin(); !tc.foreign { // the pass after an error
					w.serve()
					w.end(false)
					w.watch(1)
					if w.writes.n.Load() != 0 || len(w.writes.of) != 0 {
						t.Fatalf("a reported write is kept: %+v", w.writes.of["uid"])
					}
				}
			})
		})
	}
}

// The watch reports an own write and then a foreign one before the own request
// is answered.
func TestForeignBeforeTheAnswer(t *testing.T) {
	var w Writes
	read, ours, theirs := state{version: 10, ready: 1}, state{version: 11, ready: 2}, state{version: 12, ready: 3}
	w.Begin("uid", "10", read.conditions(), ours.conditions())
	for _, u := range []Update{{read.object(), ours.object(), read.conditions(), ours.conditions()}, {ours.object(), theirs.object(), ours.conditions(), theirs.conditions()}} {
		if w.Foreign(u) {
			t.Errorf("version %s does not wait for the answer", u.Is.GetResourceVersion())
		}
	}
	if held, foreign := w.End("uid", "11", ours.conditions(), nil); !foreign || held.Is.GetResourceVersion() != "12" || w.n.Load() != 0 {
		t.Errorf("the foreign update is %+v, %t, and %d writes are kept", held, foreign, w.n.Load())
	}
}

// A deleted object needs no memory, also if the answer comes after the deletion.
func TestForgetWrites(t *testing.T) {
	var w Writes
	w.Begin("uid", "4", nil, nil)
	w.Forget("uid")
	w.End("uid", "5", nil, nil)
	w.Forget("uid")
	w.Begin("uid", "4", []metav1.Condition{{Type: "Ready"}}, nil) // a pass that the deletion overtook
	w.End("uid", "", nil, apierrors.NewNotFound(schema.GroupResource{}, "a"))
	if w.n.Load() != 0 || len(w.of) != 0 {
		t.Errorf("%d writes are kept: %v", w.n.Load(), w.of)
	}
}

// Only the owned conditions count, and not the time of their last transition.
func TestChanged(t *testing.T) {
	ready := metav1.Condition{Type: "Ready", Status: "True", Reason: "Succeeded", Message: "m", ObservedGeneration: 1}
	with := func(c metav1.Condition, change func(*metav1.Condition)) []metav1.Condition {
		change(&c)
		return []metav1.Condition{c}
	}
	cases := map[string]struct {
		reason string
		now    []metav1.Condition
		want   bool
	}{
		"Same":       {"nothing changed", with(ready, func(*metav1.Condition) {}), false},
		"Status":     {"the status changed", with(ready, func(c *metav1.Condition) { c.Status = "False" }), true},
		"Reason":     {"the reason changed", with(ready, func(c *metav1.Condition) { c.Reason = "Other" }), true},
		"Message":    {"the message changed", with(ready, func(c *metav1.Condition) { c.Message = "n" }), true},
		"Generation": {"the generation changed", with(ready, func(c *metav1.Condition) { c.ObservedGeneration = 2 }), true},
		"Removed":    {"the condition was removed", nil, true},
		"Transition": {"a pass does not write the time alone", with(ready, func(c *metav1.Condition) { c.LastTransitionTime = metav1.Now() }), false},
		"Stalled":    {"another owned condition was added", []metav1.Condition{ready, {Type: "Stalled"}}, true},
		"Theirs":     {"other writers own other conditions", []metav1.Condition{{Type: "Healthy"}, ready}, false},
		"Finished":   {"a person removes Finished to start passes again", []metav1.Condition{ready, {Type: "Finished"}}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Changed([]metav1.Condition{ready}, tc.now); got != tc.want {
				t.Errorf("%s: changed is %t", tc.reason, got)
			}
		})
	}
}
