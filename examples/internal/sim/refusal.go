package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// Refusal is an error in the format of Azure Resource Manager.
type Refusal struct {
	Status        int
	Code, Message string
	RetryAfter    time.Duration // zero: no Retry-After header
}

func (r *Refusal) Error() string { return fmt.Sprintf("%d %s: %s", r.Status, r.Code, r.Message) }

// Response returns the refusal as the response to req.
func (r *Refusal) Response(req *http.Request) *http.Response {
	body, _ := json.Marshal(map[string]any{"error": map[string]string{"code": r.Code, "message": r.Message}}) // texts only
	header := http.Header{"Content-Type": {"application/json"}}
	if r.RetryAfter > 0 {
		header.Set("Retry-After", Seconds(r.RetryAfter))
	}
	return &http.Response{
		StatusCode: r.Status, Status: strconv.Itoa(r.Status) + " " + http.StatusText(r.Status),
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: req,
	}
}

// ResponseError returns the refusal as the error that a client of the SDK returns.
func (r *Refusal) ResponseError() error {
	return runtime.NewResponseError(r.Response(&http.Request{Method: http.MethodPut, URL: &url.URL{Scheme: "https", Host: "management.azure.com"}}))
}

// Seconds formats a duration as a value of Retry-After.
func Seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
