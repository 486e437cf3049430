package armsim

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// pollEvery is the longest Retry-After of an operation under way.
const pollEvery = 30 * time.Second

// operation is a PUT or a DELETE that takes time. It is under way until its
// time is over; nothing sleeps.
type operation struct {
	about Request // the resource
	path  string  // the path of its URL
	state string  // the provisioning state of the resource while it is under way
	until time.Time
}

func (o *operation) underWay(now time.Time) bool { return now.Before(o.until) }

// again returns the Retry-After of the operation: pollEvery, or less if it ends
// sooner. Retry-After has whole seconds only.
func (o *operation) again(now time.Time) time.Duration {
	left := (o.until.Sub(now) + time.Second - 1).Truncate(time.Second)
	return min(left, pollEvery)
}

// begin begins an operation and returns its path. A type that takes no time has
// no operation.
func (s *Server) begin(r *resource, state string) answer {
	takes := s.takes[strings.ToLower(r.about.Type)]
	if takes <= 0 {
		return answer{}
	}
	subscription := strings.Split(r.about.id, "/")[2]
	namespace, _, _ := strings.Cut(r.about.Type, "/")
	op := &operation{
		about: r.about, state: state, until: s.now().Add(takes),
		path: fmt.Sprintf("/subscriptions/%s/providers/%s/locations/global/operationStatuses/%d", subscription, namespace, len(s.operations)+1),
	}
	r.operation = op
	s.operations[strings.ToLower(op.path)] = op
	return answer{operation: op.path, again: op.again(s.now())}
}

// poll returns the status of an operation.
func (s *Server) poll(r Request) answer {
	op := r.operation
	a := answer{status: http.StatusOK, body: map[string]any{"id": op.path, "status": succeeded}}
	if op.underWay(s.now()) {
		a.body["status"], a.again = "InProgress", op.again(s.now())
	}
	return a
}

// busy refuses to change a resource with an operation under way. It accepts
// nil.
func (s *Server) busy(r *resource) *Refusal {
	if r == nil || r.operation == nil || !r.operation.underWay(s.now()) {
		return nil
	}
	return &Refusal{Status: http.StatusConflict, Code: "AnotherOperationInProgress",
		Message: fmt.Sprintf("Another operation is in progress on '%s': it is %s. Try again later.", r.about.Name, r.operation.state)}
}
