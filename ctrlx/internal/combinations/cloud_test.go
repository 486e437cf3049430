package combinations_test

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/simulation"
)

// cloud counts the operations on its resources. Each resource belongs to one
// object, by its UID.
type cloud struct {
	run       *simulation.Run
	mu        sync.Mutex
	resources map[types.UID]*inCloud
	tokens    int
	ended     time.Time // when a process ended or was paused last
}

// inCloud is a resource.
type inCloud struct {
	what   string
	exists bool
	size   int
	op     *operation // until the operator has heard of its end
	last   *operation // of whose end the operator has heard
	failed bool       // an operation has failed
}

// operation is a PUT or a DELETE that takes time.
type operation struct {
	token, verb string
	size        int
	ends        time.Time
	fails       bool
	began       time.Time
	over        time.Time // when the operator heard of its end
	lost        bool      // the process may have ended, or was paused, before it stored the token or its end, or could not remove the token
}

// about is the caller of the cloud: an object, and how its kind is.
type about struct {
	what       string
	uid        types.UID
	generation int64
	size       int
	takes      time.Duration // an operation; 0: it is over at once
	failsOnce  bool          // the first operation fails
	reads      bool          // the operator reads the cloud before each PUT
}

// refusedSize is the size that the cloud refuses for good.
const refusedSize = 13

var (
	errDown    = errors.New("503: the cloud is down")
	errRefused = fmt.Errorf("400: the size %d is not allowed", refusedSize)
	errBroken  = errors.New("500: the operation has failed")
)

// begin begins a call.
func (c *cloud) begin(format string, args ...any) error {
	if c.run.BeforeCall(fmt.Sprintf(format, args...)) {
		return errDown
	}
	return nil
}

// of returns the resource of an object. It is called with the lock held.
func (c *cloud) of(a about) *inCloud {
	r := c.resources[a.uid]
	if r == nil {
		r = &inCloud{what: a.what}
		c.resources[a.uid] = r
	}
	return r
}

// get returns the size of a resource.
func (c *cloud) get(a about) (size int, exists bool, err error) {
	if err := c.begin("GET %s", a.what); err != nil {
		return 0, false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.of(a)
	return r.size, r.exists, nil
}

// put starts a PUT, and returns the token of its operation. Empty: it is over.
func (c *cloud) put(a about) (token string, err error) {
	if err := c.begin("PUT %s of generation %d with size %d", a.what, a.generation, a.size); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.of(a)
	switch {
	case r.op != nil && !r.op.lost:
		c.run.Wrong(ofCloud, "%s: the operator sent a PUT while its %s %s was under way", a.what, r.op.verb, r.op.token)
	case a.reads && r.exists && r.size == a.size:
		c.run.Wrong(ofCloud, "%s: the operator sent a PUT with size %d, which the cloud has", a.what, a.size)
	case a.size == refusedSize:
		return "", errRefused
	}
	return c.start(r, a, "PUT")
}

// remove starts a DELETE, as put. It replaces a PUT.
func (c *cloud) remove(a about) (token string, err error) {
	if err := c.begin("DELETE %s", a.what); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.of(a)
	if r.op != nil && r.op.verb == "DELETE" && !r.op.lost {
		c.run.Wrong(ofCloud, "%s: the operator sent a DELETE while its DELETE %s was under way", a.what, r.op.token)
	}
	if r.op == nil && !r.exists {
		return "", nil
	}
	return c.start(r, a, "DELETE")
}

// start starts an operation. It is called with the lock held.
func (c *cloud) start(r *inCloud, a about, verb string) (token string, err error) {
	c.tokens++
	r.op = &operation{token: fmt.Sprint(verb, "-", c.tokens), verb: verb, size: a.size, began: time.Now(), ends: time.Now().Add(a.takes), fails: a.failsOnce && !r.failed}
	r.op.lost = c.ended.Equal(r.op.began) // a call of a process that is ending
	if a.takes > 0 {
		return r.op.token, nil
	}
	return "", r.end()
}

// loses notes that the process ends or is paused. It may not have stored the tokens
// of the operations that began just now, so these may begin again, nor the end of those
// that ended just now, so these may be polled again.
func (c *cloud) loses() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = time.Now()
	for _, r := range c.resources {
		if r.op != nil && r.op.began.Equal(time.Now()) {
			r.op.lost = true
		}
		if r.last != nil && r.last.over.Equal(time.Now()) {
			r.last.lost = true
		}
	}
}

// keepsToken notes that the operator could not remove the token of an operation that has ended.
func (c *cloud) keepsToken(of types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.resources[of]; r != nil && r.last != nil {
		r.last.lost = true
	}
}

// end ends the operation under way.
func (r *inCloud) end() error {
	op := r.op
	r.op, r.last, op.over, op.lost = nil, op, time.Now(), false
	if op.fails {
		r.failed = true
		return errBroken
	}
	if r.exists = op.verb == "PUT"; r.exists {
		r.size = op.size
	}
	return nil
}

// poll reports whether an operation is over. errBroken: it has failed.
func (c *cloud) poll(a about, token string) (over bool, err error) {
	if err := c.begin("poll %s of %s", token, a.what); err != nil {
		return false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.of(a)
	switch {
	case r.op == nil && r.last != nil && r.last.token == token && r.last.lost:
		return true, map[bool]error{true: errBroken}[r.last.fails]
	case r.op == nil || r.op.token != token:
		c.run.Wrong(ofCloud, "%s: the operator polled %s, which is not under way", a.what, token)
		return true, nil
	case time.Now().Before(r.op.ends):
		return false, nil
	}
	return true, r.end()
}

// began returns the number of the operations so far.
func (c *cloud) began() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tokens
}

// busy reports whether an operation is under way whose end an operator that polls has not heard.
func (c *cloud) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.resources {
		if r.op != nil && time.Since(r.op.ends) < time.Minute {
			return true
		}
	}
	return false
}
