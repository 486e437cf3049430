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
	"github.com/windlass-go/windlass/internal/reason"
	"pgregory.net/rapid"
)

// conditionReason is the pattern of metav1.Condition.Reason.
var conditionReason = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

func validByKubernetes(s string) bool { return len(s) <= 1024 && conditionReason.MatchString(s) }

// ValidReason is the pattern of Kubernetes, and no block has another reason.
func mustBeValidByKubernetes(t interface{ Errorf(string, ...any) }, word string) {
	valid, want := validByKubernetes(word), checks.ReasonInvalid
	if valid {
		want = word
	}
	if got := reason.Valid(word); got != valid {
		t.Errorf("ValidReason(%q) = %t, the pattern of Kubernetes returns %t", word, got, valid)
	}
	if block := checks.Block(word, ""); block.Reason() != want || block.Message() == "" {
		t.Errorf("Block(%q) has the reason %q, want %q, and the message %q", word, block.Reason(), want, block.Message())
	}
}

func TestValidReason(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mustBeValidByKubernetes(t, rapid.OneOf(
			rapid.StringMatching(`[A-Za-z0-9_,:]{0,6}`),
			rapid.StringMatching(`[A-Za-z][ -~]{0,4}[A-Za-z0-9_]`),
			rapid.String(),
			rapid.Map(rapid.IntRange(1020, 1030), func(n int) string { return strings.Repeat("a", n) }),
		).Draw(t, "s"))
	})
}

// TestReasons reads the reasons from the source, so that it also tests new
// ones.
func TestReasons(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "result.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Reason") {
			s, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			if !reason.Valid(s) {
				t.Errorf("%s = %q is not valid in Kubernetes", spec.Names[0], s)
			}
			if slices.Contains(reasons, s) {
				t.Errorf("%s = %q is also the value of another reason", spec.Names[0], s)
			}
			reasons = append(reasons, s)
		}
		return true
	})
	if len(reasons) < 20 {
		t.Errorf("found %d reasons only: %q", len(reasons), reasons)
	}
}
