package flow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/flow"
)

// model is the flow on one page. It calls the links and the operations of a
// world as the flow must call them.
type model struct {
	*world
	counts     map[string]int
	token      string // of the operation under way
	generation int64  // of the spec that it applies
	deletes    bool
	skipped    bool // a link left out the operation of this pass
	checked    bool // GetCheck has run in this pass
}

func theModel(w *world, counts map[string]int, _ bool) func(context.Context) result {
	return (&model{world: w, counts: counts}).pass
}

// stop is the end of a pass. The zero stop means that the pass proceeds.
type stop struct {
	state flow.State
	point string
}

func failedAt(point string) stop { return stop{flow.StateFailed, strings.TrimSuffix(point, " again")} }

func (m *model) pass(ctx context.Context) result {
	s := m.around("Pass", func() stop { return m.run(ctx) })
	switch s.state {
	case flow.StateUnknown:
		return result{flow.StateReady, "", true}
	case flow.StateGone, flow.StateCanceled, flow.StateIgnored, flow.StateFinished:
		return result{s.state, s.point, false}
	}
	return result{s.state, s.point, true}
}

func (m *model) run(ctx context.Context) stop {
	m.checked = false
	if s := m.check("EntryCheck"); s.state != 0 {
		return s
	}
	if s := m.try("Owner", func() stop {
		if m.does("Owner", -1, m.owner) == fail {
			return failedAt("Owner")
		}
		return stop{}
	}); s.state != 0 {
		return s
	}
	if m.deleting {
		return m.remove(ctx)
	}
	if m.token != "" { // the operation of an earlier pass
		if s := m.operate(ctx, "Apply"); s.state != 0 {
			return s
		}
		if m.generation == m.world.generation {
			return m.applied(ctx)
		}
	}
	if s := m.check("OwnerCheck"); s.state != 0 {
		return s
	}
	if s := m.check("GetCheck"); s.state != 0 {
		return s
	}
	m.checked = true
	s, got := m.look(ctx, "Get")
	if s.state != 0 {
		return s
	}
	if got == inSync {
		return m.check("PostCheck")
	}
	if s := m.check("PreCheck"); s.state != 0 {
		return s
	}
	m.generation = m.world.generation
	if s := m.operate(ctx, "Apply"); s.state != 0 {
		return s
	}
	return m.applied(ctx)
}

// applied completes a pass in which Apply is done.
func (m *model) applied(ctx context.Context) stop {
	if m.counts["PostCheck"] > 0 {
		if !m.checked { // a poll left it out
			if s := m.check("GetCheck"); s.state != 0 {
				return s
			}
		}
		s, got := m.look(ctx, "Get again")
		if s.state != 0 {
			return s
		}
		if got == absent && !m.skipped {
			return stop{flow.StateBlocked, "PostCheck"}
		}
	}
	return m.check("PostCheck")
}

func (m *model) remove(ctx context.Context) stop {
	if !m.deletes { // a deletion does not wait for Apply
		m.token = ""
	}
	if m.token == "" {
		m.check("GetCheck") // only for its slots
		if m.counts["DeleteCheck"] > 0 {
			if s, _ := m.look(ctx, "Get"); s.state != 0 {
				return s
			}
		}
		if s := m.check("DeleteCheck"); s.state != 0 {
			return s
		}
	}
	m.deletes = true
	if s := m.operate(ctx, "Delete"); s.state != 0 {
		return s
	}
	return stop{flow.StateGone, ""}
}

// look calls Get. point is "Get" or "Get again".
func (m *model) look(ctx context.Context, point string) (s stop, got act) {
	if ctx.Err() != nil {
		return stop{flow.StateCanceled, "Get"}, got
	}
	a := m.get
	if point == "Get again" {
		a = m.again
	}
	s = m.around(point, func() stop {
		if got = m.does(strings.ToLower(point), -1, a); got == fail {
			return failedAt(point)
		}
		return stop{}
	})
	return s, got
}

// operate starts or polls Apply or Delete.
func (m *model) operate(ctx context.Context, point string) stop {
	if ctx.Err() != nil {
		return stop{flow.StateCanceled, point}
	}
	m.skipped = false
	return m.around(point, func() stop {
		p, err := m.operation(strings.ToLower(point), m.token)
		switch {
		case p.Token() != "":
			m.token = p.Token()
		case err == errTerminal, err == nil && p.IsDone():
			m.token = ""
		}
		switch {
		case err != nil, p.Token() == "" && !p.IsDone():
			return failedAt(point)
		case p.IsDone():
			return stop{}
		case m.deleting:
			return stop{flow.StateDeleting, point}
		}
		return stop{flow.StateInProgress, point}
	})
}

// check runs the links of a point of checks.
func (m *model) check(point string) stop {
	for n := range m.counts[point] {
		a := act(panics)
		m.try(point, func() stop { a = m.link(point, n); return stop{} })
		switch {
		case a == passOn, a == cancels:
		case a == skip:
			return stop{}
		case a == block:
			return stop{flow.StateBlocked, point}
		case a == ignore && point != "PostCheck":
			return stop{flow.StateIgnored, point}
		case a == finish && !m.deleting:
			return stop{flow.StateFinished, point}
		case a == release && m.deleting:
			m.token = ""
			delete(m.running, "delete")
			return stop{flow.StateGone, point}
		default:
			return failedAt(point)
		}
	}
	return stop{}
}

// around runs the links of a point around an operation, or around the pass.
func (m *model) around(point string, inner func() stop) stop {
	call := inner
	for n := m.counts[strings.TrimSuffix(point, " again")] - 1; n >= 0; n-- {
		next := call
		call = func() stop {
			a := m.link(point, n)
			switch {
			case a == fail, a == forget, a == skip && m.token != "":
				return failedAt(point)
			case a == skip:
				m.skipped = true
				return stop{}
			}
			s := next()
			if a == after && (point == "Pass" || s.state != flow.StateFailed) {
				return failedAt(point)
			}
			return s
		}
	}
	return m.try(point, call)
}

// try turns a panic into a failure.
func (m *model) try(point string, f func() stop) (s stop) {
	defer func() {
		if recover() != nil {
			s = failedAt(point)
		}
	}()
	return f()
}

// The flow does what the model does: the same calls in the same order, with the
// same tokens, and the same outcome. Neither of them starts a second operation.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 3 {
			programs, counts, keep := drawRun(t)
			want, got := run(theModel, programs, counts, keep), run(theFlow(), programs, counts, keep)
			if diff := cmp.Diff(want, got, seenComparer); diff != "" {
				t.Fatalf("-model, +flow:\n%s", diff)
			}
			for _, s := range got {
				if s.faults != nil {
					t.Fatalf("%v: %v", s.faults, s.events)
				}
			}
		}
	})
}
