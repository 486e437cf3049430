package ctrlx

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/flow"
)

// WithUnfollowedKinds names kinds whose objects a resource does not follow, even
// if a check does ([checks.Follow]): their changes cause no pass of a Ready
// resource. Name a kind here if its objects change often, and Apply does not
// depend on the changes. An empty kind, "*", and a call without kinds panic.
func WithUnfollowedKinds(kinds ...schema.GroupKind) Option {
	mustNameKinds("WithUnfollowedKinds", kinds)
	for _, gk := range kinds {
		if gk.Group == "*" || gk.Kind == "*" {
			panic(fmt.Sprintf("ctrlx: WithUnfollowedKinds: %q: give the name of a kind", gk))
		}
	}
	kinds = slices.Clone(kinds)
	return func(o *options) { o.unfollowed = append(o.unfollowed, kinds...) }
}

func kindOf(ref checks.Ref) schema.GroupKind {
	return schema.GroupKind{Group: ref.Group, Kind: ref.Kind}
}

// seenSet is a set as a pass listed it.
type seenSet struct {
	ref     checks.Ref
	number  uint64 // of its last change that wakes followers
	names   bool   // only the names were listed
	objects []checks.Object
}

// sawSet notes a set as the pass listed it. If the pass lists it again, the
// first list stays.
func (p *pass) sawSet(s seenSet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.ContainsFunc(p.sets, func(o seenSet) bool { return o.ref == s.ref }) {
		p.sets = append(p.sets, s)
	}
}

// asRead returns refs, with a set in place of each object that the pass has read
// as a member of the set only. The set is registered, and the object is not.
func (p *pass) asRead(refs []checks.Ref) []checks.Ref {
	if len(p.sets) == 0 {
		return refs
	}
	refs = slices.Clone(refs)
	for i := range refs {
		refs[i] = p.registered(refs[i])
	}
	return refs
}

// registered returns the ref under which the pass has read an object.
func (p *pass) registered(ref checks.Ref) checks.Ref {
	ref.ID = ""
	if p.read1(ref) >= 0 {
		return ref
	}
	for _, s := range p.sets {
		if !s.names && slices.ContainsFunc(s.objects, func(o checks.Object) bool { return o.Ref == ref && !o.Self }) {
			return s.ref
		}
	}
	return ref
}

// read1 returns the index in seen of an object; -1: the pass has not read it.
func (p *pass) read1(ref checks.Ref) int {
	return slices.IndexFunc(p.seen, func(o checks.Object) bool { return o.Ref == ref })
}

// following returns what an object follows after a pass: what its checks follow,
// without the kinds of [WithUnfollowedKinds].
func (p *pass) following(out flow.Outcome) []checks.Ref {
	refs := out.Following()
	all := refs[:0]
	for _, ref := range refs {
		if ref.ID = ""; ref.Kind == "" || slices.Contains(p.unfollowed, kindOf(ref)) {
			continue
		}
		if ref = p.registered(p.engine.Resolved(p, ref)); !slices.Contains(all, ref) {
			all = append(all, ref)
		}
	}
	return all
}

// followed returns what the engine needs to know of the followed objects.
func (p *pass) followed(refs []checks.Ref) []engine.Followed {
	all := make([]engine.Followed, 0, len(refs))
	for _, ref := range refs {
		f := engine.Followed{Ref: ref}
		if i := p.read1(ref); i >= 0 {
			f.Read = true
			f.Object, _ = p.seen[i].Value.(client.Object)
		}
		if i := slices.IndexFunc(p.sets, func(s seenSet) bool { return s.ref == ref }); i >= 0 {
			f.Read, f.Number = true, p.sets[i].number
		}
		all = append(all, f)
	}
	return all
}

// missed reports whether a followed object has changed since the operation under
// way began. A change then causes a pass that polls the operation, and nothing
// else. The operation began from the earlier state. An object that was not read
// before the operation, or cannot be read now, has not changed as far as the pass
// knows: else each operation would cause the next one.
func (p *pass) missed(out flow.Outcome) (missed bool) {
	if !p.polled || p.from == nil || out.State() != flow.StateReady && out.State() != flow.StateBlocked {
		return false
	}
	for _, ref := range p.following(out) {
		d, err := p.readAgain(p, ref)
		missed = missed || err == nil && slices.ContainsFunc(p.from.Read, func(s readObject) bool { return s.ref() == ref && s.Digest != d })
	}
	return missed
}

// reportLoop adds to the condition Ready that a followed object changes again and
// again. It names both objects.
func (p *pass) reportLoop(all []metav1.Condition) {
	c := meta.FindStatusCondition(all, "Ready")
	if !p.looping || c == nil {
		return
	}
	self := p.engine.Waiter()
	note := fmt.Sprintf("%s changes again and again, and each change causes a pass that does not change this verdict: "+
		"passes are delayed by up to 10 minutes; if passes over %s cause the changes, correct that, or give WithoutFollowing",
		p.loop, checks.Ref{Group: self.Group, Kind: self.Kind, Namespace: self.Namespace, Name: self.Name})
	if c.Message != "" {
		note = c.Message + "; " + note
	}
	if len(note) <= maxMessage {
		c.Message = note
	}
}

// maxMessage is the largest length of a message of a condition.
const maxMessage = 32_768

// readBefore reads what the object of a pass depended on before the start of this
// process, before the pass calls Get. A pass that finds the cloud in sync calls no
// check of PreCheck, and follows what these checks follow. Without this reading,
// the object would need another pass.
func (p *pass) readBefore(ctx context.Context, last success) {
	if last.UID != p.read.GetUID() || len(last.Read) > maxBasis {
		return
	}
	for _, s := range last.Read {
		_, _ = p.readAgain(ctx, s.ref()) // the checks report the error
	}
}

// readAgain reads an object or lists a set, and returns its digest for a basis.
func (p *pass) readAgain(ctx context.Context, ref checks.Ref) (string, error) {
	if q, ok := checks.QueryOf(ref); ok {
		s, err := p.list(ctx, q)
		if err != nil {
			return "", err
		}
		return digestOfSet(s), nil
	}
	obj, err := p.find(ctx, ref, wanted{})
	if err != nil {
		return "", err
	}
	return digestOfRead(obj), nil
}
