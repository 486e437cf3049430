package flowtest

import (
	"fmt"
	"net/http"
	"time"
)

// Response returns the error of a service that belongs to no SDK. It has an HTTP
// status, a code, a message and the delay that the service asks for. An empty
// message or a zero delay means that the service gave none. The error reports them
// by the methods that [classify.Errors] lists. It may be given to any number of
// scripts.
//
// To test with the errors of a real service, give the scripts errors of its SDK,
// and give [World.Options] their reader.
func Response(status int, code, message string, retryAfter time.Duration) error {
	return &response{status: status, code: code, message: message, after: max(retryAfter, 0)}
}

type response struct {
	status        int
	code, message string
	after         time.Duration
}

func (r *response) Error() string {
	text := fmt.Sprintf("HTTP %d %s", r.status, http.StatusText(r.status))
	if r.code != "" {
		text += ": " + r.code
	}
	if r.message != "" {
		text += ": " + r.message
	}
	return text
}

func (r *response) ErrorCode() string         { return r.code }
func (r *response) ErrorMessage() string      { return r.message }
func (r *response) HTTPStatusCode() int       { return r.status }
func (r *response) RetryAfter() time.Duration { return r.after }
