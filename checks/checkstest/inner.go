package checkstest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

// inner is the link after the tested links. It returns a given answer and
// records its requests.
type inner[R any] struct {
	mu     sync.Mutex
	answer innerAnswer
	given  R // the expected request; nil: any
	called int
	other  bool
}

// innerAnswer is an answer of the inner links.
type innerAnswer struct {
	verb string
	res  checks.Result
	err  error
}

var (
	innerProceeds = innerAnswer{verb: "proceeds", res: checks.Proceed()}
	innerBlocks   = innerAnswer{verb: "blocks", res: checks.Block("InnerBlocks", "an inner link blocks", checks.WithRetry(classify.VerySlow),
		checks.WithAfter(7*time.Second), checks.WithWaitingFor(checks.Ref{Kind: "Inner", Name: "a"}, checks.Ref{Kind: "Inner", Name: "b"}))}
	innerSkips = innerAnswer{verb: "skips", res: checks.Skip("an inner link skips")}
	innerFails = innerAnswer{verb: "fails", err: errors.New("an inner link fails")}
)

// begin sets the answer to the next calls.
func (b *inner[R]) begin(answer innerAnswer, given R) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answer, b.given, b.called, b.other = answer, given, 0, false
}

// end returns the number of calls since begin, and whether one had another
// request.
func (b *inner[R]) end() (called int, other bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.called, b.other
}

func (b *inner[R]) link(next chain.Handler[R, checks.Result]) chain.Handler[R, checks.Result] {
	return func(ctx context.Context, req R) (checks.Result, error) {
		answer := b.note(req)
		if answer.err != nil || !answer.res.Equal(checks.Proceed()) {
			return answer.res, answer.err
		}
		return next(ctx, req)
	}
}

func (b *inner[R]) note(req R) innerAnswer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.called++
	if !isNil(b.given) && any(req) != any(b.given) && !unchanged(b.given, req) {
		b.other = true
	}
	return b.answer
}

// in reports whether an answer is the answer of the inner links.
func (s innerAnswer) in(a answer) bool {
	if s.err != nil {
		return errors.Is(a.err, s.err)
	}
	return a.err == nil && a.res.Equal(s.res)
}
