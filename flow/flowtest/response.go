package flowtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// Response is the error that a client of the Azure SDK gives for an HTTP response: an *azcore.ResponseError with a status, a
// code, a message (empty: the service gave none) and the delay that the service asks for (zero: none), in whole
// milliseconds. It may be given to any number of scripts.
func Response(status int, code, message string, retryAfter time.Duration) error {
	type detail struct {
		Code    string `json:"code,omitempty"`
		Message string `json:"message,omitempty"`
	}
	body, _ := json.Marshal(struct { // texts always can be
		Error detail `json:"error"`
	}{detail{code, message}})
	header := http.Header{}
	if retryAfter > 0 {
		header.Set("Retry-After-Ms", strconv.FormatInt(max(retryAfter.Milliseconds(), 1), 10))
	}
	return runtime.NewResponseError(&http.Response{
		StatusCode: status, Status: fmt.Sprintf("%d %s", status, http.StatusText(status)),
		Header: header, Body: io.NopCloser(bytes.NewReader(body)),
	})
}
