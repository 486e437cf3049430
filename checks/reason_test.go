package checks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
	"pgregory.net/rapid"
)

// conditionReason is the pattern of metav1.Condition.Reason.
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
		"Empty":      {"the empty string is no reason", "", false},
		"Digit":      {"a digit cannot be the first character", "1st", false},
		"FirstColon": {"punctuation cannot be the first character", ":A", false},
		"LastColon":  {": cannot be the last character", "A:", false},
		"LastComma":  {", cannot be the last character", "A,", false},
		"Space":      {"two words are no reason", "Not ready", false},
		"Newline":    {"a newline cannot be the last character", "A\n", false},
		"Umlaut":     {"a letter must be ASCII", "Über", false},
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
				t.Errorf("%s: the pattern of Kubernetes returns %t for %q, the case wants %t", tc.reason, got, tc.s, tc.want)
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
			t.Fatalf("ValidReason(%q) = %t, the pattern of Kubernetes returns %t", s, got, want)
		}
	})
}

// TestReasons reads the reasons from the source, so that it also tests new
// ones.
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

// sample is a resource with a word that becomes a reason. how names the source
// of the reason: a block, or a part of an error of the cloud.
type sample struct{ word, how string }

// FuzzReason makes reasons from words in each possible way. The corpus is in
// testdata/fuzz.
func FuzzReason(f *testing.F) {
	reconciler := flow.New("Sample", flow.Operations[sample]{
		Key: func(sample) string { return "it" },
		Get: func(_ context.Context, req *flow.Request[sample]) (flow.Observation, error) {
			return flow.Observation{}, req.Resource.err()
		},
		Apply: func(context.Context, *flow.Request[sample]) (flow.Progress, error) { return flow.Done(), nil },
	}, flow.Extensions[sample]{
		PreCheck: chain.New(checks.Check("blocks", func(_ context.Context, req *checks.Request[sample]) (checks.Result, error) {
			return checks.Block(req.Resource.word, ""), nil
		})),
		Classify: chain.New(func(next classify.Handler) classify.Handler {
			return func(ctx context.Context, f *classify.Failure) (classify.Classification, error) {
				if rule, ok := strings.CutPrefix(f.Message, "rule "); ok {
					return f.As(rule, classify.Slow), nil
				}
				return next(ctx, f)
			}
		}),
	}, flow.WithErrors(azure.Errors()))
	f.Fuzz(func(t *testing.T, word string) {
		valid := validByKubernetes(word)
		if got := checks.ValidReason(word); got != valid {
			t.Errorf("ValidReason(%q) = %t, the pattern of Kubernetes returns %t", word, got, valid)
		}
		want := checks.ReasonInvalid
		if valid {
			want = word
		}
		block := checks.Block(word, "")
		if block.Reason() != want || block.Message() == "" {
			t.Errorf("Block(%q) has the reason %q, want %q, and the message %q", word, block.Reason(), want, block.Message())
		}
		for _, how := range []string{"block", "code", "header", "body", "rule"} {
			out := reconciler.Reconcile(t.Context(), sample{word, how})
			conditions := out.Conditions()
			if len(conditions) != 2 {
				t.Fatalf("%s %q: %d conditions of %s, want 2", how, word, len(conditions), out)
			}
			for _, c := range conditions {
				if !validByKubernetes(c.Reason) || c.Reason != out.Reason() || c.Message == "" || len(c.Message) > 32768 {
					t.Errorf("%s %q: the condition has the reason %q and %d bytes of message", how, word, c.Reason, len(c.Message))
				}
				if how == "block" && c.Reason != want || how == "code" && valid && c.Reason != word {
					t.Errorf("%s %q: the reason is %q", how, word, c.Reason)
				}
			}
		}
	})
}

// err returns the error of the cloud with the word, or nil if a check blocks.
func (s sample) err() error {
	response := &azcore.ResponseError{StatusCode: http.StatusConflict, RawResponse: &http.Response{Header: http.Header{}, Body: http.NoBody}}
	switch s.how {
	case "code":
		response.ErrorCode = s.word
	case "header":
		response.RawResponse.Header["X-Ms-Error-Code"] = []string{s.word}
	case "body":
		body, _ := json.Marshal(map[string]any{"error": map[string]string{"code": s.word}})
		response.RawResponse.Body = io.NopCloser(bytes.NewReader(body))
	case "rule":
		return errors.New("rule " + s.word)
	default:
		return nil
	}
	return response
}
