package index

import "encoding/binary"

// ID names an object of a cluster, whether it waits or is waited for. The version of its API is left out on purpose: an
// object is the same in each.
type ID struct {
	Group, Kind     string
	Namespace, Name string // Namespace is empty for what is in none
}

// String is "Kind namespace/name" with the parts that are set.
func (id ID) String() string {
	text := id.Name
	if id.Namespace != "" {
		text = id.Namespace + "/" + text
	}
	if id.Kind == "" || text == "" {
		return id.Kind + text
	}
	return id.Kind + " " + text
}

// key is an ID in the memory of the index: three words instead of eight, and one string of its own.
type key struct {
	kind *kind
	text string // the length of the namespace, the namespace and the name
}

// kind is shared by all objects of a kind.
type kind struct {
	groupKind
	nodes int // that have it
}

type groupKind struct{ group, kind string }

// appendText appends the text of the key of id.
func appendText(b []byte, id ID) []byte {
	b = binary.AppendUvarint(b, uint64(len(id.Namespace)))
	b = append(b, id.Namespace...)
	return append(b, id.Name...)
}

// id gives it back. It needs no lock, as keys do not change.
func (k key) id() ID {
	namespace, at := binary.Uvarint([]byte(k.text[:min(len(k.text), binary.MaxVarintLen64)]))
	end := at + int(namespace)
	return ID{Group: k.kind.group, Kind: k.kind.kind, Namespace: k.text[at:end], Name: k.text[end:]}
}
