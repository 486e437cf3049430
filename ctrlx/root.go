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
	message := outcome[i].Message
	switch before := meta.FindStatusCondition(was, "Ready"); {
	case p.rootUnknown && before != nil && strings.HasPrefix(before.Message, message+rootPrefix):
		message = before.Message // of the program before a restart
	case p.root != nil && p.root.Text != "" && !p.root.Named(message):
		suffix := rootPrefix + p.root.Text
		message = strings.ToValidUTF8(message[:min(len(message), maxMessage-len(suffix))], "") + suffix
	default:
		return outcome
	}
	outcome = slices.Clone(outcome)
	outcome[i].Message = message
	return outcome
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
