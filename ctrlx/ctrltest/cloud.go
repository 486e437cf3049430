package ctrltest

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/simulation"
)

// ErrCloud is the error of a call of the cloud that a run refuses, or of an answer
// that is lost.
var ErrCloud = errors.New("503: the cloud does not answer")

// Cloud is told by a fake cloud what happens in it. Its methods can be called at the
// same time. The zero Cloud refuses nothing.
type Cloud struct {
	mu         sync.Mutex
	exists     map[string]bool
	operations map[string]*operation
	began      int
	run        *simulation.Run // nil: it refuses nothing
}

// operation is an operation under way.
type operation struct {
	deletes bool
	began   time.Time
	lost    bool // the operator may not know of it
}

// Do does a call of the operator, and returns its error. The error is [ErrCloud] if
// the run refuses the call, or loses the answer after it. name is for the time
// line, such as "PUT record a".
func (c *Cloud) Do(name string, call func() error) error {
	if c.run != nil && c.run.BeforeCall(name) {
		return ErrCloud
	}
	begin := time.Now()
	err := call()
	if err == nil && c.run != nil && c.run.AfterCall(name) {
		c.loses(begin)
		return ErrCloud
	}
	return err
}

// Begin notes that an operation on a resource begins. deletes: it deletes the
// resource, and may replace an operation that does not. An operation that takes no
// time needs no Begin.
func (c *Cloud) Begin(name string, deletes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.operations[name]; c.run != nil && o != nil && !o.lost && (o.deletes || !deletes) {
		c.run.Wrong(RuleTwice, "a second operation began on %s, while the first one was under way", name)
	}
	if c.operations == nil {
		c.operations = map[string]*operation{}
	}
	c.began++
	c.operations[name] = &operation{deletes: deletes, began: time.Now(), lost: c.run != nil && c.run.Dead()}
	c.note("an operation on %s begins", name)
}

// End notes that an operation on a resource is over. exists reports whether the
// resource exists now. It does nothing if that is known.
func (c *Cloud) End(name string, exists bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.operations[name] == nil {
		if c.exists[name] && exists || !c.exists[name] && !exists {
			return // it is known
		}
		c.began++
	}
	delete(c.operations, name)
	if c.exists == nil {
		c.exists = map[string]bool{}
	}
	if c.exists[name] = exists; !exists {
		delete(c.exists, name)
	}
	c.note("%s exists: %t", name, exists)
}

func (c *Cloud) note(format string, args ...any) {
	if c.run != nil {
		c.run.Tell("cloud", format, args...)
	}
}

// loses notes that the operator may not know of the operations that began since a time.
func (c *Cloud) loses(since time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.operations {
		o.lost = o.lost || !o.began.Before(since)
	}
}

// state returns the resources, and the number of operations that began.
func (c *Cloud) state() (names []string, began int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := maps.Clone(c.exists)
	for name := range c.operations {
		if all == nil {
			all = map[string]bool{}
		}
		all[name] = true
	}
	return slices.Sorted(maps.Keys(all)), c.began
}
