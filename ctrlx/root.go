package ctrlx

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// rootPrefix precedes the root cause at the end of a message.
const rootPrefix = "; root cause: "

// withRoot returns the conditions of an outcome with the root cause of the wait at
// the end of the message of Ready, unless the message names it. was has the
// conditions of the object before the pass. The text has neither the distance to
// the root nor the number of its waiters, so a change of these writes nothing.
func (p *pass) withRoot(outcome []flow.Condition, was []metav1.Condition) []flow.Condition {
	i := slices.IndexFunc(outcome, func(c flow.Condition) bool { return c.Type == "Ready" })
	if i < 0 || p.root == nil && !p.rootUnknown {
		return outcome
	}
	found := outcome[i].Message
	message, rest := found, found
	switch before := meta.FindStatusCondition(was, "Ready"); {
	case p.rootUnknown && before != nil && p.mayHold(before.Message, message):
		message = before.Message // of the program before a restart
		rest, _, _ = strings.Cut(message, rootPrefix)
	case p.root != nil && p.root.Text != "" && !p.root.Named(message):
		suffix := rootPrefix + p.root.Text
		message = strings.ToValidUTF8(message[:min(len(message), maxMessage-len(suffix))], "") + suffix
	default:
		return outcome
	}
	outcome = slices.Clone(outcome)
	for j := range outcome { // the other conditions have the message without the root cause
		if outcome[j].Message == found {
			outcome[j].Message = rest
		}
	}
	outcome[i].Message = message
	return outcome
}

// mayHold reports whether the stored message may be the one that this pass will find once
// the awaited objects have had a pass: it adds a root cause, or it does not quote the
// message of an object that turns out to wait itself.
func (p *pass) mayHold(stored, message string) bool {
	head, _, _ := strings.Cut(stored, rootPrefix)
	return strings.HasPrefix(stored, message+rootPrefix) || strings.HasPrefix(message, head+": ")
}

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
func (r *Reconciler[T]) rootChanged(p *pass) {
	if p.rootChanged {
		r.engine.RootChanged(p, p.engine.Waiter(), r.newObject())
	}
}
