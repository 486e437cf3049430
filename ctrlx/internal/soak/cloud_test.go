package soak_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
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

// passes holds the passes of an operator, by the reconcile ID of
// controller-runtime.
type passes struct{ of sync.Map }

// onePass is the record of a pass over an object.
type onePass struct {
	mu       sync.Mutex
	uid      types.UID
	versions map[string]bool // versions that the pass has read or written
	live     map[string]bool // versions that the pass has read again, live
	ready    map[string]bool // those of them in which it is Ready
	blocked  string          // the point whose check blocked the pass
	busy     bool            // an operation is under way in the cloud
}

// from returns the pass of a context.
func (p *passes) from(ctx context.Context) *onePass {
	v, _ := p.of.LoadOrStore(controller.ReconcileIDFromContext(ctx), &onePass{versions: map[string]bool{}, live: map[string]bool{}, ready: map[string]bool{}})
	return v.(*onePass)
}

// saw notes a version that the pass has read or written.
func (p *onePass) saw(d database, in map[string]bool) {
	in[d.ResourceVersion] = true
	p.ready[d.ResourceVersion] = meta.IsStatusConditionTrue(d.Status.Conditions, "Ready")
}

// wire connects an operator to the API server, and checks the writes. A killed process
// sends nothing, and gets no answer.
type wire struct {
	o    *operator
	next http.RoundTripper
}

func (w *wire) wrap(next http.RoundTripper) http.RoundTripper {
	w.next = next
	return w
}

// The requests of passes that the wire checks.
const (
	get          = "GET databases"
	patches      = "PATCH databases"
	statusPatch  = "PATCH databases/status"
	statusUpdate = "PUT databases/status" // of the other controller
)

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if w.o.isDead() {
		return nil, errKilled
	}
	what := describe(req)
	says, p := w.o.guard.c.says, w.o.passes.from(req.Context())
	if what == statusPatch {
		body, err := io.ReadAll(req.Body)
		_ = req.Body.Close()
		if err != nil {
			return nil, err
		}
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(body))
		look(p, body, says)
	}
	resp, err := w.next.RoundTrip(req)
	if w.o.isDead() {
		if err == nil {
			_ = resp.Body.Close()
		}
		return nil, errKilled
	}
	if err != nil || resp.StatusCode != http.StatusOK || !slices.Contains([]string{get, patches, statusPatch, statusUpdate}, what) {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	got := &testv1.Database{}
	if err := json.Unmarshal(body, got); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch what {
	case get:
		if got.UID == p.uid {
			p.saw(got, p.live)
		}
	case statusUpdate:
		w.o.guard.look(got)
	default:
		w.o.guard.c.written()
		if got.UID != p.uid && p.uid != "" {
			says("%s of a pass over %s reaches %s", what, p.uid, got.UID)
		}
		p.saw(got, p.versions)
		w.o.guard.look(got)
	}
	return resp, nil
}

// look checks the write of a status.
func look(p *onePass, body []byte, says func(string, ...any)) {
	var patch testv1.Database
	if err := json.Unmarshal(body, &patch); err != nil {
		says("a status cannot be read: %v: %s", err, body)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	v := patch.ResourceVersion
	if p.blocked != "" && !p.ready[v] && meta.IsStatusConditionTrue(patch.Status.Conditions, "Ready") {
		says("a pass that %s has blocked writes Ready=True", p.blocked)
	}
	switch {
	case v == "":
		says("a status is written without the version on which it is based")
	case p.live[v] && onlyConditions(body):
		// The stored operation is written to the object as it was read again after a conflict.
	case !p.versions[v]:
		says("a status is based on version %s, and its pass has read %v", v, p.versions)
	}
}

// onlyConditions reports whether a patch of the status changes nothing but
// conditions.
func onlyConditions(body []byte) bool {
	var patch struct{ Status map[string]json.RawMessage }
	_ = json.Unmarshal(body, &patch)
	delete(patch.Status, "conditions")
	return len(patch.Status) == 0
}

// describe returns the verb and the resource of a request, without names; for a request
// that is not for one object, the verb alone.
func describe(req *http.Request) string {
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/") // apis, group, version, namespaces, namespace, resource, name
	if len(parts) < 7 {
		return req.Method
	}
	return strings.Join(append([]string{req.Method + " " + parts[5]}, parts[7:]...), "/")
}

// guard looks at each database that a process reads or writes. It outlives the processes.
type guard struct {
	c *cloud

	mu   sync.Mutex
	seen map[types.UID]*watched
	once map[string]bool
}

// watched is the record of an object.
type watched struct {
	specs   map[int64]int // sizes by generation
	sizes   map[int]bool
	version int
	foreign string
}

func newGuard(c *cloud) *guard {
	return &guard{c: c, seen: map[types.UID]*watched{}, once: map[string]bool{}}
}

// first reports whether it is called for the first time with what.
func (g *guard) first(what string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	was := g.once[what]
	g.once[what] = true
	return !was
}

func (g *guard) look(d database) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.seen[d.UID]
	if s == nil {
		s = &watched{specs: map[int64]int{}, sizes: map[int]bool{0: true}}
		g.seen[d.UID] = s
	}
	s.specs[d.Generation], s.sizes[d.Spec.Size] = d.Spec.Size, true
	if d.DeletionTimestamp != nil && len(d.Finalizers) == 0 {
		if err := g.c.isAs(d.UID, 0); err != nil {
			g.c.says("%s is gone: %v", d.Name, err)
		}
	}
	record := meta.FindStatusCondition(d.Status.Conditions, ctrlx.ConditionRecord)
	if record != nil && record.Reason == ctrlx.ReasonOperationUnderWay && strings.Count(record.Message, string(d.UID)) < 2 { // the UID, and the UID in the token
		g.c.says("%s %s has the operation of another object: %s", d.Name, d.UID, record.Message)
	}
	if !s.sizes[d.Status.Size] {
		g.c.says("%s %s has the status of another object: size %d", d.Name, d.UID, d.Status.Size)
	}
	c := meta.FindStatusCondition(d.Status.Conditions, "Ready")
	isReady := c != nil && c.Status == metav1.ConditionTrue
	if isReady {
		if want, ok := s.specs[c.ObservedGeneration]; ok && want != d.Status.Size {
			g.c.says("%s %s is ready for generation %d of size %d, but its status has size %d", d.Name, d.UID, c.ObservedGeneration, want, d.Status.Size)
		}
	}
	kind := testv1.GroupVersion.WithKind("Database")
	if c != nil && c.ObservedGeneration == d.Generation && d.DeletionTimestamp == nil && (ready.Kstatus(kind)(d).State == checks.Ready) != isReady {
		g.c.says("kstatus is wrong about %s at generation %d: %+v", d.Name, d.Generation, d.Status.Conditions)
	}
	version, _ := strconv.Atoi(d.ResourceVersion)
	if version < s.version {
		return // of a stale cache
	}
	now := ""
	if c := meta.FindStatusCondition(d.Status.Conditions, foreignCondition); c != nil {
		now = c.Message
	}
	if now < s.foreign {
		g.c.says("%s %s: the condition of another controller was reset from %q to %q", d.Name, d.UID, s.foreign, now)
	}
	s.version, s.foreign = version, now
}
