package flowtest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/pass"
	"github.com/windlass-go/windlass/internal/run"
)

// stage is the part of a World that does not depend on the type of the
// resource: the engine, and the record of the running pass. Links may use other
// goroutines, so a lock protects the record.
type stage struct {
	engine    Engine // locks its clock itself
	mu        sync.Mutex
	all       []string // all requests so far
	rec       record
	fault     string             // the first call without an answer
	watched   bool               // the flow was made with the options of the world
	where     []*chain.Link      // the links that were entered and not left
	ended     *chain.Link        // the innermost link that ended its goroutine; nil: none
	cancel    context.CancelFunc // of the running pass
	restarts  bool
	tokenLost bool // SetToken failed, so the token is only in memory
}

// record has the requests and operations of a pass.
type record struct {
	requests   []string
	operations []operation
	deleting   bool // when the pass began
	inSync     bool // the last report of Get
	// The progress of Apply and Delete in this pass, reported by their points,
	// or by the operations themselves.
	apply, remove reach
}

// operation is a call of Apply or Delete.
type operation struct {
	point, token string
	inSync       bool   // Get reported InSync before, in the same pass
	nextToken    string // the token of the next poll; empty: no operation is under way, or it is unknown
}

// reach is the progress of an operation in a pass.
type reach uint8

const (
	uncalled reach = iota
	failed
	underWay
	done
)

func reached(p flow.Progress, err error) reach {
	switch {
	case err == nil && p.IsDone():
		return done
	case err == nil && p.Token() != "":
		return underWay
	}
	return failed
}

func (st *stage) requests() []string {
	st.mu.Lock()
	defer st.mu.Unlock()
	return slices.Clone(st.all)
}

// requested records a request. The stage is locked.
func (st *stage) requested(request string) {
	st.all = append(st.all, request)
	st.rec.requests = append(st.rec.requests, request)
}

// unscripted records the first call without an answer. The stage is locked.
func (st *stage) unscripted(fault string) error {
	if st.fault == "" {
		st.fault = fault
	}
	return errors.New("flowtest: " + fault)
}

func (st *stage) observed(seen flow.Observation, err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.rec.inSync = err == nil && seen.Presence == checks.Present && seen.InSync
}

func (st *stage) begins(point, token string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.rec.operations = append(st.rec.operations, operation{point: point, token: token, inSync: st.rec.inSync, nextToken: token})
	st.rec.reaches(point, failed)
}

// ends records the answer of an operation. The operation stays under way unless
// the answer reports its end.
func (st *stage) ends(point string, p flow.Progress, err error, errs classify.Errors) {
	_, failed := errors.AsType[*flow.FailedError](err)
	over := err == nil && p.IsDone() || failed || errs.Ended(err)
	st.mu.Lock()
	defer st.mu.Unlock()
	if n := len(st.rec.operations); n > 0 && (over || p.Token() != "") {
		st.rec.operations[n-1].nextToken = p.Token()
	}
	st.rec.reaches(point, reached(p, err))
}

func (r *record) reaches(point string, how reach) {
	switch point {
	case flow.PointApply:
		r.apply = how
	case flow.PointDelete:
		r.remove = how
	}
}

func (st *stage) storedToken(ok bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.tokenLost = !ok
}

func (st *stage) restart() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.restarts = true
	if st.cancel != nil {
		st.cancel()
	}
}

// restarted reports whether Restart was called since the last call of
// restarted.
func (st *stage) restarted() (restarts, tokenLost bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	restarts, st.restarts = st.restarts, false
	return restarts, st.tokenLost
}

// begin begins a pass and returns its context.
func (st *stage) begin(deleting bool) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	st.mu.Lock()
	defer st.mu.Unlock()
	st.rec = record{deleting: deleting}
	st.ended, st.cancel = nil, cancel
	return ctx, cancel
}

// end ends a pass and returns its record.
func (st *stage) end() (rec record, fault string, watched bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.cancel = nil
	return st.rec, st.fault, st.watched
}

// place returns the position of the running pass: "PreCheck/Quota", or "Apply"
// in the operation itself.
func (st *stage) place() string {
	st.mu.Lock()
	defer st.mu.Unlock()
	l := st.ended
	if n := len(st.where); l == nil && n > 0 {
		l = st.where[n-1]
	}
	switch {
	case l == nil || pass.Of(l) == pass.Pass:
		return "no point of the flow"
	case pass.Of(l) == pass.Point:
		return l.Name
	}
	return l.Point + "/" + l.Name
}

// Enabled implements chain.Observer.
func (st *stage) Enabled(context.Context) bool { return true }

// Enter implements chain.Observer.
func (st *stage) Enter(ctx context.Context, link *chain.Link) context.Context {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.watched = true
	st.where = append(st.where, link)
	return ctx
}

// Exit implements chain.Observer. The result of a point overrides the answer of
// its operation, because a link may replace the operation.
func (st *stage) Exit(_ context.Context, link *chain.Link, exit chain.Exit) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for i := len(st.where) - 1; i >= 0; i-- {
		if st.where[i] == link {
			st.where = slices.Delete(st.where, i, i+1)
			break
		}
	}
	if exit.Err == run.ErrGoexit && st.ended == nil {
		st.ended = link
	}
	if pass.Of(link) != pass.Point || exit.Panic != nil {
		return
	}
	switch r := exit.Result.(type) {
	case flow.Observation:
		st.rec.inSync = exit.Err == nil && r.Presence == checks.Present && r.InSync
	case flow.Progress:
		st.rec.reaches(link.Name, reached(r, exit.Err))
	}
}
