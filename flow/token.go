package flow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/stack"
)

// underWay is an operation that goes on in the cloud; without a token there is none.
type underWay struct {
	token      string
	generation int64 // of the spec that it is for
	deletes    bool
}

// deletePrefix tells the kept token of a DELETE from that of a PUT. applyPrefix is for a token of a PUT that starts with
// either, which no poller's does.
const deletePrefix, applyPrefix = "delete:", "apply:"

func (u underWay) kept() string {
	switch {
	case u.token == "":
	case u.deletes:
		return deletePrefix + u.token
	case strings.HasPrefix(u.token, deletePrefix), strings.HasPrefix(u.token, applyPrefix):
		return applyPrefix + u.token
	}
	return u.token
}

func parseKept(kept string, generation int64) underWay {
	token, deletes := strings.CutPrefix(kept, deletePrefix)
	if !deletes {
		token, _ = strings.CutPrefix(kept, applyPrefix)
	}
	return underWay{token: token, generation: generation, deletes: deletes}
}

// tokens keeps operations under way in memory, where resources cannot, or could not, keep them.
type tokens struct {
	n  atomic.Int64 // how many there are, so that the usual pass needs no lock
	mu sync.Mutex
	m  map[string]underWay
}

func (t *tokens) get(key func() string) (underWay, bool) {
	if t.n.Load() == 0 {
		return underWay{}, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	u, ok := t.m[key()]
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

// underWay finds the operation that goes on for a resource. unsaved says that it should be kept with the resource, and is
// in memory.
func (r *Reconciler[T]) underWay(resource T) (u underWay, unsaved bool) {
	if u, ok := r.tokens.get(func() string { return r.ops.Key(resource) }); ok {
		return u, r.ops.SetToken != nil
	}
	if r.ops.Token == nil {
		return underWay{}, false
	}
	return parseKept(r.ops.Token(resource)), false
}

// keep keeps u for a resource, or removes what was kept. It goes on when ctx is canceled: the operation does, too.
func (r *Reconciler[T]) keep(ctx context.Context, key string, resource T, u underWay) (err error) {
	if r.ops.SetToken == nil {
		r.tokens.set(key, u)
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = &chain.PanicError{Value: v, Stack: stack.Panic()}
		}
		if err != nil {
			r.tokens.set(key, u)
			err = fmt.Errorf("flow: the token of an operation could not be kept with %s and is kept in memory: %w", key, err)
			return
		}
		r.tokens.set(key, underWay{})
	}()
	return r.ops.SetToken(context.WithoutCancel(ctx), resource, u.kept(), u.generation)
}

// operate makes the handler at the end of a chain that calls an operation. It notes in the request whether the operation
// goes on, by what the operation itself says: links around it may hide that, or fail before or after it, and the operation
// goes on all the same.
func operate[T any](op func(context.Context, *Request[T]) (Progress, error)) chain.Handler[*Request[T], Progress] {
	return func(ctx context.Context, req *Request[T]) (Progress, error) {
		call := &req.note.op
		if req.Token != call.token {
			// A link calls next again, after the operation was started, or meddles with the token.
			same := *req
			same.Token = call.token
			req = &same
		}
		p, err := Done(), error(nil)
		if op != nil {
			p, err = op(ctx, req)
		}
		switch {
		case p.Token() != "":
			call.token = p.Token()
		case err == nil && p.IsDone(), err != nil && !goesOn(err):
			call.token = ""
		}
		return p, err
	}
}

// goesOn tells whether an error of polling says nothing of the operation that is polled.
func goesOn(err error) bool {
	var response *azcore.ResponseError
	if errors.As(err, &response) && response != nil {
		switch s := response.StatusCode; s {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooManyRequests:
			return true
		default:
			return s >= 500
		}
	}
	// context.DeadlineExceeded is a net.Error, too. The SDK says NonRetriable where it got no credentials or no whole answer,
	// not of what the service answered.
	var network net.Error
	var client interface{ NonRetriable() }
	return errors.Is(err, context.Canceled) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network) || errors.As(err, &client)
}
