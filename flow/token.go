package flow

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/stack"
)

// underWay is an operation under way in the cloud. An empty token means that there is none.
type underWay struct {
	token      string
	generation int64 // of the spec that the operation is for
	deletes    bool
	byLink     bool // a link started it in place of the operation, and only that link knows how to follow it
}

// A stored token begins with deletePrefix if it is that of a DELETE, and then with linkPrefix if a link
// started the operation. plainPrefix comes before a token that itself begins with one of the three; no
// poller makes such a token.
const deletePrefix, linkPrefix, plainPrefix = "delete:", "link:", "apply:"

func (u underWay) kept() string {
	if u.token == "" {
		return ""
	}
	token := u.token
	switch {
	case u.byLink:
		token = linkPrefix + token
	case strings.HasPrefix(token, deletePrefix), strings.HasPrefix(token, linkPrefix), strings.HasPrefix(token, plainPrefix):
		token = plainPrefix + token
	}
	if u.deletes {
		token = deletePrefix + token
	}
	return token
}

func parseKept(kept string, generation int64) underWay {
	u := underWay{generation: generation}
	u.token, u.deletes = strings.CutPrefix(kept, deletePrefix)
	if token, plain := strings.CutPrefix(u.token, plainPrefix); plain {
		u.token = token
	} else {
		u.token, u.byLink = strings.CutPrefix(u.token, linkPrefix)
	}
	return u
}

// tokens holds operations under way in memory, for resources that cannot store a token or failed to.
type tokens struct {
	n  atomic.Int64 // the size of m, so that most passes need neither a key nor the lock
	mu sync.Mutex
	m  map[string]underWay
}

func (t *tokens) empty() bool { return t.n.Load() == 0 }

func (t *tokens) get(key string) (underWay, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	u, ok := t.m[key]
	return u, ok
}

func (t *tokens) set(key string, u underWay) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if u.token == "" {
		delete(t.m, key)
	} else {
		if t.m == nil {
			t.m = map[string]underWay{}
		}
		t.m[key] = u
	}
	t.n.Store(int64(len(t.m)))
}

// underWay returns the operation under way of a resource. unsaved reports that its token is in memory
// and SetToken has yet to store it.
func (r *Reconciler[T]) underWay(resource T) (u underWay, unsaved bool) {
	if !r.tokens.empty() {
		key := r.ops.Key(resource) // called before the lock is taken
		if u, ok := r.tokens.get(key); ok {
			return u, r.ops.SetToken != nil
		}
	}
	if r.ops.Token == nil {
		return underWay{}, false
	}
	return parseKept(r.ops.Token(resource)), false
}

// keep stores u with a resource, or removes the stored token if u has none. It completes even if ctx is
// canceled, because the operation in the cloud continues. If SetToken fails, panics or ends the
// goroutine, the token stays in memory. If a removal fails, the next pass polls the ended operation
// again: it does not start a second one.
func (r *Reconciler[T]) keep(ctx context.Context, key string, resource T, u underWay) (err error) {
	if r.ops.SetToken == nil {
		r.tokens.set(key, u)
		return nil
	}
	returned := false
	defer func() {
		if v := recover(); v != nil {
			err = &chain.PanicError{Value: v, Stack: stack.Panic()}
		} else if !returned {
			err = chain.ErrGoexit
		}
		switch {
		case err == nil:
			r.tokens.set(key, underWay{})
			return
		case u.token == "":
			err = fmt.Errorf("flow: the token of an operation that has ended could not be removed from %s; the next pass polls it again: %w", key, err)
		default:
			err = fmt.Errorf("flow: the token of an operation could not be kept with %s and is kept in memory: %w", key, err)
		}
		r.tokens.set(key, u)
	}()
	err = r.ops.SetToken(context.WithoutCancel(ctx), resource, u.kept(), u.generation)
	returned = true
	return err
}

// said is the state that an operation itself reported in this pass, whatever the links around it
// returned.
type said uint8

const (
	saidNothing  said = iota // the operation was not called
	saidUnknown              // it was called, and its state is unknown
	saidUnderWay             // it is under way in the cloud
	saidDone                 // it ended with success
	saidFailed               // it ended without success
)

// operate makes the handler that calls an operation, at the end of a chain. It records in the request
// the state that the operation itself reports. Links around it may discard that report, or fail before
// or after it, and the operation stays under way all the same.
func operate[T any](op func(context.Context, *Request[T]) (Progress, error)) chain.Handler[*Request[T], Progress] {
	return func(ctx context.Context, req *Request[T]) (Progress, error) {
		n := req.note
		token := n.op.token
		if n.op.byLink {
			token = "" // the operation does not know it
		}
		if req.Token != token {
			// A link calls next again after the operation has started, or it changed the token.
			same := *req
			same.Token = token
			req = &same
		}
		n.said = saidUnknown
		p, err := Done(), error(nil)
		if op != nil {
			p, err = op(ctx, req)
		}
		switch {
		case p.Token() != "":
			n.said, n.op.token, n.op.byLink = saidUnderWay, p.Token(), false
		case err == nil && p.IsDone():
			n.said, n.op.token, n.op.byLink = saidDone, "", false
		case saysFailed(err) || req.Errors.Ended(err):
			n.said, n.op.token, n.op.byLink = saidFailed, "", false
		}
		return p, err
	}
}

// saysFailed reports whether a FailedError is among the errors that err wraps and joins. The value of a
// panic does not count.
func saysFailed(err error) bool {
	return inTree(err, func(e error) (found, leaf bool) {
		switch x := e.(type) {
		case *FailedError:
			return x != nil, true
		case *chain.PanicError:
			return false, true
		}
		return false, false
	})
}

// maxErrors is the number of wrapped and joined errors that inTree visits. It bounds an error that
// unwraps to itself.
const maxErrors = 1000

// inTree searches the errors that err wraps and joins. It does not search inside a leaf. If a method of
// an error panics, it finds nothing.
func inTree(err error, look func(error) (found, leaf bool)) (found bool) {
	if err == nil {
		return false
	}
	defer func() {
		if recover() != nil {
			found = false
		}
	}()
	left := maxErrors
	return search(err, look, &left)
}

func search(err error, look func(error) (found, leaf bool), left *int) bool {
	for err != nil && *left > 0 {
		*left--
		if found, leaf := look(err); found || leaf {
			return found
		}
		switch x := err.(type) {
		case interface{ Unwrap() error }:
			err = x.Unwrap()
		case interface{ Unwrap() []error }:
			for _, branch := range x.Unwrap() {
				if search(branch, look, left) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
	return false
}

// maxShownToken is the longest token, in bytes, that a message shows.
const maxShownToken = 64

// nameOf returns a name of the operation with this token, for messages. A token may hold an address or
// a secret. So nameOf shows only a short token with the characters of an identifier.
func nameOf(token string) string {
	if len(token) > maxShownToken || strings.Contains(token, "//") {
		return "the operation"
	}
	for _, c := range []byte(token) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-_.:/", c) >= 0:
		default:
			return "the operation"
		}
	}
	return "operation " + token
}
