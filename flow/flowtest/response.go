package flowtest

import (
	"fmt"
	"net/http"
	"time"
)

// Response returns an error of a service that belongs to no SDK. It has an HTTP
// status, a code, a message and the delay that the service asks for. An empty
// code or message, and a delay that is not positive, mean that the service gave
// none. The error has the methods that [classify.Errors] lists. Several scripts
// may use one error.
//
// To test with the errors of a real service, use errors of its SDK, and add
// their reader to [World.Options].
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
