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

// inner is the link after the links under test. It returns a given result and
// records its requests.
type inner[R any] struct {
	mu     sync.Mutex
	says   said
	given  R // the request of the call; nil: any
	handed int
	other  bool
}

// said is the answer of the inner links.
type said struct {
	words string
	res   checks.Result
	err   error
}

var (
	goOn     = said{words: "proceeds", res: checks.Proceed()}
	sayBlock = said{words: "blocks", res: checks.Block("InnerBlocks", "an inner link blocks", checks.WithRetry(classify.VerySlow),
		checks.WithAfter(7*time.Second), checks.WithWaitingFor(checks.Ref{Kind: "Inner", Name: "a"}, checks.Ref{Kind: "Inner", Name: "b"}))}
	saySkip = said{words: "skips", res: checks.Skip("an inner link skips")}
	sayFail = said{words: "fails", err: errors.New("an inner link fails")}
)

// begin sets the answer to the next calls.
func (b *inner[R]) begin(says said, given R) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.says, b.given, b.handed, b.other = says, given, 0, false
}

// end returns how often inner was called since begin, and whether with another
// request.
func (b *inner[R]) end() (handed int, other bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.handed, b.other
}

func (b *inner[R]) link(next chain.Handler[R, checks.Result]) chain.Handler[R, checks.Result] {
	return func(ctx context.Context, req R) (checks.Result, error) {
		says := b.note(req)
		if says.err != nil || !says.res.Equal(checks.Proceed()) {
			return says.res, says.err
		}
		return next(ctx, req)
	}
}

func (b *inner[R]) note(req R) said {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.handed++
	if !isNil(b.given) && any(req) != any(b.given) && !unchanged(b.given, req) {
		b.other = true
	}
	return b.says
}

// in reports whether an answer is the answer of the inner links.
func (s said) in(a answer) bool {
	if s.err != nil {
		return errors.Is(a.err, s.err)
	}
	return a.err == nil && a.res.Equal(s.res)
}
