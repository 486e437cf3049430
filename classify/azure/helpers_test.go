package azure

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/windlass-go/windlass/classify"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// respErr returns an error as a client of the SDK returns it. Its body, which
// may be empty, was not read yet.
func respErr(code string, status int, body string, header ...string) *azcore.ResponseError {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	resp := &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
	return &azcore.ResponseError{ErrorCode: code, StatusCode: status, RawResponse: resp}
}

func newFailure(err error) *classify.Failure {
	return classify.NewFailure(err, "2024-05-01", noon, Errors())
}

// classifyOf classifies err without links.
func classifyOf(t testing.TB, err error) classify.Classification {
	t.Helper()
	c, err := classify.Compose(classify.Chain{})(context.Background(), newFailure(err))
	if err != nil || c.IsZero() {
		t.Fatalf("a composed handler returned %v, error %v", c, err)
	}
	return c
}
