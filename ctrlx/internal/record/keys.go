package record

import (
	"crypto/hmac"
	"crypto/sha256"
	"slices"
)

// Keys signs and accepts operations. The zero Keys signs none, and accepts all.
type Keys struct {
	Keys     [][]byte // the first one signs; none: operations have no signature
	Unsigned bool     // accept operations without a signature although there are keys
}

// Sign signs the operation of r, which began in this process. An operation that was
// decoded keeps its signature: else a new key would change every record.
func (k *Keys) Sign(r *Record) {
	if len(k.Keys) > 0 {
		r.Operation.Signature = r.mac(k.Keys[0])
	}
}

// mac returns the signature of the operation of r by a key. Equal texts have equal
// values, because escape leaves no separator in a value.
func (r *Record) mac(key []byte) []byte {
	op := *r.Operation
	op.Signature = nil
	h := hmac.New(sha256.New, key)
	h.Write([]byte((&Record{UID: r.UID, Kind: r.Kind, Operation: &op}).text()))
	return h.Sum(nil)
}

// signed reports whether k accepts the signature of the operation of r.
func (k *Keys) signed(r *Record) bool {
	if len(k.Keys) == 0 || len(r.Operation.Signature) == 0 && k.Unsigned {
		return true
	}
	return slices.ContainsFunc(k.Keys, func(key []byte) bool { return hmac.Equal(r.Operation.Signature, r.mac(key)) })
}
