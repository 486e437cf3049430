package write

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func testKey(b byte) []byte { return []byte(strings.Repeat(string(rune(b)), 32)) }

func TestDecode(t *testing.T) {
	kind := schema.GroupKind{Group: "example.com", Kind: "Database"}
	ours := Operation{Kind: "Database.example.com", UID: "u", Generation: 3, Token: "https://example.com/?a=b&c", Basis: json.RawMessage(`{"self":"<a>"}`)}
	signed := func(op Operation, keys ...[]byte) string {
		record, err := (&Keys{Keys: keys}).Encode(op)
		if err != nil {
			t.Fatal(err)
		}
		return record
	}
	change := func(do func(*Operation)) Operation {
		op := ours
		do(&op)
		return op
	}
	a, b := Keys{Keys: [][]byte{testKey('a')}}, Keys{Keys: [][]byte{testKey('b'), testKey('a')}}
	unsigned := Keys{Keys: a.Keys, Unsigned: true}
	byA := signed(ours, testKey('a'))
	cases := map[string]struct {
		reason string
		keys   Keys
		record string
		want   error // nil: the operation is ours
	}{
		"Stored":          {reason: "the record that Encode makes", record: signed(ours)},
		"NotJSON":         {"an unreadable record is no answer", Keys{}, "rubbish", errUnreadable},
		"CutOff":          {"half a record is no answer", Keys{}, signed(ours)[:40], errUnreadable},
		"NoToken":         {"no operation has such a record", Keys{}, signed(change(func(op *Operation) { op.Token = "" })), errUnreadable},
		"OtherUID":        {"a copy, or a restored backup", Keys{}, signed(change(func(op *Operation) { op.UID = "v" })), ErrCopied},
		"OtherKind":       {"a copy into another kind", Keys{}, signed(change(func(op *Operation) { op.Kind = "Cluster.example.com" })), ErrCopied},
		"NoUID":           {"a record names its object", Keys{}, signed(change(func(op *Operation) { op.UID = "" })), ErrCopied},
		"Signed":          {"signed with the key", a, byA, nil},
		"SignedBefore":    {"signed with the previous key", b, byA, nil},
		"SignedAfter":     {"signed with a key that this replica does not have yet", a, signed(ours, testKey('b')), errUnsigned},
		"Unsigned":        {"written by a person", a, signed(ours), errUnsigned},
		"UnsignedAllowed": {"the first release with a key", unsigned, signed(ours), nil},
		"WrongAllowed":    {"a wrong signature is none", unsigned, signed(ours, testKey('b')), errUnsigned},
		"SignedNoKey":     {"the operator has no key any more", Keys{}, byA, nil},
		"TokenChanged":    {"the signature covers the token", a, strings.Replace(byA, "example.com/?", "example.org/?", 1), errUnsigned},
		"UIDChanged":      {"the signature covers the UID", a, strings.Replace(byA, `"uid":"u"`, `"uid":"v"`, 1), errUnsigned},
		"GenChanged":      {"the signature covers the generation", a, strings.Replace(byA, `:3`, `:4`, 1), errUnsigned},
		"KindChanged":     {"the signature covers the kind", a, strings.Replace(byA, "Database", "Cluster", 1), errUnsigned},
		"BasisChanged":    {"the signature covers the basis", a, strings.Replace(byA, `"self":"`, `"self":"x`, 1), errUnsigned},
		"Indented":        {"white space between the values changes none of them", a, strings.Replace(byA, `"self":`, `"self" : `, 1), nil},
		"SignedCopy":      {"a signed record of another object", a, signed(change(func(op *Operation) { op.UID = "v" }), testKey('a')), ErrCopied},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.keys.Decode(tc.record, "u", kind)
			if err != tc.want {
				t.Fatalf("%s: error %v, want %v", tc.reason, err, tc.want)
			}
			if err == ErrCopied && got.Token != ours.Token {
				t.Errorf("%s: the operation of the other object is %+v", tc.reason, got)
			}
			got.Signature = nil
			compact := func(op Operation) string { data, _ := json.Marshal(op); return string(data) }
			if diff := cmp.Diff(compact(ours), compact(got)); err == nil && diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A basis that is no JSON has no signature, and not that of another one.
func TestEncodeRefuses(t *testing.T) {
	for name, keys := range map[string]Keys{"Signed": {Keys: [][]byte{testKey('a')}}, "Unsigned": {}} {
		if record, err := keys.Encode(Operation{Token: "t", Basis: json.RawMessage("{")}); err == nil {
			t.Errorf("%s: the record is %s", name, record)
		}
	}
}
