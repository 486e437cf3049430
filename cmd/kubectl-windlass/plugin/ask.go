package plugin

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
)

// about returns the document about an object. If no endpoint knows the object, its
// conditions are read. If a manager gave no answer, the conditions of the objects that
// no reconciler reported are read: the manager may reconcile them.
func (c *command) about(ctx context.Context, k clients, ref checks.Ref) (why.Document, error) {
	all, whole, err := c.endpoints(ctx, k)
	if err != nil {
		return why.Document{}, err
	}
	replies, alive := c.askAbout(ctx, all, ref)
	g := merge(replies, nil)
	d, ok := g.DocumentOf(ref, c.at(replies), flows(replies)...)
	r := newReader(k)
	if !ok {
		if len(all) > 0 {
			c.note("no manager reports %s", ref)
		}
		if err := r.read(ctx, ref); err != nil {
			return why.Document{}, err
		}
	} else if !whole || len(alive) < len(all) {
		r.queue = foreign(replies)
	}
	if !ok || len(r.queue) > 0 {
		g = merge(replies, c.finish(ctx, r))
		d, _ = g.DocumentOf(ref, c.at(replies), flows(replies)...)
	}
	complete(&d, g, replies)
	c.unseen(replies)
	return d, nil
}

// unseen notes the endpoints whose managers do not know all waits yet, and reports
// whether there are any.
func (c *command) unseen(replies []reply) (found bool) {
	noted := map[string]bool{}
	for _, r := range replies {
		if r.doc.Unseen > 0 && !noted[r.from] {
			found, noted[r.from] = true, true
			c.note("%s does not know the waits of %d objects yet: no pass over them has ended since its start; its log has the errors of passes", r.from, r.doc.Unseen)
		}
	}
	return found
}

// overview returns the document about the objects of a namespace; empty: of all.
// Without the answer of each manager about all of its objects, conditions fill the
// gap. whole reports whether every root cause is known. Conditions never prove
// that: an object may wait and not have reported one yet.
func (c *command) overview(ctx context.Context, k clients, namespace string) (d why.Document, whole bool, err error) {
	all, whole, err := c.endpoints(ctx, k)
	if err != nil {
		return d, false, err
	}
	replies, alive := c.ask(ctx, all, checks.Ref{Namespace: namespace})
	var more []why.Object
	whole = !c.unseen(replies) && whole && len(alive) == len(all) && len(all) > 0
	if !whole {
		if more, _, err = c.listed(ctx, k, namespace); err != nil {
			return d, false, err
		}
	}
	g := merge(replies, more)
	d = g.DocumentIn(namespace, c.at(replies), flows(replies)...)
	for _, r := range replies {
		if r.doc.Namespace != namespace && r.doc.OmittedObjects > 0 {
			whole = false
			c.note("%s is an older release, which does not count the waiters of one namespace; some are left out: use -A", r.from)
		}
	}
	complete(&d, g, replies)
	sortCauses(d.Causes)
	return d, whole, nil
}

// at returns the time of the latest reply, because ages need the clock that the
// manager reads.
func (c *command) at(replies []reply) (at time.Time) {
	for _, r := range replies {
		if r.doc.At.After(at) {
			at = r.doc.At
		}
	}
	if at.IsZero() {
		return c.now()
	}
	return at
}

// listed returns the objects of all kinds that definitions add to the API server,
// by their conditions. whole reports whether all of them could be read.
func (c *command) listed(ctx context.Context, k clients, namespace string) (all []why.Object, whole bool, err error) {
	kinds, partial := k.customKinds()
	if partial != nil {
		c.note("some kinds are left out: %v", partial)
	}
	whole = partial == nil
	r := newReader(k)
	for _, m := range kinds {
		if namespace != metav1.NamespaceAll && m.Scope.Name() == "root" {
			continue
		}
		if err := r.list(ctx, m, namespace); err != nil {
			if ctx.Err() != nil {
				return nil, false, ctx.Err()
			}
			whole = false
			c.note("%s: %v", m.Resource.GroupResource(), err)
		}
	}
	return c.finish(ctx, r), whole, nil
}

// finish returns the objects of r, and says where the answer comes from.
func (c *command) finish(ctx context.Context, r *reader) []why.Object {
	c.note("this answer comes from conditions, owner references and events; a wait that they do not name is not known")
	all := r.finish(ctx)
	if r.skipped > 0 {
		c.note("%d awaited objects were not read, so their state is unknown", r.skipped)
	}
	return all
}
