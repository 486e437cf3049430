package index_test

import (
	"cmp"
	"slices"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

type ID = index.ID

// full is a change that only its full digest describes.
func full(digest uint64) index.Change { return index.Change{Full: digest} }

func object(name string) ID { return ID{Kind: "Object", Name: name} }

func sorted(ids []ID) []ID {
	slices.SortFunc(ids, func(a, b ID) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Set, b.Set))
	})
	return ids
}

// waitFor runs a pass over waiter that ends in a Wait for refs.
func waitFor(x *index.Index, waiter ID, refs ...ID) {
	p := x.Begin(waiter)
	for _, ref := range refs {
		p.Register(ref).Saw(1)
	}
	p.Wait(refs...)
}
