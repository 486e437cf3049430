package azure

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/google/go-cmp/cmp"
)

func TestPollAfter(t *testing.T) {
	cases := map[string]struct {
		reason   string
		response *http.Response
		want     time.Duration
	}{
		"NoResponse": {"nothing was said", nil, 30 * time.Second},
		"NoHeader":   {"nothing was said", &http.Response{}, 30 * time.Second},
		"Seconds":    {"the service knows best", &http.Response{Header: http.Header{"Retry-After": {"7"}}}, 7 * time.Second},
		"Rubbish":    {"rubbish is nothing", &http.Response{Header: http.Header{"Retry-After": {"soon"}}}, 30 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, pollAfter(tc.response)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNotThere(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   bool
	}{
		"None":     {"all is well", nil, false},
		"NotFound": {"also if somebody wrapped it", fmt.Errorf("get: %w", &azcore.ResponseError{StatusCode: http.StatusNotFound}), true},
		"Conflict": {"it is there", &azcore.ResponseError{StatusCode: http.StatusConflict}, false},
		"Other":    {"nobody knows", errors.New("no network"), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, NotThere(tc.err)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestObserved(t *testing.T) {
	type seen struct {
		Exists, InSync bool
		Asked          bool // whether it is as the spec says
		Failed         bool
	}
	cases := map[string]struct {
		reason string
		err    error
		inSync bool
		want   seen
	}{
		"InSync":   {"it is there, as wanted", nil, true, seen{Exists: true, InSync: true, Asked: true}},
		"Other":    {"it is there, and has to be changed", nil, false, seen{Exists: true, Asked: true}},
		"NotFound": {"it is not there, which is no error", &azcore.ResponseError{StatusCode: http.StatusNotFound}, true, seen{}},
		"Failed":   {"nobody knows", errors.New("no network"), true, seen{Failed: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got seen
			o, err := Observed(tc.err, func() bool { got.Asked = true; return tc.inSync })
			got.Exists, got.InSync, got.Failed = o.Exists, o.InSync, err != nil
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
