package soak_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// cloud lives in the process of the tests, so that it outlives operators. Operations take their time. It counts by UID, since
// names are used again.
type cloud struct {
	t           *testing.T
	least, most time.Duration // how long operations take; 0: they are done at once

	mu     sync.Mutex
	rand   *rand.Rand
	things map[types.UID]*thing
	ops    map[string]*operation
	up     map[string]bool      // which processes run, by their names
	first  map[string]time.Time // when a process began its first pass
	count  counts
	wrong  []string
	// heard is called with each question, before it is looked at and after it was, when it was not answered yet.
	heard func(q question, done bool)
}

// counts holds the numbers of calls of the cloud.
type counts struct {
	Passes, Gets, Puts, Polls, Deletes int
	Doubled                            int // PUTs of a generation that there was one for
	Refused                            int // PUTs while an operation was under way
	DoubledDeletes                     int
}

// thing is a resource in the cloud.
type thing struct {
	uid        types.UID
	exists     bool
	size       int
	op         *operation
	puts       map[int64]string // which process made the PUT of a generation last
	generation int64            // of the last PUT
	deleting   bool
	history    []string // what was asked about it last
}

type operation struct {
	token   string
	uid     types.UID
	size    int
	deletes bool
	process string // that began it
	ends    time.Time
	over    bool
}

// question is a call of an operator, answer the answer of the cloud.
type question struct {
	Process    string
	Do         string // up, pass, get, put, poll, delete, wrong
	UID        types.UID
	Generation int64
	Size       int
	Token      string
	Text       string // what is wrong; which cluster a pass is about
}

type answer struct {
	Exists  bool
	Busy    bool // an operation is under way
	Size    int
	Token   string // of an operation that is not done
	Refused string
}

// asker is how an operator gets to the cloud.
type asker func(ctx context.Context, q question) (answer, error)

func newCloud(t *testing.T, r *rand.Rand, least, most time.Duration) *cloud {
	return &cloud{
		t: t, least: least, most: most, rand: rand.New(rand.NewPCG(r.Uint64(), 2)), things: map[types.UID]*thing{}, ops: map[string]*operation{},
		up: map[string]bool{}, first: map[string]time.Time{},
	}
}

// serve makes the cloud reachable for other processes.
func (c *cloud) serve(t *testing.T) (url string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q question
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		a, _ := c.ask(r.Context(), q)
		_ = json.NewEncoder(w).Encode(a)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// asking gives the way to a cloud in another process.
func asking(url string) asker {
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	return func(ctx context.Context, q question) (a answer, err error) {
		body, err := json.Marshal(q)
		if err != nil {
			return a, err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return a, err
		}
		resp, err := c.Do(req)
		if err != nil {
			return a, err
		}
		defer func() { _ = resp.Body.Close() }()
		return a, json.NewDecoder(resp.Body).Decode(&a)
	}
}

func (c *cloud) ask(_ context.Context, q question) (answer, error) {
	c.mu.Lock()
	heard := c.heard
	c.mu.Unlock()
	if heard != nil {
		heard(q, false)
		defer heard(q, true)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	switch q.Do {
	case "up":
		c.up[q.Process] = true
		return answer{}, nil
	case "wrong":
		c.note("%s", q.Text)
		return answer{}, nil
	}
	if c.first[q.Process].IsZero() {
		c.first[q.Process] = now
	}
	th := c.things[q.UID]
	if th == nil {
		th = &thing{uid: q.UID, puts: map[int64]string{}}
		c.things[q.UID] = th
	}
	th.catchUp(now)
	if th.history = append(th.history, fmt.Sprintf("%s %s by %s", now.Format("05.000"), q.Do, q.Process)); len(th.history) > 30 {
		th.history = th.history[1:]
	}
	switch q.Do {
	case "pass":
		c.count.Passes++
		return answer{}, nil
	case "get":
		c.count.Gets++
		return answer{Exists: th.exists, Busy: th.op != nil, Size: th.size}, nil
	case "put":
		return c.put(th, q, now), nil
	case "poll":
		return c.poll(th, q), nil
	case "delete":
		return c.remove(th, q, now), nil
	}
	c.note("the operation %q is unknown", q.Do)
	return answer{}, nil
}

// unheard notes that a process did not get an answer. It does not know of the operation,
// and may begin it again.
func (c *cloud) unheard(q question) {
	c.mu.Lock()
	defer c.mu.Unlock()
	th := c.things[q.UID]
	if q.Do == "put" {
		th.puts[q.Generation] = ""
	}
	if th.op != nil && (q.Do == "put" || q.Do == "delete") {
		th.op.process = ""
	}
}

func (c *cloud) put(th *thing, q question, now time.Time) answer {
	switch {
	case th.deleting:
		c.note("%s is made after its deletion was asked for", q.UID)
	case q.Generation < th.generation:
		c.note("%s is made as of generation %d after %d", q.UID, q.Generation, th.generation)
	}
	if op := th.op; op != nil { // as real clouds do: one at a time
		c.count.Refused++
		if op.process == q.Process {
			c.note("%s: a second operation was begun while one was under way that the same process had begun", q.UID)
		}
		return answer{Refused: "another operation is under way"}
	}
	c.count.Puts++
	if before, ok := th.puts[q.Generation]; ok {
		c.count.Doubled++
		if before == q.Process {
			c.note("%s: there was a second PUT for generation %d by the same process", q.UID, q.Generation)
		}
	}
	th.puts[q.Generation], th.generation = q.Process, q.Generation
	return c.begin(th, operation{uid: th.uid, size: q.Size, process: q.Process}, now)
}

// begin begins an operation, which is done at once if operations take no time.
func (c *cloud) begin(th *thing, op operation, now time.Time) answer {
	if c.most > 0 {
		op.ends = now.Add(between(c.rand, c.least, c.most))
	}
	op.token = fmt.Sprintf("%s of %s", map[bool]string{true: "deletion", false: "operation"}[op.deletes], th.uid)
	op.token = fmt.Sprintf("%s, %d", op.token, len(c.ops))
	c.ops[op.token] = &op
	th.op = &op
	th.catchUp(now)
	return th.how(&op)
}

func (c *cloud) poll(th *thing, q question) answer {
	c.count.Polls++
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

func (c *cloud) remove(th *thing, q question, now time.Time) answer {
	if op := th.op; op != nil && op.deletes {
		c.count.DoubledDeletes++
		if op.process == q.Process {
			c.note("%s: a second deletion was begun while one was under way that the same process had begun", q.UID)
		}
		return th.how(op)
	}
	c.count.Deletes++
	th.deleting = true
	if op := th.op; op != nil { // a deletion puts an end to it
		op.over, th.op = true, nil
	}
	if !th.exists {
		return answer{}
	}
	return c.begin(th, operation{uid: th.uid, deletes: true, process: q.Process}, now)
}

// catchUp does what time has done.
func (th *thing) catchUp(now time.Time) {
	op := th.op
	if op == nil || now.Before(op.ends) {
		return
	}
	op.over, th.op = true, nil
	th.exists = !op.deletes
	if !op.deletes {
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
	if len(c.wrong) < 100 {
		c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
	}
}

// saysWrong is note for others.
func (c *cloud) saysWrong(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note(format, args...)
}

func (c *cloud) hears(heard func(q question, done bool)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = heard
}

func (c *cloud) counts() counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// isUp reports whether a process runs, also as a standby.
func (c *cloud) isUp(process string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.up[process]
}

// firstOf is when a process began its first pass; zero: it did not.
func (c *cloud) firstOf(process string) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.first[process]
}

// soFar fails the test if something was wrong.
func (c *cloud) soFar(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.wrong {
		t.Error(w)
	}
	c.wrong = nil
}
