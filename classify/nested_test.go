package classify_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/classify"
)

// TestNestedText looks at the text of a classification whose error nests
// others.
func TestNestedText(t *testing.T) {
	cases := map[string]struct {
		reason string
		inner  []classify.InnerError
		want   string
	}{
		"None":      {"the message alone", nil, "the size: must be positive"},
		"Cause":     {"a nested error says more", []classify.InnerError{{Code: "NoSubnet", Message: "no such subnet"}}, "the size: must be positive: NoSubnet: no such subnet"},
		"Contained": {"a nested error that the message quotes is not said twice", []classify.InnerError{{Code: "Negative", Message: "must be positive"}}, "the size: must be positive"},
		"CodeOnly":  {"a code has no text to be quoted", []classify.InnerError{{Code: "Negative"}}, "the size: must be positive: Negative"},
		"Both":      {"only the quoted one is left out", []classify.InnerError{{Code: "Negative", Message: "must be positive"}, {Code: "NoSubnet"}}, "the size: must be positive: NoSubnet"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			known := classify.NewErrors("test", func(f *classify.Failure) bool {
				f.Message, f.Inner = f.Err.Error(), tc.inner
				return true
			}, nil)
			f := classify.NewFailure(errors.New("the size: must be positive"), "", time.Time{}, known)
			if diff := cmp.Diff(tc.want, f.As("rule", classify.Slow).Message()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
