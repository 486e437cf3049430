package ctrlx

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/ctrlx/internal/view"
	"github.com/windlass-go/windlass/flow"
)

// WithUnfollowedKinds names kinds whose objects a resource does not follow, even
// if a check does ([checks.OwnerRequest.Follow]): their changes cause no pass of a Ready
// resource. Name a kind here if its objects change often, and Apply does not
// depend on the changes. An empty kind, "*", and a call without kinds panic.
func WithUnfollowedKinds(kinds ...schema.GroupKind) Option {
	kinds = mustNameKinds("WithUnfollowedKinds", "", kinds)
	return option(func(o *options) { o.unfollowed = append(o.unfollowed, kinds...) })
}

// seenAs returns what the engine needs to know of an object or a set that the
// object of the pass follows: the ref under which the pass has read it, and the
// state that it has read.
func (p *pass) seenAs(ref checks.Ref) engine.Followed {
	p.mu.Lock()
	defer p.mu.Unlock()
	ref.ID = ""
	if i := p.indexOf(ref); i >= 0 && !p.seen[i].Self {
		obj, _ := p.seen[i].Value.(client.Object)
		return engine.Followed{Ref: ref, Read: true, Object: obj}
	}
	for i := range p.sets {
		if s := &p.sets[i]; s.ref == ref || ref.Set == "" && s.has(ref) {
			return engine.Followed{Ref: s.ref, Read: true, Number: s.number}
		}
	}
	return engine.Followed{Ref: ref}
}

// following returns what the object of a pass follows after it: the refs of its
// checks and of its operations.
func (p *pass) following(out flow.Outcome) []checks.Ref {
	refs := out.Following()
	if s := out.State(); s != flow.StateGone && s != flow.StateIgnored {
		refs = append(refs, p.ofOperations(out)...)
	}
	return refs
}

// ofOperations returns what the operations follow after the pass. An Apply that
// began and did not fail replaces what the operations followed before. Any other
// pass adds to that: a pass that finds the cloud in sync does not call Apply.
func (p *pass) ofOperations(out flow.Outcome) []checks.Ref {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.kept
	if p.began && out.State() != flow.StateFailed && !slices.Equal(all, p.follows) {
		all = nil
	}
	return union(all, p.follows)
}

// checksFollow reports whether the checks follow all that the operations follow. Then the pass has read it before Get.
func (p *pass) checksFollow(out flow.Outcome) bool {
	ofChecks := p.followed(out.Following())
	return !slices.ContainsFunc(p.followed(p.ofOperations(out)), func(f engine.Followed) bool {
		return !slices.ContainsFunc(ofChecks, func(c engine.Followed) bool { return c.Ref == f.Ref })
	})
}

// union returns a with the refs of b that it lacks. It does not change a.
func union(a, b []checks.Ref) []checks.Ref {
	if len(b) == 0 || slices.Equal(a, b) { // as in most passes
		return a
	}
	has := make(map[checks.Ref]bool, len(a))
	for _, ref := range a {
		has[ref] = true
	}
	a = slices.Clip(a)
	for _, ref := range b {
		if !has[ref] {
			a, has[ref] = append(a, ref), true
		}
	}
	return a
}

// followed returns what the engine needs to know of the followed refs: all of them
// without the kinds of [WithUnfollowedKinds]. It may name an object twice.
func (p *pass) followed(refs []checks.Ref) []engine.Followed {
	all := make([]engine.Followed, 0, len(refs))
	for _, ref := range refs {
		if ref.Kind != "" && !slices.Contains(p.of.opt.unfollowed, engine.KindOf(ref)) {
			all = append(all, p.seenAs(p.engine.Resolved(p, ref)))
		}
	}
	return all
}

// missed returns a followed object that has changed since the operation under
// way began; the zero Ref: none has. A change then causes a pass that polls the
// operation, and nothing else. The operation began from the earlier state. An object that was not read
// before the operation, or cannot be read now, has not changed as far as the pass
// knows: else each operation would cause the next one.
func (p *pass) missed(out flow.Outcome) (missed checks.Ref) {
	if !p.polled || p.from == nil || out.State() != flow.StateReady && out.State() != flow.StateBlocked {
		return checks.Ref{}
	}
	for _, f := range p.followed(p.following(out)) {
		if f.Ref != p.engine.Waiter { // its operation has changed it
			d, err := p.readAgain(p, f.Ref)
			if was := record.DigestIn(p.from.Read, f.Ref); err == nil && was != "" && was != d {
				missed = f.Ref
			}
		}
	}
	return missed
}

// follow remembers what operations follow beyond the pass.
func (r *core) follow(p *pass, out flow.Outcome) {
	if follows := p.ofOperations(out); !slices.Equal(follows, p.kept) {
		r.memory.Change(client.ObjectKeyFromObject(p.read), func(e *memory.Entry) { e.Follows = follows })
	}
}

// readBefore reads what the object of a pass depended on before the start of this
// process, before the pass calls Get. A pass that finds the cloud in sync calls no
// check of PreCheck, and follows what these checks follow. Without this reading,
// the object would need another pass.
func (p *pass) readBefore(ctx context.Context, last record.Success) {
	for _, s := range last.Read {
		_, _ = p.readAgain(ctx, s.Ref) // the checks report the error
	}
}

// readFollowed reads the objects and sets that the checks follow and none has read.
// It runs before Get and before Apply, which may read them by other means: a
// stored success must not have a later state than Apply has used.
func (p *pass) readFollowed(ctx context.Context, refs []checks.Ref) {
	for _, f := range p.followed(refs) {
		if !f.Read {
			_, _ = p.readAgain(ctx, f.Ref) // an object that cannot be read is in no stored success
		}
	}
}

// readAgain reads an object or lists a set, and returns its digest for a basis.
func (p *pass) readAgain(ctx context.Context, ref checks.Ref) (string, error) {
	if q, ok := ref.Query(); ok {
		s, err := p.list(ctx, q)
		return p.of.digestOfSet(s), err
	}
	obj, err := p.find(ctx, ref, view.Wanted{})
	return p.of.digestOfRead(obj), err
}

// end ends a pass, and registers the awaited and the followed objects of its
// outcome. An object that waits for a change of itself is no cycle: another writer
// may change it.
//
// applies reports that the pass applies again what the checks at PostCheck blocked.
// If the object is then in a cycle, it keeps its waits and its verdict. Otherwise
// the change of the verdict would wake the other objects of the cycle, whose
// changes would wake this one, and without a Get each such pass sends a PUT.
func (p *pass) end(out flow.Outcome, applies bool) {
	if out.Final() { // nothing may wake it
		p.engine.Done()
		return
	}
	if applies {
		if cycle := p.engine.Cycle(); len(cycle) > 0 {
			p.circles, p.Cycle = true, cycle
			return
		}
	}
	refs := out.WaitingFor()
	for i, ref := range refs { // the set is registered, and not an object that the pass has read as its member only
		refs[i] = p.seenAs(ref).Ref
	}
	p.Waiting = p.engine.End(p, engine.End{Awaited: refs, Followed: p.followed(p.following(out)), Seen: p})
	p.onSelf = p.Self || out.WaitsForSelf()
	p.watched = p.Woken || p.onSelf && len(refs) == 0
}

// appliesAgain reports whether a pass has an operation under way for the generation
// that the checks at PostCheck blocked in the pass before.
func (r *core) appliesAgain(p *pass, out flow.Outcome) bool {
	if out.State() != flow.StateInProgress || p.last.State != flow.StateBlocked || p.last.Point != flow.PointPostCheck {
		return false
	}
	ready := r.writers.ReadyBefore(p.read)
	return ready != nil && ready.ObservedGeneration == p.read.GetGeneration()
}
