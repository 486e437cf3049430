package index

import "encoding/binary"

// ID names an object of a cluster: a waiter, a ref, or both. It leaves out the
// API version on purpose, because an object is the same in each version.
type ID struct {
	Group, Kind     string
	Namespace, Name string // Namespace is empty for a cluster-scoped object
}

// String returns "Kind.group namespace/name" with the parts that are set, as
// checks.Ref does.
func (id ID) String() string {
	text, kind := id.Name, id.Kind
	if kind != "" && id.Group != "" {
		kind += "." + id.Group
	}
	if id.Namespace != "" {
		text = id.Namespace + "/" + text
	}
	if kind == "" || text == "" {
		return kind + text
	}
	return kind + " " + text
}

// key is an ID as the index stores it: three words instead of eight, and one
// string that the index owns.
type key struct {
	kind *kind
	text string // the length of the namespace, the namespace and the name
}

// kind is shared by all objects of a kind.
type kind struct {
	groupKind
	nodes int // number of nodes of this kind
}

type groupKind struct{ group, kind string }

// appendText appends the text of the key of id.
func appendText(b []byte, id ID) []byte {
	b = binary.AppendUvarint(b, uint64(len(id.Namespace)))
	b = append(b, id.Namespace...)
	return append(b, id.Name...)
}

// id returns the ID of the key. It needs no lock, because keys do not change.
func (k key) id() ID {
	namespace, at := binary.Uvarint([]byte(k.text[:min(len(k.text), binary.MaxVarintLen64)]))
	end := at + int(namespace)
	return ID{Group: k.kind.group, Kind: k.kind.kind, Namespace: k.text[at:end], Name: k.text[end:]}
}
