package flowtest

import (
	"fmt"

	"github.com/windlass-go/windlass/flow"
)

// invariant is a rule for each run of a correct flow, with any script. broken
// describes how a pass breaks the rule, or returns "".
type invariant struct {
	name   string
	broken func(p *Pass, r *record, again bool) string
}

// invariants are listed in doc.go.
var invariants = []invariant{
	{"a blocked pass begins no operation", func(p *Pass, r *record, _ bool) string {
		stopped := p.State == flow.StateBlocked || p.State == flow.StateIgnored || p.State == flow.StateFinished
		if !stopped || p.Point == flow.PointPostCheck || p.Point == flow.PointApply {
			return ""
		}
		for _, op := range r.operations {
			if op.token == "" {
				return fmt.Sprintf("%s began in a pass that was %s at %s", op.point, p.State, p.Point)
			}
		}
		return ""
	}},
	{"a pass with Get in sync begins no Apply", func(_ *Pass, r *record, _ bool) string {
		for _, op := range r.operations {
			if op.point == flow.PointApply && op.token == "" && op.inSync {
				return "Apply began although Get reported InSync in the same pass"
			}
		}
		return ""
	}},
	{"a resource that is being deleted is neither applied nor ready", func(p *Pass, r *record, _ bool) string {
		if !r.deleting {
			return ""
		}
		for _, op := range r.operations {
			if op.point == flow.PointApply {
				return "Apply was called"
			}
		}
		if p.State == flow.StateReady {
			return "it is ready"
		}
		return ""
	}},
	{"an outcome agrees with the requests", func(p *Pass, r *record, _ bool) string {
		switch {
		case p.State == flow.StateReady && r.apply == uncalled && !r.inSync:
			return "it is ready, but Apply was not called and Get did not report InSync"
		case p.State == flow.StateReady && r.apply != uncalled && r.apply != done:
			return "it is ready, but Apply was not done"
		case p.State == flow.StateFinished && p.Point == flow.PointApply && r.apply != done:
			return "it is finished, but Apply was not done"
		case p.State == flow.StateGone && p.Point == "" && r.remove != done: // a released resource has a point
			return "it is gone, but Delete was not done"
		case p.State == flow.StateInProgress && r.apply != underWay:
			return "it is in progress, but Apply did not report an operation under way"
		case p.State == flow.StateDeleting && r.remove != underWay:
			return "it is deleting, but Delete did not report an operation under way"
		}
		return ""
	}},
	{"a resource that no object can wake follows nothing", func(p *Pass, _ *record, _ bool) string {
		ends := p.State == flow.StateGone || p.State == flow.StateIgnored || p.State == flow.StateCanceled || p.Final
		if ends && len(p.Following) > 0 {
			return fmt.Sprintf("it is %s, and it follows %s", p.State, p.Following[0])
		}
		return ""
	}},
	{"a requeue has a positive delay", func(p *Pass, _ *record, again bool) string {
		if again && p.Again <= 0 {
			return fmt.Sprintf("the delay is %s", p.Again)
		}
		return ""
	}},
}

// oneOperation is the name of an invariant that needs the records of several
// passes.
const oneOperation = "one operation at a time"

// operations has the token of the operation under way, by point.
type operations map[string]string

// follow adds the record of a pass. It describes how the pass breaks the
// invariant, or returns "".
func (o operations) follow(r *record) (broken string) {
	if r.deleting {
		delete(o, flow.PointApply) // a deletion makes the Apply irrelevant
	} else {
		delete(o, flow.PointDelete) // the test canceled the deletion
	}
	for _, op := range r.operations {
		if token := o[op.point]; token != op.token && token != "" && broken == "" {
			broken = fmt.Sprintf("%s was called with the token %q while the operation %q is under way", op.point, op.token, token)
		}
		o[op.point] = op.nextToken
	}
	return broken
}
