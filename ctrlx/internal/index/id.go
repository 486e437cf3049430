package index

import (
	"encoding/binary"

	"github.com/windlass-go/windlass/checks"
)

// ID names an object of a cluster, or a set of objects: a waiter, a ref, or
// both. It has a namespace unless the object has none, and no ID in the cloud.
type ID = checks.Ref

// key is an ID as the index stores it: three words instead of ten, and one
// string that the index owns.
type key struct {
	kind *kind
	text string // see appendText
}

// kind is shared by all objects of a kind.
type kind struct {
	groupKind
	nodes int // number of nodes of this kind
}

type groupKind struct{ group, kind string }

// appendText appends the text of the key of id: the namespace after its length,
// and the name. The lowest bit of the first number is 1 for a set. Then the name
// has its length before it, and the text of the set follows.
func appendText(b []byte, id ID) []byte {
	b = binary.AppendUvarint(b, uint64(len(id.Namespace))<<1|flag(id.Set != ""))
	b = append(b, id.Namespace...)
	if id.Set != "" {
		b = binary.AppendUvarint(b, uint64(len(id.Name)))
	}
	return append(append(b, id.Name...), id.Set...)
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// id returns the ID of the key. It needs no lock, because keys do not change.
func (k key) id() ID {
	n, text := number(k.text)
	id := ID{Group: k.kind.group, Kind: k.kind.kind, Namespace: text[:n>>1], Name: text[n>>1:]}
	if n&1 == 1 {
		n, text = number(id.Name)
		id.Name, id.Set = text[:n], text[n:]
	}
	return id
}

// isSet reports whether the key names a set.
func (k key) isSet() bool { return k.text[0]&1 == 1 }

// number returns the number at the start of a text, and the text after it.
func number(text string) (n uint64, rest string) {
	n, at := binary.Uvarint([]byte(text[:min(len(text), binary.MaxVarintLen64)]))
	return n, text[at:]
}
