package google

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"google.golang.org/api/googleapi"

	"github.com/windlass-go/windlass/classify"
)

var known = classify.NewErrors("google", read, Codes())

// Errors returns the reader and the table ([Codes]) for errors of Google
// Cloud's REST APIs.
func Errors() classify.Errors { return known }

const (
	maxBody  = 1 << 20 // the bytes of the longest body that is read for its status
	maxInner = 8       // the nested errors that are read
)

// read is the reader of [Errors].
func read(f *classify.Failure) bool {
	e, ok := errors.AsType[*googleapi.Error](f.Err)
	if !ok || e == nil {
		return false
	}
	f.Status, f.Message = e.Code, e.Message
	f.After = f.RetryAfter(e.Header)
	nested := e.Errors
	if len(nested) > 0 {
		f.Code, f.Message = nested[0].Reason, cmp.Or(f.Message, nested[0].Message)
		nested = nested[1:]
	}
	if f.Code == "" {
		f.Code = statusOf(e.Body)
	}
	for _, item := range nested {
		add(f, item.Reason, item.Message)
	}
	for _, detail := range e.Details {
		readDetail(f, detail)
	}
	f.ReadStatus()
	f.NotFound = f.NotFound && f.Code != ""
	f.Transient = f.Transient || transient(f)
	if f.Message == "" {
		f.Message = f.Err.Error()
	}
	return true
}

// transient reports whether a rate limit or a conflict caused the error. Google
// Cloud may report a rate limit with 403.
func transient(f *classify.Failure) bool {
	switch f.Code {
	case "rateLimitExceeded", "userRateLimitExceeded", "concurrentLimitExceeded", "ABORTED":
		return true
	}
	return slices.ContainsFunc(f.Inner, func(e classify.InnerError) bool { return e.Code == "RATE_LIMIT_EXCEEDED" })
}

// add appends a nested error that is not empty, up to maxInner.
func add(f *classify.Failure, code, message string) {
	if (code != "" || message != "" && message != f.Message) && len(f.Inner) < maxInner {
		f.Inner = append(f.Inner, classify.InnerError{Code: code, Message: message})
	}
}

// readDetail reads an ErrorInfo or a RetryInfo, which the client decoded from
// JSON.
func readDetail(f *classify.Failure, detail any) {
	fields, _ := detail.(map[string]any)
	text := func(key string) string {
		s, _ := fields[key].(string)
		return s
	}
	switch kind := text("@type"); {
	case strings.HasSuffix(kind, "/google.rpc.ErrorInfo"):
		add(f, text("reason"), "")
	case strings.HasSuffix(kind, "/google.rpc.RetryInfo") && f.After == 0:
		f.After, _ = time.ParseDuration(text("retryDelay"))
	}
}

// statusOf returns the status in the body of an error, as in "NOT_FOUND".
func statusOf(body string) string {
	if len(body) > maxBody {
		return ""
	}
	type reply struct {
		Error struct {
			Status string `json:"status"`
		} `json:"error"`
	}
	var one reply
	if json.Unmarshal([]byte(body), &one) == nil {
		return one.Error.Status
	}
	var list []reply // some services wrap the error in a list
	if json.Unmarshal([]byte(body), &list) == nil && len(list) > 0 {
		return list[0].Error.Status
	}
	return ""
}
