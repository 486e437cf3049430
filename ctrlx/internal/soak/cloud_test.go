package soak_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// cloud outlives the processes of the operator. Operations take their time. It counts by UID, since names are used again.
type cloud struct {
	least, most time.Duration // how long operations take

	mu      sync.Mutex
	rand    *rand.Rand
	things  map[types.UID]*thing
	ops     map[string]*operation
	doubled int // PUTs of a generation that there was one for, and PUTs while an operation was under way
	calls   int // of the cloud, and writes to the API server
	wrong   []string
}

// thing is a resource in the cloud.
type thing struct {
	uid        types.UID
	exists     bool
	size       int
	op         *operation
	generation int64 // of the last PUT
	deleting   bool
}

type operation struct {
	token   string
	uid     types.UID
	size    int
	deletes bool
	process string // that began it; empty: it does not know
	ends    time.Time
	over    bool
}

// question is a call of an operator, answer the answer of the cloud.
type question struct {
	Process    string
	Do         string // get, put, poll, delete
	UID        types.UID
	Generation int64
	Size       int
	Token      string
}

type answer struct {
	Exists  bool
	Busy    bool // an operation is under way
	Size    int
	Token   string // of an operation that is not done
	Refused string
}

func newCloud(seed uint64, least, most time.Duration) *cloud {
	return &cloud{least: least, most: most, rand: rand.New(rand.NewPCG(seed, 2)), things: map[types.UID]*thing{}, ops: map[string]*operation{}}
}

func (c *cloud) ask(q question) answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	th := c.things[q.UID]
	if th == nil {
		th = &thing{uid: q.UID}
		c.things[q.UID] = th
	}
	th.catchUp()
	c.calls++
	switch q.Do {
	case "get":
		return answer{Exists: th.exists, Busy: th.op != nil, Size: th.size}
	case "put":
		return c.put(th, q)
	case "poll":
		return c.poll(th, q)
	}
	return c.remove(th, q)
}

// unheard notes that a process did not get an answer. It does not know of the operation,
// and may begin it again.
func (c *cloud) unheard(q question) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if op := c.things[q.UID].op; op != nil && (q.Do == "put" || q.Do == "delete") {
		op.process = ""
	}
}

func (c *cloud) put(th *thing, q question) answer {
	switch {
	case th.deleting:
		c.note("%s is made after its deletion was asked for", q.UID)
	case q.Generation < th.generation:
		c.note("%s is made as of generation %d after %d", q.UID, q.Generation, th.generation)
	}
	if op := th.op; op != nil { // as real clouds do: one at a time
		c.doubled++
		if op.process == q.Process {
			c.note("%s: a second operation was begun while one was under way that the same process had begun", q.UID)
		}
		return answer{Refused: "another operation is under way"}
	}
	if th.generation == q.Generation {
		c.doubled++
	}
	th.generation = q.Generation
	return c.begin(th, operation{uid: th.uid, size: q.Size, process: q.Process})
}

func (c *cloud) begin(th *thing, op operation) answer {
	op.ends = time.Now().Add(c.least + time.Duration(c.rand.Int64N(int64(c.most-c.least))))
	op.token = fmt.Sprintf("operation %d of %s", len(c.ops), th.uid)
	c.ops[op.token] = &op
	th.op = &op
	return th.how(&op)
}

func (c *cloud) poll(th *thing, q question) answer {
	op := c.ops[q.Token]
	switch {
	case op == nil:
		c.note("%s is polled with a token that was never given: %q", q.UID, q.Token)
		return answer{Refused: "no such operation"}
	case op.uid != q.UID:
		c.note("%s is polled with the token of another object: %q", q.UID, q.Token)
	}
	return th.how(op)
}

func (c *cloud) remove(th *thing, q question) answer {
	if op := th.op; op != nil && op.deletes {
		if op.process == q.Process {
			c.note("%s: a second deletion was begun while one was under way that the same process had begun", q.UID)
		}
		return th.how(op)
	}
	th.deleting = true
	if op := th.op; op != nil { // a deletion puts an end to it
		op.over, th.op = true, nil
	}
	if !th.exists {
		return answer{}
	}
	return c.begin(th, operation{uid: th.uid, deletes: true, process: q.Process})
}

// catchUp does what time has done.
func (th *thing) catchUp() {
	op := th.op
	if op == nil || time.Now().Before(op.ends) {
		return
	}
	op.over, th.op = true, nil
	if th.exists = !op.deletes; th.exists {
		th.size = op.size
	}
}

// how is how an operation is.
func (th *thing) how(op *operation) answer {
	if !op.over {
		return answer{Busy: true, Token: op.token}
	}
	return answer{Exists: !op.deletes, Size: op.size}
}

func (c *cloud) note(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// says is note for others.
func (c *cloud) says(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note(format, args...)
}

// written counts a write to the API server.
func (c *cloud) written() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
}

// counted returns the number of calls and writes.
func (c *cloud) counted() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls
}

// observed returns what was wrong so far. If strict, a repeated PUT is wrong, too.
func (c *cloud) observed(strict bool) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.wrong
	if strict && c.doubled > 0 {
		all = append(all, fmt.Sprintf("%d PUTs were repeated, or sent while an operation was under way", c.doubled))
	}
	return all
}

// isAs returns an error if a resource is not of a size, or has an operation under way; size 0: if it exists.
func (c *cloud) isAs(uid types.UID, size int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	th := c.things[uid]
	if th == nil {
		th = &thing{}
	}
	th.catchUp()
	if th.op != nil || th.exists != (size > 0) || size > 0 && th.size != size {
		return fmt.Errorf("%s exists in the cloud: %t, with size %d, under way: %t; want size %d", uid, th.exists, th.size, th.op != nil, size)
	}
	return nil
}

func (c *cloud) uids() []types.UID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.things))
}
