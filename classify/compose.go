package classify

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/onion"
	"github.com/windlass-go/windlass/internal/run"
)

// Compose makes the handler that classifies by the links of c. If no link
// decides, the table of the service whose reader read the failure decides
// ([NewErrors]). If no row of it matches, general rules decide by the HTTP
// status and the kind of the error. [Table.String] prints them. They make
// errors of the server, the network and deadlines [Slow], and unknown errors,
// too. They make nothing [OnChange].
//
// Make the handler once and call it often. It is safe for concurrent use. A
// context.Canceled counts as canceled ([Classification.Canceled]) only if ctx
// itself is canceled.
//
// A joined error (errors.Join, or fmt.Errorf with several %w, at any depth) is
// split into its causes. All links classify each cause. The cause that waits
// longest wins, by Retry and then by After. The After of the result is the
// longest of all causes, and its Fault is the first one. The message of the
// winner comes first, and those of the others follow, up to some 4,000 bytes. If
// one cause is a panic about which no link decided, the texts of the result are
// those of the panic. The result is canceled only if every cause is. A link finds
// the whole error in [Failure.Joined].
//
// The handler returns no error and does not panic. If a link panics, returns an
// error or returns the zero Classification, the outer links get a [Slow]
// Classification. Its Rule names the link, and its Fault is the error of the
// link. Code and Message are those of the failure. A nil *Failure is Slow, too.
func Compose(c Chain) Handler {
	handle := onion.Compose(c, decide, &onion.Rules[*Failure, Classification]{
		Note: func(_ context.Context, f *Failure) (n *onion.Note, _ any, ok bool) {
			if f == nil {
				return nil, nil, false
			}
			return f.note, nil, true
		},
		Stray: func(*Failure, *chain.Link) error { return errNoFailure },
		Vet:   vet,
	})
	one := func(ctx context.Context, f *Failure) Classification {
		if c.Decorated() { // only observers need to know which link decided
			noted := *f
			noted.note = &onion.Note{}
			f = &noted
			defer run.SetPassed(ctx, false) // no outer link has passed this decision on yet
		}
		c, _ := handle(ctx, f) // vet turns every error into a decision
		return c
	}
	return func(ctx context.Context, f *Failure) (Classification, error) {
		if f == nil {
			return f.failed(noFailure, errNoFailure), nil
		}
		causes, _, ok := causesOf(f.Err)
		if !ok { // f is a literal; NewFailure replaces such an error
			safe := *f
			safe.Err = newUnreadable(f.Err)
			f = &safe
		}
		if len(causes) < 2 {
			return one(ctx, f), nil
		}
		var longest Classification
		for _, err := range causes {
			cause := NewFailure(err, f.APIVersion, f.now, f.errors)
			cause.Joined, cause.Point, cause.Link, cause.Resource = f.Err, f.Point, f.Link, f.Resource
			longest = later(longest, one(ctx, cause))
		}
		return longest, nil
	}
}

// vet turns a fault of the link into a decision.
func vet(_ context.Context, f *Failure, _ any, at *chain.Link, c Classification, err error) (_ Classification, what any, _ error) {
	name := at.Name
	if at == onion.End {
		name = "Default"
	}
	switch _, panicked := err.(*chain.PanicError); {
	case err == errNoFailure:
		c = f.failed(noFailure, err)
	case panicked:
		c = f.failed("LinkPanicked("+name+")", err)
	case err != nil:
		c = f.failed("LinkFailed("+name+")", fmt.Errorf("classify: link %s returned an error: %w", name, err))
	case c.IsZero():
		c = f.failed("LinkUndecided("+name+")", fmt.Errorf("classify: link %s returned the zero Classification: return the result of next or of Failure.As", name))
	}
	return c, c.d, nil
}

// later returns the Classification that waits longer, with the longer After of
// both, and the first Fault. Its message begins with its own one. It has the texts of a panic, if one of
// them is a panic. It keeps the status only if both do. a may be zero.
func later(a, b Classification) Classification {
	if a.IsZero() {
		return b
	}
	winner, loser := a, b
	if longer(b, a) {
		winner, loser = b, a
	}
	retry := winner.Retry()
	switch rulePanic {
	case a.Rule():
		winner, loser = a, a
	case b.Rule():
		winner, loser = b, b
	}
	d := *winner.d
	if all, more := winner.Message(), loser.Message(); len(all) < maxTexts && !strings.Contains(all, more) {
		d.message = all + "; " + more
	}
	d.retry, d.after, d.keepsStatus, d.fault = retry, max(a.After(), b.After()), a.KeepsStatus() && b.KeepsStatus(), cmp.Or(a.Fault(), b.Fault())
	return Classification{&d}
}

// maxTexts is the number of bytes of the message of a joined error after which no other text is added.
const maxTexts = 4000

func longer(a, b Classification) bool {
	switch {
	case a.Canceled() != b.Canceled():
		return b.Canceled()
	case a.Retry() != b.Retry():
		return a.Retry() > b.Retry()
	}
	return a.After() > b.After()
}
