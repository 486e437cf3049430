package record

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"slices"
)

// Keys signs and accepts operations. The zero Keys signs none, and accepts all.
type Keys struct {
	Keys     [][]byte // the first one signs; none: operations have no signature
	Unsigned bool     // accept operations without a signature although there are keys
}

// Sign signs the operation of r, which began in this process. An operation that was
// decoded keeps its signature: else a new key would change every record.
func (k *Keys) Sign(r *Record) (err error) {
	r.Operation.Signature = nil
	if len(k.Keys) > 0 {
		r.Operation.Signature, err = r.mac(k.Keys[0])
	}
	return err
}

// mac returns the signature of the operation of r by a key.
func (r *Record) mac(key []byte) ([]byte, error) {
	op := *r.Operation
	op.Signature = nil
	data, err := json.Marshal(Record{UID: r.UID, Kind: r.Kind, Operation: &op})
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, key)
	h.Write(data)
	return h.Sum(nil), nil
}

// signed reports whether k accepts the signature of the operation of r.
func (k *Keys) signed(r *Record) bool {
	if len(k.Keys) == 0 || len(r.Operation.Signature) == 0 && k.Unsigned {
		return true
	}
	return slices.ContainsFunc(k.Keys, func(key []byte) bool {
		mac, err := r.mac(key)
		return err == nil && hmac.Equal(r.Operation.Signature, mac)
	})
}
