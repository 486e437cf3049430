package flowtest

import (
	"fmt"

	"github.com/windlass-go/windlass/flow"
)

// invariant is what holds in each run of a flow that is right, whatever it is scripted to do. broken says how a pass breaks
// it; empty: it does not.
type invariant struct {
	name   string
	broken func(p *Pass, r *record, again bool) string
}

// invariants are listed in doc.go.
var invariants = []invariant{
	{"a blocked pass begins nothing", func(p *Pass, r *record, _ bool) string {
		stopped := p.State == flow.StateBlocked || p.State == flow.StateIgnored || p.State == flow.StateFinished
		if !stopped || p.Point == flow.PointPostCheck || p.Point == flow.PointApply {
			return ""
		}
		for _, op := range r.operations {
			if op.token == "" {
				return fmt.Sprintf("%s was begun in a pass that was %s at %s", op.point, p.State, p.Point)
			}
		}
		return ""
	}},
	{"what is in sync is left alone", func(_ *Pass, r *record, _ bool) string {
		for _, op := range r.operations {
			if op.point == flow.PointApply && op.token == "" && op.inSync {
				return "Apply was begun although Get had just said that the cloud has what the spec says"
			}
		}
		return ""
	}},
	{"what is being deleted is neither applied nor ready", func(p *Pass, r *record, _ bool) string {
		if !r.deleting {
			return ""
		}
		for _, op := range r.operations {
			if op.point == flow.PointApply {
				return "Apply was called although deletion was asked for"
			}
		}
		if p.State == flow.StateReady {
			return "it is ready although deletion was asked for"
		}
		return ""
	}},
	{"an outcome agrees with what was asked", func(p *Pass, r *record, _ bool) string {
		switch {
		case p.State == flow.StateReady && r.apply == uncalled && !r.inSync:
			return "it is ready, and neither was Apply done nor had Get said that the cloud has what the spec says"
		case p.State == flow.StateReady && r.apply != uncalled && r.apply != done:
			return "it is ready, and Apply was not done"
		case p.State == flow.StateFinished && p.Point == flow.PointApply && r.apply != done:
			return "it is finished, and Apply was not done"
		case p.State == flow.StateGone && p.Point == "" && r.remove != done: // with a point it was released
			return "it is gone, and Delete was not done"
		case p.State == flow.StateInProgress && r.apply != underWay:
			return "it is in progress, and Apply did not say so"
		case p.State == flow.StateDeleting && r.remove != underWay:
			return "it is deleting, and Delete did not say so"
		}
		return ""
	}},
	{"what is to come back has a delay", func(p *Pass, _ *record, again bool) string {
		if again && p.Again <= 0 {
			return fmt.Sprintf("the delay is %s", p.Again)
		}
		return ""
	}},
}

// oneOperation is the invariant that there is one operation at a time, which takes more than one pass to see.
const oneOperation = "one operation at a time"

// operations knows which operations go on in the cloud: the token to poll each with, by point.
type operations map[string]string

// follow takes in a pass, and says how it breaks the invariant.
func (o operations) follow(r *record) (broken string) {
	if r.deleting {
		delete(o, flow.PointApply) // what is being applied does not matter any more
	} else {
		delete(o, flow.PointDelete) // the deletion was taken back
	}
	for _, op := range r.operations {
		if token := o[op.point]; token != op.token && token != "" && broken == "" {
			broken = fmt.Sprintf("%s was called with the token %q while the operation %q is under way", op.point, op.token, token)
		}
		o[op.point] = op.goesOn
	}
	return broken
}
