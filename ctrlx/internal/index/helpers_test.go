package index_test

import (
	"cmp"
	"iter"
	"slices"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

type ID = index.ID

// The properties use these interfaces. So they can test the index, a plain
// index, and plain indexes with faults.
type (
	indexer interface {
		begin(waiter ID) passer
		Changed(ref ID, c index.Change)
		Needs(ref ID) (full, follow bool)
		Forget(waiter ID)
		Waiters(ref ID) int
		Refs() iter.Seq2[ID, int]
		Cycle(waiter ID, members func(set ID) []ID) []ID
	}
	passer interface {
		register(ref ID) (saw func(digest uint64))
		Wait(refs ...ID)
		End(e index.End)
		Done()
	}
	maker func(wake func(ID)) indexer
)

type realIndex struct{ *index.Index }
type realPass struct{ *index.Pass }

// windlass makes the index under test. Changed and Refs release its lock after
// batch edges or nodes.
func windlass(batch int) maker {
	return func(wake func(ID)) indexer {
		x := index.New(wake, nil)
		x.SetBatch(batch)
		return realIndex{x}
	}
}

func (x realIndex) begin(waiter ID) passer {
	p := x.Begin(waiter)
	return realPass{&p}
}

func (p realPass) register(ref ID) func(uint64) { return p.Register(ref).Saw }

// full is a change that only its full digest describes.
func full(digest uint64) index.Change { return index.Change{Full: digest} }

func object(name string) ID { return ID{Kind: "Object", Name: name} }

func sorted(ids []ID) []ID {
	slices.SortFunc(ids, func(a, b ID) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Set, b.Set))
	})
	return ids
}
