package ctrlx

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-go/windlass/ctrlx/internal/write"
)

func testKey(b byte) []byte { return []byte(strings.Repeat(string(rune(b)), 32)) }

func TestStoredOperation(t *testing.T) {
	kind := schema.GroupKind{Group: "example.com", Kind: "Database"}
	ours := write.Operation{Kind: "Database.example.com", UID: "u", Generation: 3, Token: "https://example.com/?a=b&c"}
	encoded := func(op write.Operation) string {
		record, err := new(write.Keys).Encode(op)
		if err != nil {
			t.Fatal(err)
		}
		return record
	}
	keys := write.Keys{Keys: [][]byte{testKey('a')}}
	copied := ours
	copied.UID = "v"
	cases := map[string]struct {
		reason    string
		keys      write.Keys
		condition string
		want      write.Operation
		fails     string // part of the error
	}{
		"None":        {reason: "no operation is under way"},
		"NoneWithKey": {reason: "no operation is under way", keys: keys},
		"Stored":      {reason: "the record that setToken writes", condition: encoded(ours), want: ours},
		"Copied":      {reason: "a copy, or a restored backup", condition: encoded(copied), fails: write.ErrCopied.Error()},
		"Unreadable":  {reason: "an unreadable record is no answer", condition: "rubbish", fails: "OperationUnderWay cannot be read; if no operation"},
		"Unsigned":    {reason: "written by a person", keys: keys, condition: encoded(ours), fails: "OperationUnderWay has no valid signature of this operator; if no operation"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var conditions []metav1.Condition
			if tc.condition != "" {
				conditions = []metav1.Condition{{Type: ConditionOperation, Message: tc.condition}}
			}
			got, err := storedOperation(&tc.keys, "u", conditions, kind)
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

// A user who may write the status writes any text as the UID.
func TestQuoted(t *testing.T) {
	cases := map[string]struct{ reason, text, want string }{
		"UID":  {"the usual text", "7d1f1b5e", `"7d1f1b5e"`},
		"Line": {"a line feed forges lines of output", "a\nb", `"a\nb"`},
		"Long": {"a log line has a bound", strings.Repeat("x", 30_000), `"` + strings.Repeat("x", 100) + `"`},
		"Cut":  {"the cut is inside of a letter", strings.Repeat("x", 99) + "ä", `"` + strings.Repeat("x", 99) + `\xc3"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := quoted(tc.text); got != tc.want {
				t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
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
