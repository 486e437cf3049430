package ctrlx

import (
	"slices"

	"github.com/windlass-go/windlass/checks"
)

// once leaves out the message of an object that waits itself: the message of Ready
// names the root cause instead of it. Otherwise each object in a line of waits would
// quote all further ones, and each change of the last message would write all
// statuses.
func (p *pass) once(obj *checks.Object) {
	if obj.Readiness.Message != "" && p.engine.Waits(obj.Ref) {
		obj.Readiness.Message = ""
	}
}

// Object implements engine.Seen.
func (p *pass) Object(ref checks.Ref) *checks.Object {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := p.indexOf(ref); i >= 0 {
		return &p.seen[i].Object
	}
	return nil
}

// Members implements engine.Seen.
func (p *pass) Members(set checks.Ref) (members []checks.Object, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.sets, func(s seenSet) bool { return s.ref == set && !s.names }); i >= 0 {
		return p.sets[i].objects, true
	}
	return nil, false
}

// rootChanged wakes the waiters of an object whose root cause has changed in a pass
// that wrote no status.
func (r *core) rootChanged(p *pass) {
	if p.rootChanged {
		r.engine.RootChanged(p, p.engine.Waiter(), r.kind.New())
	}
}
