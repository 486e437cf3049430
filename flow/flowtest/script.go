package flowtest

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/windlass-go/windlass/checks"
)

// Script holds the answers to the calls of an operation. Its methods add answers
// and return the script. The zero Script has no answers. A call without an answer
// fails the test. So does an answer that no call used.
type Script[R any] struct {
	name  string
	stage *stage // nil: the run has not begun
	row   []answer[R]
	next  int // the index in row
	timed []answer[R]
	calls int
	// wakes returns the text and the refs of a change to a result; nil: it wakes
	// no resource.
	wakes func(R) (what string, refs []checks.Ref)
}

type answer[R any] struct {
	from   time.Duration
	result R
	err    error
	given  bool // a call used it
}

// Then adds results to the row. Each answers one call.
func (s *Script[R]) Then(results ...R) *Script[R] {
	for _, r := range results {
		s.row = append(s.row, answer[R]{result: r})
	}
	return s
}

// Fail adds errors to the row. Each answers one call. [Response] makes errors
// of a service. An error of a poll leaves the operation under way. Use
// [flow.Failed] for an operation that ends without success. A nil error panics.
func (s *Script[R]) Fail(errs ...error) *Script[R] {
	for _, err := range errs {
		if err == nil {
			panic("flowtest: Fail(nil) is no error: give an error, or a result")
		}
		s.row = append(s.row, answer[R]{err: err})
	}
	return s
}

// From answers all calls from a time of the run on, until the time of the next
// From. For errors that depend on the time, set [World.Operations], with
// [World.Elapsed].
func (s *Script[R]) From(at time.Duration, result R) *Script[R] {
	s.timed = append(s.timed, answer[R]{from: at, result: result})
	return s
}

// scripted is a Script of any type.
type scripted interface {
	schedule()
	unused() []string
}

// schedule adds the changes of an object or a set to the engine.
func (s *Script[R]) schedule() {
	for _, a := range s.timed {
		s.stage.from(s.name, a.from)
		if s.wakes != nil && a.from > 0 {
			what, refs := s.wakes(a.result)
			s.stage.engine.At(a.from, "", what, func() { s.stage.engine.Wake(refs...) })
		}
	}
}

func (s *Script[R]) given() bool { return len(s.row)+len(s.timed) > 0 }

// unused lists the answers that no call used.
func (s *Script[R]) unused() (unused []string) {
	if n := len(s.row) - s.next; n > 0 {
		unused = append(unused, fmt.Sprintf("%s: %d calls, %d of its %d answers in a row were not used", s.name, s.calls, n, len(s.row)))
	}
	for i := range s.timed {
		if a := &s.timed[i]; !a.given {
			unused = append(unused, fmt.Sprintf("%s: its answer from %s on was not used", s.name, Stamp(a.from)))
		}
	}
	return unused
}

// answer records a call and answers it. own is the user's own operation, or
// nil.
func (s *Script[R]) answer(request string, own func() (R, error)) (R, error) {
	a := s.choose(request, own != nil)
	if a.given {
		return a.result, a.err
	}
	return own()
}

// choose finds the answer to a call. An answer that is not given means the
// user's own operation.
func (s *Script[R]) choose(request string, own bool) (a answer[R]) {
	s.stage.mu.Lock()
	defer s.stage.mu.Unlock()
	s.calls++
	s.stage.pass = append(s.stage.pass, request)
	now := s.stage.engine.Elapsed()
	var holds *answer[R]
	for i := range s.timed {
		if t := &s.timed[i]; t.from <= now && (holds == nil || t.from >= holds.from) {
			holds = t
		}
	}
	if s.next < len(s.row) {
		holds = &s.row[s.next]
		s.next++
	}
	switch {
	case holds != nil:
		holds.given = true
		return *holds
	case !own:
		a.given, a.err = true, fmt.Errorf("flowtest: %s was called at %s, call %d, and has no answer: the script of %s has %d in a row",
			request, Stamp(now), s.calls, s.name, len(s.row))
		s.stage.fault = cmp.Or(s.stage.fault, strings.TrimPrefix(a.err.Error(), "flowtest: "))
	}
	return a
}

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
