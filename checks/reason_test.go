package checks_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/checks"
	"pgregory.net/rapid"
)

// What Kubernetes says of metav1.Condition.Reason.
var conditionReason = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

func validByKubernetes(s string) bool { return len(s) <= 1024 && conditionReason.MatchString(s) }

func TestValidReason(t *testing.T) {
	cases := map[string]struct {
		reason string
		s      string
		want   bool
	}{
		"Word":       {"a word is a reason", "OwnerNotReady", true},
		"Letter":     {"one letter is enough", "x", true},
		"AllKinds":   {"digits and _,: may follow", "A0_b:c,d9", true},
		"Underscore": {"_ may be the last character", "A_", true},
		"Empty":      {"the empty string says nothing", "", false},
		"Digit":      {"a digit cannot be the first character", "1st", false},
		"FirstColon": {"punctuation cannot be the first character", ":A", false},
		"LastColon":  {": cannot be the last character", "A:", false},
		"LastComma":  {", cannot be the last character", "A,", false},
		"Space":      {"two words are no reason", "Not ready", false},
		"Newline":    {"$ of the pattern is the end of the text, not of the line", "A\n", false},
		"Umlaut":     {"only letters of ASCII", "Über", false},
		"At":         {"@ is next to the letters in ASCII", "A@B", false},
		"Bracket":    {"[ is next to the letters in ASCII", "A[B", false},
		"Backtick":   {"` is next to the letters in ASCII", "A`B", false},
		"Brace":      {"{ is next to the letters in ASCII", "A{B", false},
		"Longest":    {"1,024 characters fit", strings.Repeat("a", 1024), true},
		"TooLong":    {"1,025 do not", strings.Repeat("a", 1025), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := checks.ValidReason(tc.s); got != tc.want {
				t.Errorf("%s: ValidReason(%q) = %t, want %t", tc.reason, tc.s, got, tc.want)
			}
			if got := validByKubernetes(tc.s); got != tc.want {
				t.Errorf("%s: the pattern says %t of %q, the case %t", tc.reason, got, tc.s, tc.want)
			}
		})
	}
}

func TestValidReasonIsThePattern(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(
			rapid.StringMatching(`[A-Za-z0-9_,:]{0,6}`),
			rapid.StringMatching(`[A-Za-z][ -~]{0,4}[A-Za-z0-9_]`),
			rapid.String(),
			rapid.Map(rapid.IntRange(1020, 1030), func(n int) string { return strings.Repeat("a", n) }),
		).Draw(t, "s")
		if got, want := checks.ValidReason(s), validByKubernetes(s); got != want {
			t.Fatalf("ValidReason(%q) = %t, the pattern says %t", s, got, want)
		}
	})
}

// TestReasons reads the reasons from the source, so that one added later is looked at as well.
func TestReasons(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			s, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			if !checks.ValidReason(s) {
				t.Errorf("%s = %q is no reason that Kubernetes takes", spec.Names[0], s)
			}
			if slices.Contains(reasons, s) {
				t.Errorf("%s = %q is the reason of something else, too: nobody could tell them apart", spec.Names[0], s)
			}
			reasons = append(reasons, s)
		}
		return true
	})
	if len(reasons) < 20 {
		t.Errorf("found %d reasons only: %q", len(reasons), reasons)
	}
}
