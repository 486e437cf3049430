package armsim

import (
	"fmt"
	"maps"
)

// Tally counts requests. The zero Tally has counted none.
type Tally struct {
	Sent     int            // all requests
	Failed   int            // answered by an error
	Verbs    map[string]int // all requests by verb: GET, PUT, POLL
	Failures map[string]int // by verb, status and code, such as "PUT 409 OperationNotAllowed"
}

// Clone returns a copy that later counts do not change.
func (t *Tally) Clone() Tally {
	c := *t
	c.Verbs, c.Failures = maps.Clone(t.Verbs), maps.Clone(t.Failures)
	return c
}

// Request counts a request. verb is GET, PUT, DELETE or POLL.
func (t *Tally) Request(verb string) {
	if t.Verbs == nil {
		t.Verbs, t.Failures = map[string]int{}, map[string]int{}
	}
	t.Sent++
	t.Verbs[verb]++
}

// Refused counts the error of a request that [Tally.Request] counted.
func (t *Tally) Refused(verb string, r *Refusal) {
	t.Failed++
	t.Failures[fmt.Sprintf("%s %d %s", verb, r.Status, r.Code)]++
}
