package armsim

import (
	"fmt"
	"maps"
)

// Tally counts requests. The zero Tally has counted none.
type Tally struct {
	Sent     int            // all requests
	Failed   int            // those that were answered by an error
	Verbs    map[string]int // all requests by what they are: GET, PUT, POLL
	Failures map[string]int // failed ones by what they are, as in "PUT 409 OperationNotAllowed"
}

// Clone is a copy that counts no more.
func (t *Tally) Clone() Tally {
	c := *t
	c.Verbs, c.Failures = maps.Clone(t.Verbs), maps.Clone(t.Failures)
	return c
}

// Request counts a request; verb is what it is: GET, PUT, POLL.
func (t *Tally) Request(verb string) {
	if t.Verbs == nil {
		t.Verbs, t.Failures = map[string]int{}, map[string]int{}
	}
	t.Sent++
	t.Verbs[verb]++
}

// Refused counts a request that was answered by an error, besides [Tally.Request].
func (t *Tally) Refused(verb string, r *Refusal) {
	t.Failed++
	t.Failures[fmt.Sprintf("%s %d %s", verb, r.Status, r.Code)]++
}
