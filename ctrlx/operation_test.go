package ctrlx

import (
	"strings"
	"testing"
)

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
