package write

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Operation is an operation under way, as it is stored.
type Operation struct {
	Kind       string          `json:"kind"` // as in Database.example.com
	UID        types.UID       `json:"uid"`
	Generation int64           `json:"generation"`
	Token      string          `json:"token"`
	Basis      json.RawMessage `json:"basis,omitempty"` // what the operation began from; empty: not known
	Signature  []byte          `json:"signature,omitempty"`
}

// Keys signs and accepts records. The zero Keys signs none, and accepts all that
// name their object.
type Keys struct {
	Keys     [][]byte // the first one signs; none: records have no signature
	Unsigned bool     // accept records without a signature although there are keys
}

// The errors of [Keys.Decode].
var (
	ErrCopied     = errors.New("it is the operation of another object")
	errUnreadable = errors.New("cannot be read")
	errUnsigned   = errors.New("has no valid signature of this operator")
)

// Encode returns the record of op, with a signature if there is a key.
func (k *Keys) Encode(op Operation) (string, error) {
	op.Signature = nil
	if len(k.Keys) > 0 {
		var err error
		if op.Signature, err = op.mac(k.Keys[0]); err != nil {
			return "", err
		}
	}
	data, err := json.Marshal(op)
	return string(data), err
}

// Decode returns the operation of a record of an object. With ErrCopied it
// returns the operation of the other object. Each other error completes a
// sentence about the record, and says why the record is refused.
func (k *Keys) Decode(record string, uid types.UID, kind schema.GroupKind) (Operation, error) {
	var op Operation
	if err := json.Unmarshal([]byte(record), &op); err != nil || op.Token == "" {
		return Operation{}, errUnreadable
	}
	if !k.signed(op) {
		return Operation{}, errUnsigned
	}
	if op.UID != uid || op.Kind != kind.String() {
		return op, ErrCopied
	}
	return op, nil
}

// mac returns the signature of op by a key.
func (op Operation) mac(key []byte) ([]byte, error) {
	op.Signature = nil
	data, err := json.Marshal(op)
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, key)
	h.Write(data)
	return h.Sum(nil), nil
}

// signed reports whether k accepts the signature of op.
func (k *Keys) signed(op Operation) bool {
	if len(k.Keys) == 0 || len(op.Signature) == 0 && k.Unsigned {
		return true
	}
	return slices.ContainsFunc(k.Keys, func(key []byte) bool {
		mac, err := op.mac(key)
		return err == nil && hmac.Equal(op.Signature, mac)
	})
}
