// Package kusto is a simulated database service: the example has it in place of
// the SDK of a cloud. Copy nothing from here.
package kusto

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
)

// Cloud is a simulated cloud in memory. Its operations take time, and it
// refuses requests as a real cloud does. The clock decides when an operation
// ends, so nothing runs in the background. Its errors are of type [*Refusal].
type Cloud struct {
	ID string // another one for each cloud

	// Began and Ended are told of each operation. They must not call the cloud.
	Began func(id string, deletes bool)
	Ended func(id string, exists bool)
	// Do does each request. It may refuse the request, or lose its response.
	Do func(name string, request func() error) error

	mu         sync.Mutex
	now        func() time.Time
	things     map[string]*Thing
	operations map[string]*operation // by token
	started    int                   // operations
	away       int                   // the number of next polls that fail with 503
	requests   []Call
}

// Refusal is an error of the cloud. The library reads it by its methods, so
// this cloud needs no reader.
type Refusal struct {
	status        int
	code, message string
}

func (r *Refusal) Error() string        { return r.code + ": " + r.message }
func (r *Refusal) ErrorCode() string    { return r.code }
func (r *Refusal) ErrorMessage() string { return r.message }
func (r *Refusal) HTTPStatusCode() int  { return r.status }

// Thing is a cluster or a database in the cloud.
type Thing struct {
	ProvisioningState v1.ProvisioningState
	State             v1.State // of clusters
	SKU               string   // of clusters
	Size              int32    // of clusters
	RetentionDays     int32    // of databases
	Password          string   // of databases; no response has it
	PasswordVersion   string   // the client's name for the password, like a tag

	operation *operation // the last one
}

// operation is an operation that takes time.
type operation struct {
	token, id string
	until     time.Time // its end
	deletes   bool
	then      v1.State // the state of a cluster after serves
	serves    time.Duration
	fails     *Refusal // the error at its end; nil: success
	before    Thing    // the thing after an error
	over      bool     // Cloud.Ended was told of its end
}

// Status is the response to a poll.
type Status struct {
	Done   bool
	Failed error         // the error of an operation that failed; else nil
	Again  time.Duration // the interval until the next poll of an operation under way
}

// Call is a request that the cloud received.
type Call struct {
	At          time.Time // of the machine's clock
	Verb, ID    string
	Correlation string // the client's text about its cause
	Refused     string // the code of a 4xx other than 404; else empty
}

// The durations of operations. A created or started cluster serves some time
// after the operation ends.
const (
	ClusterTakes   = 3 * time.Second
	ClusterServes  = 1500 * time.Millisecond
	ClusterStops   = 800 * time.Millisecond
	DatabaseTakes  = 500 * time.Millisecond
	AskAgainIn     = 200 * time.Millisecond // the Retry-After of polls
	ClusterDeleted = time.Second
)

// LongestRetention is in days. The cloud accepts a longer one, but its
// operation fails.
const LongestRetention = 3650

// New returns an empty cloud. now is its clock.
func New(now func() time.Time) *Cloud {
	ignore := func(string, bool) {}
	do := func(_ string, request func() error) error { return request() }
	return &Cloud{ID: rand.Text(), now: now, Began: ignore, Ended: ignore, Do: do, things: map[string]*Thing{}, operations: map[string]*operation{}}
}

// Get returns a thing.
func (c *Cloud) Get(id string) (found Thing, err error) {
	err = c.request("GET", id, "", func(t *Thing) { found = t.shown() })
	return found, err
}

// request does a request that the cloud accepts.
func (c *Cloud) request(verb, id, correlation string, accepted func(*Thing)) error {
	return c.Do(verb+" "+id, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		t, err := c.admit(verb, id, correlation)
		if err == nil {
			accepted(t)
		}
		return err
	})
}

// shown returns the thing in a response.
func (t *Thing) shown() Thing {
	shown := *t
	shown.Password = ""
	return shown
}

// Put begins to create or update a thing. correlation names the cause of the
// request, like x-ms-correlation-request-id.
func (c *Cloud) Put(id string, desired Thing, correlation string) (made Thing, token string, err error) {
	err = c.request("PUT", id, correlation, func(t *Thing) { made, token = c.put(t, id, desired) })
	return made, token, err
}

func (c *Cloud) put(t *Thing, id string, desired Thing) (made Thing, token string) {
	op := &operation{id: id, until: c.now().Add(DatabaseTakes)}
	provisioning := v1.ProvisioningUpdating
	if t == nil {
		t = &Thing{}
		c.things[id] = t
		provisioning = v1.ProvisioningCreating
		if IsCluster(id) {
			t.State = v1.StateCreating
			op.until, op.then, op.serves = c.now().Add(ClusterTakes), v1.StateRunning, ClusterServes
		}
	} else if last := t.operation; last.then != "" && t.State != last.then { // the cluster still starts or stops
		op.then, op.serves = last.then, last.serves
	}
	if op.before = *t; desired.RetentionDays > LongestRetention {
		op.fails = &Refusal{http.StatusConflict, "RetentionTooLong",
			fmt.Sprintf("The cluster has room for %d days, not for %d.", LongestRetention, desired.RetentionDays)}
	}
	t.SKU, t.Size, t.RetentionDays, t.ProvisioningState = desired.SKU, desired.Size, desired.RetentionDays, provisioning
	t.Password, t.PasswordVersion = desired.Password, desired.PasswordVersion
	token = c.begin(t, op)
	return t.shown(), token
}

// Post begins to start or stop a cluster.
func (c *Cloud) Post(id, action, correlation string) (changed Thing, token string, err error) {
	err = c.request("POST "+action, id, correlation, func(t *Thing) {
		op := &operation{id: id, until: c.now().Add(ClusterStops), then: v1.StateStopped}
		t.State, t.ProvisioningState = v1.StateStopping, v1.ProvisioningUpdating
		if action == "start" {
			t.State = v1.StateStarting
			op.then, op.serves = v1.StateRunning, ClusterServes
		}
		changed, token = *t, c.begin(t, op)
	})
	return changed, token, err
}

// Delete begins to delete a thing. The databases of a cluster are deleted with
// it.
func (c *Cloud) Delete(id, correlation string) (token string, err error) {
	err = c.request("DELETE", id, correlation, func(t *Thing) {
		op := &operation{id: id, until: c.now().Add(DatabaseTakes), deletes: true}
		if IsCluster(id) {
			op.until = c.now().Add(ClusterDeleted)
			t.State = v1.StateDeleting
		}
		t.ProvisioningState = v1.ProvisioningDeleting
		token = c.begin(t, op)
	})
	return token, err
}

// Poll polls an operation. An error means that the poll failed, except 404: the
// cloud does not know the operation.
func (c *Cloud) Poll(token string) (s Status, err error) {
	err = c.Do("POLL "+token, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.settle()
		op := c.operations[token]
		switch {
		case c.away > 0:
			c.away--
			return c.refuse("POLL", token, "", http.StatusServiceUnavailable, "ServiceUnavailable", "Try again later.")
		case op == nil:
			return c.refuse("POLL", token, "", http.StatusNotFound, "OperationNotFound", "There is no such operation.")
		case c.now().Before(op.until):
			s.Again = AskAgainIn
		case op.fails != nil:
			s.Failed = op.fails
		default:
			s.Done = true
		}
		c.note(Call{Verb: "POLL", ID: op.id})
		return nil
	})
	return s, err
}

// Requests returns the requests so far.
func (c *Cloud) Requests() []Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Call(nil), c.requests...)
}

// Password returns the password of a database, which no response has.
func (c *Cloud) Password(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	if t := c.things[id]; t != nil {
		return t.Password
	}
	return ""
}

// FailPolls makes the next polls fail with 503.
func (c *Cloud) FailPolls(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away = n
}

// ForgetOperation forgets the last operation of a thing, which keeps its state.
func (c *Cloud) ForgetOperation(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.operations, c.things[id].operation.token)
	c.things[id].operation = &operation{id: id}
}

// Remove removes a thing, as another client does.
func (c *Cloud) Remove(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.things, id)
}

// admit accepts or refuses a request and returns its thing. A PUT of a missing
// thing is accepted with nil.
func (c *Cloud) admit(verb, id, correlation string) (*Thing, error) {
	c.settle()
	refuse := func(status int, code, format string, args ...any) error {
		return c.refuse(verb, id, correlation, status, code, fmt.Sprintf(format, args...))
	}
	t := c.things[id]
	if owner, _, ok := strings.Cut(id, "/databases/"); ok {
		switch cluster := c.things[owner]; {
		case cluster == nil:
			return nil, refuse(http.StatusNotFound, "ParentResourceNotFound", "The cluster '%s' was not found.", owner)
		case cluster.State != v1.StateRunning:
			return nil, refuse(http.StatusBadRequest, "BadRequest", "Cannot fetch databases while resource is in state '%s'.", cluster.State)
		}
	}
	switch {
	case t == nil && verb != "PUT":
		return nil, refuse(http.StatusNotFound, "ResourceNotFound", "'%s' was not found.", id)
	case t != nil && verb != "GET" && c.now().Before(t.operation.until):
		return nil, refuse(http.StatusConflict, "AnotherOperationInProgress", "'%s' is %s. Try again later.", id, t.ProvisioningState)
	}
	c.note(Call{Verb: verb, ID: id, Correlation: correlation})
	return t, nil
}

// settle ends the operations whose time is over.
func (c *Cloud) settle() {
	for id, t := range c.things {
		op := t.operation
		switch {
		case c.now().Before(op.until):
			continue
		case op.deletes:
			for other := range c.things {
				if other == id || strings.HasPrefix(other, id+"/") {
					delete(c.things, other)
					c.Ended(other, false)
				}
			}
			continue
		case op.fails != nil:
			t.RetentionDays, t.Password, t.PasswordVersion = op.before.RetentionDays, op.before.Password, op.before.PasswordVersion
			t.ProvisioningState = v1.ProvisioningFailed
		default:
			t.ProvisioningState = v1.ProvisioningSucceeded
			if op.then != "" && !c.now().Before(op.until.Add(op.serves)) {
				t.State = op.then
			}
		}
		if !op.over {
			op.over = true
			c.Ended(id, true)
		}
	}
}

func (c *Cloud) begin(t *Thing, op *operation) (token string) {
	c.started++
	op.token = fmt.Sprintf("%s/operations/%d", op.id, c.started)
	c.operations[op.token] = op
	t.operation = op
	c.Began(op.id, op.deletes)
	return op.token
}

func (c *Cloud) note(a Call) {
	a.At = time.Now()
	c.requests = append(c.requests, a)
}

// refuse returns the error of a request. A 404 is not recorded as refused.
func (c *Cloud) refuse(verb, id, correlation string, status int, code, message string) error {
	refused := code
	if status == http.StatusNotFound {
		refused = ""
	}
	c.note(Call{Verb: verb, ID: id, Correlation: correlation, Refused: refused})
	return &Refusal{status, code, message}
}

// ClusterID and DatabaseID return the ID of a thing. A namespace is a resource
// group.
func ClusterID(namespace, name string) string {
	return fmt.Sprintf("/resourceGroups/%s/clusters/%s", cmp.Or(namespace, "default"), name)
}

func DatabaseID(namespace, cluster, name string) string {
	return ClusterID(namespace, cluster) + "/databases/" + name
}

// IsCluster reports whether an ID is of a cluster.
func IsCluster(id string) bool { return !strings.Contains(id, "/databases/") }
