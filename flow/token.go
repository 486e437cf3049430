package flow

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/windlass-go/windlass/internal/errtree"
	"github.com/windlass-go/windlass/internal/onion"
)

// underWay is an operation under way in the cloud; none if token is empty.
type underWay struct {
	token      string
	generation int64 // of the spec that the operation is for
	deletes    bool
	byLink     bool // a link started it in place of the operation, and only that link knows how to follow it; has no meaning without a token
}

// A stored token begins with deletePrefix if it is that of a DELETE, and then
// with linkPrefix if a link started the operation. plainPrefix comes before a
// token that itself begins with one of the three; no poller makes such a token.
const deletePrefix, linkPrefix, plainPrefix = "delete:", "link:", "apply:"

func (u underWay) kept() string {
	token := u.token
	switch {
	case token == "":
		return ""
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

// underWay returns the operation under way of a resource. unsaved reports that
// its token is in memory and SetToken has yet to store it.
func (r *Reconciler[T]) underWay(resource T) (u underWay, unsaved bool) {
	if r.tokens.Len() > 0 { // otherwise the pass needs no key
		if u, ok := r.tokens.Get(r.ops.Key(resource)); ok {
			return u, r.ops.SetToken != nil
		}
	}
	if r.ops.Token == nil {
		return underWay{}, false
	}
	return parseKept(r.ops.Token(resource)), false
}

// keep stores u with a resource, or removes the stored token if u has none. It
// completes even if ctx is canceled, because the operation in the cloud
// continues. If SetToken fails, panics or ends the goroutine, the token stays
// in memory. If a removal fails, the next pass polls the ended operation again:
// it does not start a second one.
func (r *Reconciler[T]) keep(ctx context.Context, key string, resource T, u underWay) error {
	if u.token == "" {
		r.tokens.Delete(key)
	} else {
		r.tokens.Put(key, func(v *underWay) { *v = u }, nil)
	}
	if r.ops.SetToken == nil {
		return nil
	}
	err := r.setToken(ctx, resource, u)
	switch {
	case err == nil:
		r.tokens.Delete(key)
		return nil
	case u.token == "":
		return fmt.Errorf("flow: the token of an operation that has ended could not be removed from %s; the next pass polls it again: %w", key, err)
	}
	return fmt.Errorf("flow: the token of an operation could not be kept with %s and is kept in memory: %w", key, err)
}

func (r *Reconciler[T]) setToken(ctx context.Context, resource T, u underWay) (err error) {
	defer onion.Catch(&err)
	return r.ops.SetToken(context.WithoutCancel(ctx), resource, u.kept(), u.generation)
}

// said is the state that an operation itself reported in this pass, whatever
// the links around it returned.
type said uint8

const (
	saidNothing  said = iota // the operation was not called
	saidUnknown              // it was called, and its state is unknown
	saidUnderWay             // it is under way in the cloud
	saidDone                 // it ended with success
	saidFailed               // it ended without success
)

// operate makes the handler that calls an operation, at the end of a chain. It
// records in the request the state that the operation itself reports. Links
// around it may discard that report, or fail before or after it, and the
// operation stays under way all the same.
func operate[T any](op func(context.Context, *Request[T]) (Progress, error)) Handler[T] {
	return func(ctx context.Context, req *Request[T]) (Progress, error) {
		n := req.note
		token := n.op.token
		if n.op.byLink {
			token = "" // the operation does not know it
		}
		if req.Token != token {
			// A link calls next again, or it changed the token.
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
			n.said, n.op.token = saidDone, ""
		case saysFailed(err) || req.Errors.Ended(err):
			n.said, n.op.token = saidFailed, ""
		}
		return p, err
	}
}

// linksReturned records an operation that a link runs in place of the
// operation, and the end of it. The links around the operation returned p and
// err.
func (n *note) linksReturned(p Progress, err error) {
	switch {
	case err == nil && (n.op.token == "" || n.linkOnly()):
		n.op.token, n.op.byLink = p.Token(), true // Skip has no token: the operation of the link has ended
	case n.said != saidUnderWay && !p.inProgress() && saysFailed(err):
		n.op.token = ""
	}
}

// saysFailed reports whether a FailedError is among the errors that err wraps
// and joins. The value of a panic does not count.
func saysFailed(err error) bool {
	return errtree.Any(err, func(e error) bool {
		failed, _ := e.(*FailedError)
		return failed != nil
	})
}

// plainToken matches a token that a message may show: a short identifier. Other
// tokens may hold an address or a secret.
var plainToken = regexp.MustCompile(`^[\w.:/-]{1,64}$`)

// nameOf returns a name of the operation with this token, for messages.
func nameOf(token string) string {
	if strings.Contains(token, "//") || !plainToken.MatchString(token) {
		return "the operation"
	}
	return "operation " + token
}
