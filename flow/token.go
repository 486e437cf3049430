package flow

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/windlass-go/windlass/chain"
)

// underWay is an operation that goes on in the cloud; without a token there is none.
type underWay struct {
	token      string
	generation int64 // of the spec that it is for
	deletes    bool
}

// deletePrefix tells the kept token of a DELETE from that of a PUT. No poller's token starts with it.
const deletePrefix = "delete:"

func (u underWay) kept() string {
	if u.deletes && u.token != "" {
		return deletePrefix + u.token
	}
	return u.token
}

func parseKept(kept string, generation int64) underWay {
	token, deletes := strings.CutPrefix(kept, deletePrefix)
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

// underWay finds the operation that goes on for a resource.
func (r *Reconciler[T]) underWay(resource T) underWay {
	if u, ok := r.tokens.get(func() string { return r.ops.Key(resource) }); ok {
		return u
	}
	if r.ops.Token == nil {
		return underWay{}
	}
	return parseKept(r.ops.Token(resource))
}

// keep keeps u for a resource, or removes what was kept. It goes on when ctx is canceled: the operation does, too.
func (r *Reconciler[T]) keep(ctx context.Context, resource T, u underWay) (err error) {
	key := r.ops.Key(resource)
	if r.ops.SetToken == nil {
		r.tokens.set(key, u)
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
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
		if op == nil {
			return Done(), nil
		}
		p, err := op(ctx, req)
		switch {
		case err != nil && p.inProgress() && p.p.token != "":
			call.token = p.p.token
		case err != nil:
			if !goesOn(err) {
				call.token = ""
			}
		case p.p == nil:
			err = ErrNoProgress
		case p.IsDone():
			call.token = ""
		case p.p.token == "":
			err = ErrNoToken
		default:
			call.token = p.p.token
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
	var network net.Error
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network)
}
