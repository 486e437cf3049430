package azure

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/windlass-go/windlass/classify"
)

var known = classify.NewErrors("azure", read, Codes())

// Errors returns the reader and the table ([Codes]) for errors of Azure
// Resource Manager. Two kinds of errors end a polled operation. A 2xx status
// means that the operation failed. 404 and 410 mean that the service no longer
// knows the operation.
func Errors() classify.Errors { return known }

// read is the reader of [Errors].
func read(f *classify.Failure) bool {
	response, _ := errors.AsType[*azcore.ResponseError](f.Err)
	if response == nil {
		if !isClient(f.Err) {
			return false
		}
		f.Message, f.Transient = f.Err.Error(), true // it does not concern the polled operation
		return true
	}
	f.Code, f.Status = response.ErrorCode, response.StatusCode
	var body body
	proxy := false
	if raw := response.RawResponse; raw != nil {
		f.Status = cmp.Or(f.Status, raw.StatusCode)
		f.After = retryAfter(f, raw.Header)
		body = readBody(raw)
		f.Code = cmp.Or(f.Code, raw.Header.Get("X-Ms-Error-Code"), body.code)
		proxy = f.Status >= 400 && isPage(raw, body, f.Code)
	}
	f.Message, f.Inner = body.message, body.inner
	f.ReadStatus()
	f.Ended = f.Status >= 200 && f.Status <= 299 || f.Status == http.StatusNotFound || f.Status == http.StatusGone
	if f.Code == "" && f.Status == http.StatusBadRequest {
		// The text does not concern the request either, so rules do not see
		// the status and the text.
		f.Status, f.Message = 0, "HTTP 400 without an error code of Azure"
		body.raw = cmp.Or(body.message, body.raw)
	}
	if _, ok := errors.AsType[*resultError](f.Err); ok || proxy || isClient(f.Err) || slices.Contains(unserved, f.Code) {
		f.NotFound, f.Ended = false, false
	}
	if body.raw != "" {
		// The message shows the text. Rules for the texts of Azure do not see
		// it.
		f.Inner = append(f.Inner, classify.InnerError{Message: body.raw})
	}
	return true
}

// isPage reports whether a failed response comes from a proxy, which does not know the object or the operation: Azure
// Resource Manager sets a code for every error, in JSON. The response has this code; empty: none.
func isPage(raw *http.Response, b body, code string) bool {
	return raw.Header.Get("X-Ms-Error-Code") == "" && (b.raw != "" || code == "" && b.message != "" || b.oauth && b.code != "")
}

// unserved are the codes of a 404 that says nothing about the object: Azure Resource Manager does not serve the type in
// this version of the API or in this cloud, or does not show the subscription to the caller.
var unserved = []string{"InvalidResourceType", "InvalidResourceNamespace", "SubscriptionNotFound"}

// isClient reports whether the SDK marks err as not retriable, because it failed before or after the response, for
// example without credentials: err may be the answer to another request, for example of a credential for its secret.
func isClient(err error) bool {
	_, ok := errors.AsType[interface {
		error
		NonRetriable()
	}](err)
	return ok
}

// retryAfter returns the delay that a response requests. Azure's headers in
// milliseconds win over Retry-After.
func retryAfter(f *classify.Failure, h http.Header) time.Duration {
	return f.RetryAfter(h, "Retry-After-Ms", "X-Ms-Retry-After-Ms")
}
