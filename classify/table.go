package classify

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
)

// Table is a list of rules. The first rule whose conditions hold decides.
// [Table.Link] makes a link of a Table. A nil Table has no rules.
type Table []Rule

// Chain returns a chain of the one link that [Table.Link] makes.
func (t Table) Chain() Chain { return chain.New(t.Link()) }

// Link makes a link that decides by the table. It calls next for a failure that
// no rule matches. Its name is, for example, "Table(3 rules)". Later changes of
// the table do not change the link. The link looks rules up by their code, so
// the number of codes does not change its cost.
//
// Link panics for a row that cannot be used. It also panics for a row that can
// never decide, because an earlier row with another Retry or After matches each
// of its failures. The message names the row and the reason.
func (t Table) Link() Middleware {
	ix := mustCompile("Table", t)
	name := fmt.Sprintf("Table(%d rules)", len(t))
	if len(t) == 1 {
		name = "Table(1 rule)"
	}
	return chain.Named(name, func(next Handler) Handler {
		return func(ctx context.Context, f *Failure) (Classification, error) {
			if c, ok := ix.classify(ctx, f); ok {
				return c, nil
			}
			return next(ctx, f)
		}
	})
}
