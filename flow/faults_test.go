package flow_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/falsify"
)

// TestPropertiesNoticeFaults checks that each fault in a model of the flow
// breaks a property. The model without a fault breaks none.
func TestPropertiesNoticeFaults(t *testing.T) {
	cases := map[string]struct {
		reason string
		wants  string // a part of the name of the property that must notice the fault
	}{
		"":                                   {"a model without a fault breaks no property", ""},
		"no get after apply":                 {"PostCheck would see the status from before Apply", "ready exactly"},
		"absent after apply is ready":        {"Apply and Get contradict each other", "ready exactly"},
		"ignore a blocked post check":        {"a resource is Ready only if every check proceeded", "ready exactly"},
		"pre check before owner check":       {"an owner check spares the GET only if it runs first", "in order"},
		"pre check although in sync":         {"PreCheck guards the PUT, and this pass has none", "in sync"},
		"no entry check":                     {"EntryCheck decides whether this controller may act", "ready exactly"},
		"no entry check while being deleted": {"the resource of another controller would be deleted", "gone only"},
		"ignored after apply":                {"this controller has applied the resource", "if a check decides so"},
		"finished while being deleted":       {"the flow would never delete the resource", "if a check decides so"},
		"released without a deletion":        {"the flow would forget a resource that exists", "if a check decides so"},
		"apply although in sync":             {"each pass of a blocked post check would send a PUT", "in sync"},
		"forget the token":                   {"the next pass would start the operation again", "one operation"},
		"proceed after a block":              {"no later point runs after a block", "after a stop"},
		"no delay after a block":             {"the queue would spin", "delay"},
		"owner check while polling":          {"a change of the owner must not delay a poll", "polled before"},
		"gone without delete":                {"the resource would stay in the cloud", "gone only"},
		"a zero result proceeds":             {"a zero value is no decision", "after a stop"},
		"forgotten next proceeds":            {"the inner checks would not run", "after a stop"},
		"a panic proceeds":                   {"a panic is no decision", "after a stop"},
		"a failed apply is ready":            {"an error is not success", "ready exactly"},
		"apply while being deleted":          {"a deleted resource must not be created again", "one operation"},
		"a failing link drops the token":     {"the operation continues, whatever the links return", "one operation"},
		"offline drops the token":            {"without a connection the state of the operation is unknown", "one operation"},
		"a refused operation is polled":      {"an operation that has ended cannot be polled", "one operation"},
		"skip stops the pass":                {"a skip leaves out links, and the pass proceeds", "ready exactly"},
		"skip is ignored":                    {"a skip leaves out the inner links", "after a stop"},
		"a new spec does not wait":           {"the old operation is still under way", "one operation"},
		"after deletion it is retried on":    {"no pass follows a final state", "delay"},
	}
	for fault, tc := range cases {
		t.Run(fault, func(t *testing.T) {
			held := slices.DeleteFunc(slices.Clone(properties), func(p property) bool { return !strings.Contains(p.name, tc.wants) })
			if len(held) == 0 {
				t.Fatalf("no property contains %q", tc.wants)
			}
			noticed := falsify.Found(t, 1000, func(t *rapid.T) {
				programs, counts, keep := drawRun(t)
				checkProperties(t, run(toyFlow(fault), programs, counts, keep), held...)
			})
			if noticed != (fault != "") {
				t.Errorf("%s: noticed: %t", tc.reason, noticed)
			}
		})
	}
}

// toyFlow is a small model of the flow, with a fault.
func toyFlow(fault string) subject {
	return func(w *world, counts map[string]int, _ bool) func(context.Context) result {
		return (&toy{world: w, counts: counts, fault: fault}).pass
	}
}

type toy struct {
	*world
	counts     map[string]int
	fault      string
	token      string
	generation int64
	deletes    bool
}

func (y *toy) pass(ctx context.Context) result {
	r := result{state: flow.StateReady, delay: time.Hour, again: true}
	if stop := y.try(func() flow.State { return y.around("Pass", func() flow.State { return y.flow(ctx) }) }); stop != 0 {
		r.state = stop
	}
	switch r.state {
	case flow.StateGone, flow.StateCanceled, flow.StateIgnored, flow.StateFinished:
		r.delay, r.again = 0, y.fault == "after deletion it is retried on"
	case flow.StateBlocked:
		if y.fault == "no delay after a block" {
			r.delay = 0
		}
	}
	return r
}

// flow returns the state in which the pass stops, or 0 for Ready.
func (y *toy) flow(ctx context.Context) flow.State {
	if y.fault != "no entry check" && !(y.deleting && y.fault == "no entry check while being deleted") {
		if stop := y.checks("EntryCheck"); stop != 0 {
			return stop
		}
	}
	if y.does("Owner", -1, y.owner) == fail {
		return flow.StateFailed
	}
	if y.deleting {
		if y.fault == "apply while being deleted" {
			return y.operate(ctx, "Apply")
		}
		if !y.deletes {
			y.token = ""
		}
		if y.token == "" {
			if y.counts["DeleteCheck"] > 0 {
				if stop, _ := y.look(ctx, ""); stop != 0 {
					return stop
				}
			}
			if stop := y.checks("DeleteCheck"); stop != 0 {
				return stop
			}
		}
		y.deletes = true
		if y.fault == "gone without delete" {
			return flow.StateGone
		}
		if stop := y.operate(ctx, "Delete"); stop != 0 {
			return stop
		}
		return flow.StateGone
	}
	if y.fault == "a new spec does not wait" && y.generation != y.world.generation {
		y.token = ""
	}
	if y.token != "" {
		if y.fault == "owner check while polling" {
			if stop := y.checks("OwnerCheck"); stop != 0 {
				return stop
			}
		}
		if stop := y.operate(ctx, "Apply"); stop != 0 {
			return stop
		}
		if y.generation == y.world.generation {
			return y.applied(ctx)
		}
	}
	first, second := "OwnerCheck", "PreCheck"
	if y.fault == "pre check before owner check" {
		first, second = second, first
	}
	if stop := y.checks(first); stop != 0 {
		return stop
	}
	stop, got := y.look(ctx, "")
	if stop != 0 {
		return stop
	}
	if got != inSync || y.fault == "pre check although in sync" {
		if stop := y.checks(second); stop != 0 {
			return stop
		}
	}
	if got != inSync || y.fault == "apply although in sync" {
		y.generation = y.world.generation
		if stop := y.operate(ctx, "Apply"); stop != 0 {
			return stop
		}
		return y.applied(ctx)
	}
	return y.checks("PostCheck")
}

// applied completes a pass in which Apply is done.
func (y *toy) applied(ctx context.Context) flow.State {
	if y.counts["PostCheck"] > 0 && y.fault != "no get after apply" {
		stop, got := y.look(ctx, " again")
		if stop != 0 {
			return stop
		}
		if got == absent && y.fault != "absent after apply is ready" {
			return flow.StateBlocked
		}
	}
	return y.checks("PostCheck")
}

// look calls Get. again is the end of the names of its events.
func (y *toy) look(ctx context.Context, again string) (stop flow.State, got act) {
	if ctx.Err() != nil {
		return flow.StateCanceled, got
	}
	a := y.world.get
	if again != "" {
		a = y.world.again
	}
	stop = y.around("Get"+again, func() flow.State {
		if got = y.does("get"+again, -1, a); got == fail {
			return flow.StateFailed
		}
		return 0
	})
	return stop, got
}

// try turns a panic into a failure.
func (y *toy) try(f func() flow.State) (stop flow.State) {
	defer func() {
		if recover() != nil {
			stop = flow.StateFailed
		}
	}()
	return f()
}

func (y *toy) checks(point string) flow.State {
	for n := range y.counts[point] {
		a := act(panics)
		y.try(func() flow.State { a = y.link(point, n); return 0 })
		switch {
		case a == passOn, a == cancels, a == skip && y.fault == "skip is ignored":
		case a == zero && y.fault == "a zero result proceeds", a == forget && y.fault == "forgotten next proceeds":
		case a == panics && y.fault == "a panic proceeds":
		case a == block && (y.fault == "proceed after a block" || point == "PostCheck" && y.fault == "ignore a blocked post check"):
		case a == skip && y.fault == "skip stops the pass":
			return flow.StateBlocked
		case a == skip:
			return 0
		case a == block:
			return flow.StateBlocked
		case a == ignore && (point != "PostCheck" || y.fault == "ignored after apply"):
			return flow.StateIgnored
		case a == finish && (!y.deleting || y.fault == "finished while being deleted"):
			return flow.StateFinished
		case a == release && (y.deleting || y.fault == "released without a deletion"):
			return flow.StateGone
		default:
			return flow.StateFailed
		}
	}
	return 0
}

// around runs the links of a point around an operation.
func (y *toy) around(point string, inner func() flow.State) flow.State {
	call := inner
	for n := y.counts[strings.TrimSuffix(point, " again")] - 1; n >= 0; n-- {
		next := call
		call = func() flow.State {
			a := y.link(point, n)
			if a == fail {
				return flow.StateFailed
			}
			stop := next()
			if a == after && stop != flow.StateFailed && stop != flow.StateCanceled {
				return flow.StateFailed
			}
			return stop
		}
	}
	return y.try(call)
}

func (y *toy) operate(ctx context.Context, point string) flow.State {
	if ctx.Err() != nil {
		return flow.StateCanceled
	}
	before := y.token
	stop := y.around(point, func() flow.State {
		p, err := y.operation(strings.ToLower(point), y.token)
		switch {
		case p.Token() != "":
			y.token = p.Token()
		case err == errTerminal && y.fault == "a refused operation is polled":
		case err == errTerminal, p.IsDone(), err != nil && y.fault == "offline drops the token":
			y.token = ""
		}
		if y.fault == "forget the token" {
			y.token = ""
		}
		switch {
		case err != nil && y.fault == "a failed apply is ready":
			return 0
		case err != nil, p.Token() == "" && !p.IsDone():
			return flow.StateFailed
		case p.IsDone():
			return 0
		}
		return flow.StateInProgress
	})
	if stop == flow.StateFailed && y.fault == "a failing link drops the token" && before == "" {
		y.token = ""
	}
	return stop
}
