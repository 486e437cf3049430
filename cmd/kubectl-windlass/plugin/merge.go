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

// merge returns the graph of the objects of all replies, and of more objects. A
// reconciler's view of its own object counts more than the view of another
// program.
func merge(replies []reply, more []why.Object) *why.Graph {
	all := slices.Clone(more)
	for _, r := range replies {
		all = append(all, r.doc.Objects...)
	}
	rank := func(o why.Object) int {
		switch {
		case o.Reconciler != "":
			return 2
		case o.State != "" && o.State != why.Unknown:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b why.Object) int { return rank(a) - rank(b) }) // the last one counts
	return why.New(all)
}

// complete corrects the numbers of d, a document of the merged graph g: the
// documents of the replies name only a part of the waiters that they count.
func complete(d *why.Document, g *why.Graph, replies []reply) {
	type source struct {
		from  string
		cause checks.Ref
	}
	counts, since, seen := map[checks.Ref]int{}, map[checks.Ref]time.Time{}, map[source]bool{}
	listed := map[string]bool{}
	for _, r := range replies {
		for _, c := range r.doc.Causes {
			if len(c.Objects) == 0 || seen[source{r.from, id(c.Objects[0])}] {
				continue
			}
			seen[source{r.from, id(c.Objects[0])}] = true
			root := c
			if merged, ok := g.Cause(c.Objects[0]); ok {
				root = merged
			}
			key := id(root.Objects[0])
			counts[key] += c.Waiters
			since[key] = earlier(since[key], c.Since)
		}
		if !listed[r.from] { // the first document of an endpoint is the one that was asked for
			listed[r.from] = true
			d.OmittedCauses += r.doc.OmittedCauses
			d.OmittedObjects += r.doc.OmittedObjects
			d.Waiting += max(0, r.doc.Waiting-waiting(r.doc.Objects))
		}
	}
	for i := range d.Causes {
		c := &d.Causes[i]
		c.Waiters = max(c.Waiters, counts[id(c.Objects[0])])
		c.Since = earlier(c.Since, since[id(c.Objects[0])])
	}
}

// waiting returns the number of objects that are not ready.
func waiting(objects []why.Object) (n int) {
	for _, o := range objects {
		if o.State != why.Ready {
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

// The bounds of questions about objects that another manager may reconcile.
const (
	maxRounds = 5
	maxAsked  = 20
)

// askAbout asks all endpoints about an object. An object at the end of an answer
// may belong to another manager, so the endpoints are asked about it, too.
func (c *command) askAbout(ctx context.Context, all []endpoint, ref checks.Ref) []reply {
	replies, _ := c.ask(ctx, all, ref)
	asked := map[checks.Ref]bool{id(ref): true}
	for round := 0; round < maxRounds && len(all) > 1 && len(replies) > 0; round++ {
		reconciled := map[checks.Ref]bool{}
		var others []checks.Ref
		for _, r := range replies {
			for _, o := range r.doc.Objects {
				reconciled[id(o.Ref)] = reconciled[id(o.Ref)] || o.Reconciler != ""
				if o.State != why.Ready && o.State != why.Missing && o.Ref.Name != "" && o.Ref.Kind != "" {
					others = append(others, id(o.Ref))
				}
			}
		}
		found := false
		for _, o := range others {
			if asked[o] || reconciled[o] || len(asked) > maxAsked {
				continue
			}
			asked[o] = true
			more, _ := c.ask(ctx, all, o)
			replies, found = append(replies, more...), found || len(more) > 0
		}
		if !found {
			break
		}
	}
	return replies
}
