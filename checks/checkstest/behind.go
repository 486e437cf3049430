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

// behind is the link behind those that are examined. It says what it is told to, and remembers what it was asked.
type behind[R any] struct {
	mu     sync.Mutex
	says   said
	given  R // the request that the chain was asked about; nil: anything goes
	handed int
	other  bool
}

// said is what the links behind say.
type said struct {
	words string
	res   checks.Result
	err   error
}

var (
	goOn     = said{words: "lets the work go on", res: checks.Proceed()}
	sayBlock = said{words: "blocks", res: checks.Block("BlockedBehind", "a link behind blocks", checks.Retry(classify.VerySlow),
		checks.RetryIn(7*time.Second), checks.WaitingFor(checks.Ref{Kind: "Behind", Name: "a"}, checks.Ref{Kind: "Behind", Name: "b"}))}
	saySkip = said{words: "skips", res: checks.Skip("a link behind skips")}
	sayFail = said{words: "fails", err: errors.New("a link behind fails")}
)

// begin sets what it says to the next calls.
func (b *behind[R]) begin(says said, given R) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.says, b.given, b.handed, b.other = says, given, 0, false
}

// end tells what it was asked since.
func (b *behind[R]) end() (handed int, other bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.handed, b.other
}

func (b *behind[R]) link(next chain.Handler[R, checks.Result]) chain.Handler[R, checks.Result] {
	return func(ctx context.Context, req R) (checks.Result, error) {
		says := b.note(req)
		if says.err != nil || !says.res.Equal(checks.Proceed()) {
			return says.res, says.err
		}
		return next(ctx, req)
	}
}

func (b *behind[R]) note(req R) said {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.handed++
	if !isNil(b.given) && any(req) != any(b.given) && !unchanged(b.given, req) {
		b.other = true
	}
	return b.says
}

// in tells whether an answer is what was said behind.
func (s said) in(a answer) bool {
	if s.err != nil {
		return errors.Is(a.err, s.err)
	}
	return a.err == nil && a.res.Equal(s.res)
}
