package apierr

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestIgnoreGone: only an object that does not exist ends a pass without an error.
func TestIgnoreGone(t *testing.T) {
	records := schema.GroupResource{Group: "dns.example.com", Resource: "records"}
	cases := map[string]struct {
		reason string
		err    error
		gone   bool
	}{
		"Gone":     {"there is nothing to write", apierrors.NewNotFound(records, "www"), true},
		"Wrapped":  {"the writer wraps its errors", fmt.Errorf("the status: %w", apierrors.NewNotFound(records, "www")), true},
		"Unserved": {"the object may exist, and no event follows", apierrors.NewGenericServerResponse(http.StatusNotFound, "patch", records, "", "", 0, true), false},
		"Other":    {"the write is tried again", errors.New("500"), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IgnoreGone(tc.err); (got == nil) != tc.gone {
				t.Errorf("%s: IgnoreGone(%v) = %v, want nil: %t", tc.reason, tc.err, got, tc.gone)
			}
		})
	}
}
