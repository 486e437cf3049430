package classify_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/classify"
)

// TestInnerText tests the message of a Classification whose error has nested
// errors.
func TestInnerText(t *testing.T) {
	cases := map[string]struct {
		reason string
		inner  []classify.InnerError
		want   string
	}{
		"None":      {"the message alone", nil, "the size: must be positive"},
		"Cause":     {"a nested error is appended", []classify.InnerError{{Code: "NoSubnet", Message: "no such subnet"}}, "the size: must be positive: NoSubnet: no such subnet"},
		"Contained": {"a nested error that the message quotes is not repeated", []classify.InnerError{{Code: "Negative", Message: "must be positive"}}, "the size: must be positive"},
		"CodeOnly":  {"a nested error without a text is not quoted by the message", []classify.InnerError{{Code: "Negative"}}, "the size: must be positive: Negative"},
		"Both":      {"only the quoted nested error is left out", []classify.InnerError{{Code: "Negative", Message: "must be positive"}, {Code: "NoSubnet"}}, "the size: must be positive: NoSubnet"},
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
