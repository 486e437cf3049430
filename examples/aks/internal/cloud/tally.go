package cloud

import (
	"fmt"
	"maps"
)

// Tally counts requests.
type Tally struct {
	Sent     int            // all requests
	Failed   int            // those that were answered by an error
	Verbs    map[string]int // all requests by what they are: GET, PUT, POLL
	Failures map[string]int // failed ones by what they are, as in "PUT 409 OperationNotAllowed"
}

// Tally is what was counted up to now.
func (c *Cloud) Tally() Tally {
	t := c.tally
	t.Verbs, t.Failures = maps.Clone(t.Verbs), maps.Clone(t.Failures)
	return t
}

func (t *Tally) request(verb string) {
	if t.Verbs == nil {
		t.Verbs, t.Failures = map[string]int{}, map[string]int{}
	}
	t.Sent++
	t.Verbs[verb]++
}

func (t *Tally) failure(verb string, r *Refusal) {
	t.Failed++
	t.Failures[fmt.Sprintf("%s %d %s", verb, r.Status, r.Code)]++
}
