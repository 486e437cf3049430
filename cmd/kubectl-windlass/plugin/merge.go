package plugin

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
)

// id returns the ref by which a graph finds an object.
func id(ref checks.Ref) checks.Ref {
	if ref.Name != "" {
		ref.ID = ""
	}
	return ref
}

// merge returns the graph of the objects of all replies, and of more objects.
func merge(replies []reply, more []why.Object) *why.Graph { return why.New(ranked(replies, more)) }

// ranked returns all objects; of several views of one object the last one counts.
// A reconciler's view of its own object counts more than the view of another
// program, which does not know the waits of the object.
func ranked(replies []reply, more []why.Object) (all []why.Object) {
	for _, r := range replies {
		all = append(all, r.doc.Objects...)
	}
	all = append(all, more...)
	rank := func(o why.Object) int {
		switch {
		case o.Reconciler != "":
			return 2
		case o.State != "" && o.State != why.Unknown:
			return 1
		}
		return 0
	}
	all = slices.DeleteFunc(all, func(o why.Object) bool { return o.Ref == checks.Ref{} })
	slices.SortStableFunc(all, func(a, b why.Object) int { return rank(a) - rank(b) })
	return all
}

// complete corrects the numbers of d, a document of the merged graph g: a reply
// names only some of the waiters that it counts, and only some root causes. A
// reply about other namespaces counts nothing.
func complete(d *why.Document, g *why.Graph, replies []reply) {
	at := map[checks.Ref]int{} // the index of a root cause in d
	for i := range d.Causes {
		at[id(d.Causes[i].Objects[0])] = i
	}
	counts := make([]int, len(d.Causes))
	type source struct {
		from  string
		cause checks.Ref
	}
	seen := map[source]bool{}
	for _, r := range replies {
		if r.doc.Namespace != d.Namespace {
			continue
		}
		first := source{from: r.from} // the first document of an endpoint is the one that was asked for
		if !seen[first] {
			seen[first] = true
			d.Unseen += r.doc.Unseen
			d.OmittedCauses += r.doc.OmittedCauses
			d.OmittedObjects += r.doc.OmittedObjects
			d.Waiting += max(0, r.doc.Waiting-waiting(r.doc))
		}
		for _, c := range r.doc.Causes {
			if len(c.Objects) == 0 || seen[source{r.from, id(c.Objects[0])}] {
				continue
			}
			seen[source{r.from, id(c.Objects[0])}] = true
			root := c
			if merged, ok := g.Cause(c.Objects[0]); ok {
				root = merged
			}
			i, ok := at[id(root.Objects[0])]
			if !ok {
				i = len(d.Causes)
				at[id(root.Objects[0])] = i
				root.Waiters = 0
				d.Causes, counts = append(d.Causes, root), append(counts, 0)
			}
			counts[i] += c.Waiters
			d.Causes[i].Waiters = max(d.Causes[i].Waiters, counts[i])
			d.Causes[i].Since = earlier(d.Causes[i].Since, c.Since)
		}
	}
}

// waiting returns the number of objects in a document that it counts as waiting.
func waiting(d why.Document) (n int) {
	for _, o := range d.Objects {
		if o.State != why.Ready && (d.Namespace == "" || o.Ref.Namespace == d.Namespace) {
			n++
		}
	}
	return n
}

// earlier returns the earlier time. A zero time is unknown.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// sortCauses sorts causes from the oldest to the newest; those of unknown age
// come last.
func sortCauses(causes []why.Cause) {
	slices.SortStableFunc(causes, func(a, b why.Cause) int {
		if a.Since.IsZero() != b.Since.IsZero() {
			return b.Since.Compare(a.Since) // zero is the earliest time
		}
		return cmp.Or(a.Since.Compare(b.Since), b.Waiters-a.Waiters)
	})
}

// flows returns the flows of all replies, each once.
func flows(replies []reply) (all []why.Flow) {
	for _, r := range replies {
		for _, f := range r.doc.Flows {
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	return all
}

// maxAsked is the number of objects about which the managers are asked.
const maxAsked = 20

// askAbout asks all endpoints about an object. An object at the end of an answer
// may belong to another manager, so the endpoints are asked about it, too. An
// endpoint that gave no answer costs a time-out, so it is not asked again. alive are
// the endpoints that answered each question.
func (c *command) askAbout(ctx context.Context, all []endpoint, ref checks.Ref) (replies []reply, alive []endpoint) {
	alive, asked := all, map[checks.Ref]bool{}
	for ends := []checks.Ref{id(ref)}; len(ends) > 0; ends = foreign(replies) {
		before := len(asked)
		for _, ref := range ends {
			if asked[ref] || len(asked) == maxAsked {
				continue
			}
			asked[ref] = true
			var more []reply
			more, alive = c.ask(ctx, alive, ref)
			replies = append(replies, more...)
		}
		if len(alive) < 2 || len(asked) == before {
			break
		}
	}
	return replies, alive
}

// foreign returns the objects that no reconciler of the replies reconciles.
func foreign(replies []reply) (refs []checks.Ref) {
	all, own := ranked(replies, nil), map[checks.Ref]bool{}
	for _, o := range all {
		own[id(o.Ref)] = o.Reconciler != ""
	}
	for _, o := range all {
		if !own[id(o.Ref)] && o.State != why.Ready && o.State != why.Missing && o.Ref.Name != "" && o.Ref.Kind != "" {
			refs = append(refs, id(o.Ref))
		}
	}
	return refs
}
