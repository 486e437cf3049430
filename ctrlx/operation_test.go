package ctrlx

import (
	"strings"
	"testing"
)

func testKey(b byte) []byte { return []byte(strings.Repeat(string(rune(b)), 32)) }

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
