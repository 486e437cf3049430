package classify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/linktag"
	"github.com/windlass-go/windlass/internal/probe"
	"github.com/windlass-go/windlass/internal/text"
)

// Table is a list of rules. The first rule whose conditions hold decides.
// [Table.Link] makes a link of a Table. A nil Table has no rules.
type Table []Rule

// Chain returns a chain of the one link that [Table.Link] makes.
func (t Table) Chain() Chain { return chain.New(t.Link()) }

// Link makes a link that decides by the table. It calls next for a failure that
// no rule matches. Its name is, for example, "Table(3 rules)". Later changes of
// the table do not change the link.
//
// Link panics for a row that cannot be used. It also panics for a row that can
// never decide, because an earlier row with another Retry or After matches each
// of its failures. The message names the row and the reason.
func (t Table) Link() Middleware {
	all := mustCompile("Table", t)
	name := fmt.Sprintf("Table(%d rules)", len(t))
	if len(t) == 1 {
		name = "Table(1 rule)"
	}
	return probe.Named(probe.Answer{Name: name, Source: probe.Caller(), Tag: t.lines()}, func(next Handler) Handler {
		return func(ctx context.Context, f *Failure) (Classification, error) {
			if c, ok := all.classify(ctx, f); ok {
				return c, nil
			}
			return next(ctx, f)
		}
	})
}

// lines returns a line for each rule, with its verdict.
func (t Table) lines() (all linktag.Rules) {
	for _, r := range t {
		all = append(all, text.Line(r.String()+": "+r.verdict(), text.Name))
	}
	return all
}

// mustCompile compiles t, or panics. where names the caller in the message.
func mustCompile(where string, t Table) rows {
	all, err := compile(t)
	if err != nil {
		panic(fmt.Sprintf("classify: %s: %v", where, err))
	}
	return all
}

// rows is a parsed table.
type rows []row

// compile returns the rows of a table, and an error for the first row that
// cannot be used or that an earlier row contradicts.
func compile(t Table) (all rows, err error) {
	for i, r := range t {
		row, wrong := r.parse()
		if wrong != nil && err == nil {
			err = fmt.Errorf("row %d of %d (%s) cannot be used: %w", i+1, len(t), r, wrong)
		}
		row.covering = all.cover(&row)
		for _, j := range row.covering {
			if (t[j].Retry != r.Retry || t[j].After != r.After) && err == nil {
				err = fmt.Errorf("row %d of %d (%s, %s) never decides: row %d (%s, %s) matches every failure that it would match: move it up, or leave one of them out",
					i+1, len(t), r, r.verdict(), j+1, t[j], t[j].verdict())
			}
		}
		all = append(all, row)
	}
	return all, err
}

// classify returns the decision of the first row that matches f. ok is false if
// no row matches. If the error of f cannot be compared with the error of a row, the
// failure is Slow: no later row may decide in place of that row.
func (all rows) classify(ctx context.Context, f *Failure) (c Classification, ok bool) {
	if f == nil {
		return c, false
	}
	for i := range all {
		r := &all[i]
		if !r.matches(ctx, f) {
			continue
		}
		switch matches, readable := r.is.within(f); {
		case !readable:
			return f.failed("Unreadable("+r.name+")", fmt.Errorf("classify: rule %s cannot decide: %w", r.name, newUnreadable(f.Err))), true
		case matches:
			c = f.As(r.name, r.retry)
			c.d.after = max(c.d.after, r.after)
			c.d.keepsStatus = r.keepsStatus
			return c, true
		}
	}
	return c, false
}

// cover returns the earlier rows that together match every failure of r. It
// returns none if r can decide.
func (all rows) cover(r *row) (by []int) {
	codes := r.codes
	if len(codes) == 0 {
		codes = []string{""} // no row has this code
	}
	for _, code := range codes {
		i := slices.IndexFunc(all, func(e row) bool { return e.covers(r, code) })
		if i < 0 {
			return nil
		}
		by = append(by, i)
	}
	slices.Sort(by)
	return slices.Compact(by)
}

// NewErrors returns the Errors of one service. table decides about failures
// that read accepts. It runs after all links of a chain and before the general
// rules of [Compose]. It may be nil.
//
// read is the reader of the service. It reads f.Err into f: it sets Code,
// Status, Message, After, Inner, NotFound, Transient, Ended and Class, as far
// as the error has them. It returns false for an error of another service.
// f.Err may be wrapped, so read looks for its error type with errors.As.
// Several goroutines call read at once. A panic of read counts as false.
//
// NewErrors panics for an empty name, a nil read, and a table for which
// [Table.Link] panics.
func NewErrors(name string, read func(f *Failure) bool, table Table) Errors {
	if strings.TrimSpace(name) == "" || read == nil {
		panic(fmt.Sprintf("classify: NewErrors: the name %q is empty or the reader is nil: set both", name))
	}
	return Errors{services: []*service{{name: name, read: read, decide: mustCompile("NewErrors: "+name, table).classify}}}
}
