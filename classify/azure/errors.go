package azure

import (
	"cmp"
	"errors"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/windlass-go/windlass/classify"
)

var known = classify.NewErrors("azure", read, Codes())

// Errors knows the errors of Azure Resource Manager: it reads them, and decides by [Codes]. Two kinds of errors end an
// operation that is polled: one with a status of 2xx, which says that the operation has failed, and 404 and 410, which say
// that the service does not know the operation any more.
func Errors() classify.Errors { return known }

// read is the classify.Reader of Errors.
func read(f *classify.Failure) bool {
	response, ok := errors.AsType[*azcore.ResponseError](f.Err)
	if !ok || response == nil {
		return readClient(f)
	}
	f.Code, f.Status = response.ErrorCode, response.StatusCode
	var body body
	if raw := response.RawResponse; raw != nil {
		if f.Status == 0 {
			f.Status = raw.StatusCode
		}
		if f.Code == "" {
			f.Code = raw.Header.Get("X-Ms-Error-Code")
		}
		f.After = retryAfter(f, raw.Header)
		body = readBody(raw)
	}
	if f.Code == "" {
		f.Code = body.code
	}
	f.Message, f.Inner = body.message, body.inner
	f.ReadStatus()
	f.Ended = f.Status >= 200 && f.Status <= 299 || f.Status == http.StatusNotFound || f.Status == http.StatusGone
	if f.Code == "" && f.Status >= 400 && f.Status <= 499 {
		// Azure Resource Manager names every error. A text without a code is the answer of a proxy or a gateway, which does
		// not know the object and the operation.
		if body.message != "" || body.raw != "" {
			f.NotFound, f.Ended = false, false
		}
		if f.Status == http.StatusBadRequest {
			// It says nothing about the request either: rules do not see its status and its text.
			f.Status, f.Message = 0, "HTTP 400 without an error code of Azure"
			body.raw = cmp.Or(body.message, body.raw)
		}
	}
	if body.raw != "" {
		// People see it, and rules for the texts of Azure do not.
		f.Inner = append(f.Inner, classify.InnerError{Message: body.raw})
	}
	return true
}

// readClient reads an error that the SDK marks as final for the request, because it got no credentials or half an
// answer. It says nothing about the operation.
func readClient(f *classify.Failure) bool {
	if _, ok := errors.AsType[interface {
		error
		NonRetriable()
	}](f.Err); !ok {
		return false
	}
	f.Message = f.Err.Error()
	f.Transient = true
	return true
}

// retryAfter returns the delay that a response asks for. Azure's headers in milliseconds come before Retry-After.
func retryAfter(f *classify.Failure, h http.Header) time.Duration {
	for _, header := range [...]string{"Retry-After-Ms", "X-Ms-Retry-After-Ms"} {
		if d := classify.WholeNumber(h.Get(header), time.Millisecond); d > 0 {
			return d
		}
	}
	return f.RetryAfter(h)
}
