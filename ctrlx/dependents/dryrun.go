package dependents

import (
	"context"
	"slices"

	"github.com/windlass-go/windlass/chain"
)

// mode says what a Dependents does with an object that needs a write.
type mode uint8

const (
	writing mode = iota
	trying       // the API server tries the write, and stores nothing
	looking      // nothing
)

// DryRun returns d with writes that the API server tries and does not store. A
// result that needs a write has [Result.Pending], is not settled, and says what
// the write would do. Objects are read past the cache, except a
// [Result.Pending] of ReadOnly, and nothing is followed.
// A dry-run counts as no correction of a field.
//
// Apply, Prune and Delete then return what a pass would wait for. For the
// result of each object, call ApplyObject, PruneObject and DeleteObject.
func (d *Dependents) DryRun() *Dependents { return &Dependents{d.core, trying} }

// ReadOnly returns d without writes. A result that needs a write has
// [Result.Pending], and is not settled. An object that is applied is read from
// the cache, and counts as absent if the cache lacks it. Prune and Delete read
// past the cache.
func (d *Dependents) ReadOnly() *Dependents { return &Dependents{d.core, looking} }

// dryRun is the link around the writes of one object.
func dryRun(next Handler) Handler {
	return func(ctx context.Context, r *Request) (Result, error) { return r.try(ctx, next) }
}

// try calls write as the mode says: never for a request that is read-only. The
// outer links see in [Result.Pending] that nothing was written, so they remember
// no write.
func (r *Request) try(ctx context.Context, write Handler) (Result, error) {
	pending := *r
	if pending.looked = r.of.mode == looking; pending.verdict == nil {
		pending.verdict = &verdict{} // a chain without InSync
	}
	switch r.of.mode {
	case writing:
		return write(ctx, r)
	case looking:
		return Result{Outcome: Waiting, Pending: &pending, Object: r.Live, Message: "it was not written yet"}, nil
	}
	res, err := write(ctx, r)
	res.Pending = &pending
	if err == nil && res.Message == "" && (res.Outcome == Created || res.Outcome == Updated) {
		res.Message = "it would be " + res.Outcome.String()
	}
	return res, err
}

// mustTry panics if a chain lacks the link DryRun: an object that ReadOnly must
// not write would count as written.
func mustTry(option string, c Chain) Chain {
	if !slices.ContainsFunc(c.Links(), func(l chain.Link) bool { return l.Name == linkDryRun }) {
		panic(option + ": the link " + linkDryRun + " is missing: keep it around all links that write")
	}
	return c
}

const linkDryRun = "DryRun"
