package ctrlx

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

func testKey(b byte) []byte { return []byte(strings.Repeat(string(rune(b)), 32)) }

func TestStoredOperation(t *testing.T) {
	kind := schema.GroupKind{Group: "example.com", Kind: "Database"}
	ours := operation{Kind: "Database.example.com", UID: "u", Generation: 3, Token: "https://example.com/?a=b&c"}
	text := func(op operation) string {
		data, err := json.Marshal(op)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	signed := func(op operation, key []byte) string {
		return text((&operationStore{keys: [][]byte{key}}).sign(op))
	}
	change := func(do func(*operation)) operation {
		op := ours
		do(&op)
		return op
	}
	a, b := operationStore{keys: [][]byte{testKey('a')}}, operationStore{keys: [][]byte{testKey('b'), testKey('a')}}
	cases := map[string]struct {
		reason     string
		store      operationStore
		condition  string
		annotation string
		want       operation
		fails      string // part of the error
	}{
		"None":            {reason: "no operation is under way"},
		"NoneWithKey":     {reason: "no operation is under way", store: a},
		"Stored":          {reason: "the record that setToken writes", condition: text(ours), want: ours},
		"NotJSON":         {reason: "an unreadable record is no answer", condition: "rubbish", fails: "cannot be read"},
		"CutOff":          {reason: "half a record is no answer", condition: text(ours)[:40], fails: "cannot be read"},
		"NoToken":         {reason: "setToken writes no such record", condition: text(change(func(op *operation) { op.Token = "" })), fails: "cannot be read"},
		"OtherUID":        {reason: "a copy, or a restored backup", condition: text(change(func(op *operation) { op.UID = "v" })), fails: errCopied.Error()},
		"OtherKind":       {reason: "a copy into another kind", condition: text(change(func(op *operation) { op.Kind = "Cluster.example.com" })), fails: errCopied.Error()},
		"NoUID":           {reason: "a record names its object", condition: text(change(func(op *operation) { op.UID = "" })), fails: errCopied.Error()},
		"Signed":          {reason: "signed with the key", store: a, condition: signed(ours, testKey('a')), want: ours},
		"SignedBefore":    {reason: "signed with the previous key", store: b, condition: signed(ours, testKey('a')), want: ours},
		"SignedAfter":     {reason: "signed with a key that this replica does not have yet", store: a, condition: signed(ours, testKey('b')), fails: "no valid signature"},
		"Unsigned":        {reason: "written by a person", store: a, condition: text(ours), fails: "no valid signature"},
		"UnsignedAllowed": {reason: "the first release with a key", store: operationStore{keys: a.keys, unsigned: true}, condition: text(ours), want: ours},
		"WrongAllowed":    {reason: "a wrong signature is none", store: operationStore{keys: a.keys, unsigned: true}, condition: signed(ours, testKey('b')), fails: "no valid signature"},
		"SignedNoKey":     {reason: "the operator has no key any more", condition: signed(ours, testKey('a')), want: ours},
		"TokenChanged":    {reason: "the signature covers the token", store: a, condition: strings.Replace(signed(ours, testKey('a')), "example.com/?", "example.org/?", 1), fails: "no valid signature"},
		"UIDChanged":      {reason: "the signature covers the UID", store: a, condition: strings.Replace(signed(ours, testKey('a')), `"uid":"u"`, `"uid":"v"`, 1), fails: "no valid signature"},
		"GenChanged":      {reason: "the signature covers the generation", store: a, condition: strings.Replace(signed(ours, testKey('a')), `:3`, `:4`, 1), fails: "no valid signature"},
		"KindChanged":     {reason: "the signature covers the kind", store: a, condition: strings.Replace(signed(ours, testKey('a')), "Database", "Cluster", 1), fails: "no valid signature"},
		"SignedCopy":      {reason: "a signed record of another object", store: a, condition: signed(change(func(op *operation) { op.UID = "v" }), testKey('a')), fails: errCopied.Error()},
		"Annotation":      {reason: "users can write it", annotation: `{"generation":3,"token":"t"}`, fails: "is not accepted"},
		"AnnotationEmpty": {reason: "users can write it", annotation: " ", fails: "is not accepted"},
		"AnnotationAllowed": {reason: "the first release after the upgrade", store: operationStore{annotation: true}, annotation: `{"generation":3,"token":"t"}`,
			want: operation{Generation: 3, Token: "t"}},
		"AnnotationUnread": {reason: "half an annotation is no answer", store: operationStore{annotation: true}, annotation: `{"token":"t","generation":"3"}`, fails: "cannot be read"},
		"Both":             {reason: "the condition is newer", store: operationStore{annotation: true}, annotation: `{"generation":2,"token":"t"}`, condition: text(ours), want: ours},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &testv1.Database{ObjectMeta: metav1.ObjectMeta{UID: "u"}}
			if tc.annotation != "" {
				d.Annotations = map[string]string{OperationAnnotation: tc.annotation}
			}
			if tc.condition != "" {
				d.Status.Conditions = []metav1.Condition{{Type: ConditionOperation, Message: tc.condition}}
			}
			got, err := tc.store.stored(d, d.Status.Conditions, kind)
			got.Signature = nil
			switch {
			case tc.fails != "":
				if err == nil || !strings.Contains(err.Error(), tc.fails) {
					t.Errorf("%s: error %v, want %q", tc.reason, err, tc.fails)
				}
			case err != nil || !cmp.Equal(got, tc.want):
				t.Errorf("%s: %v, %+v, want %+v", tc.reason, err, got, tc.want)
			}
		})
	}
}

func TestWithTokenKeyRefuses(t *testing.T) {
	cases := map[string]struct {
		reason   string
		key      []byte
		previous [][]byte
		want     string
	}{
		"Nil":           {"no key signs nothing", nil, nil, "key 1 has 0 bytes"},
		"Short":         {"a short key can be guessed", testKey('a')[:31], nil, "key 1 has 31 bytes"},
		"ShortPrevious": {"a short key can be guessed", testKey('a'), [][]byte{{}}, "key 2 has 0 bytes"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if p, _ := recover().(string); !strings.Contains(p, tc.want) {
					t.Errorf("%s: panic %q, want %q", tc.reason, p, tc.want)
				}
			}()
			WithTokenKey(tc.key, tc.previous...)
		})
	}
}
