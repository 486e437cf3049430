package classify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/errtree"
	"github.com/windlass-go/windlass/internal/text"
)

const rulePanic, ruleCanceled = "Panic", "Canceled"

// defaults holds the general rules, which decide if no link does. The first row
// comes before the table of the service, the others come after it. The last row
// always matches. No row is OnChange.
var defaults = Table{
	{Name: rulePanic, Message: when("a panic that was recovered", panicked), Retry: Slow},
	{Name: "UnknownBadRequest", Status: http.StatusBadRequest, Retry: VerySlow},
	{Name: "Authentication", Status: http.StatusUnauthorized, Retry: Slow},
	{Name: "RequestTimeout", Status: http.StatusRequestTimeout, Retry: Slow},
	{Name: "Throttled", Status: http.StatusTooManyRequests, Retry: Slow},
	{Name: "ServerError", Message: when("HTTP 5xx", func(_ context.Context, f *Failure) bool { return serverError(f.Status) }), Retry: Slow},
	{Name: ruleCanceled, Message: when("canceled by the pass's own context", canceledHere), Retry: Fast},
	{Name: "CanceledElsewhere", Message: when("canceled by another context", canceled), Retry: Slow},
	{Name: "Timeout", Message: when("a deadline or a timeout", func(_ context.Context, f *Failure) bool { return timedOut(f.Err) }), Retry: Slow},
	{Name: "Network", Message: when("a network error", func(_ context.Context, f *Failure) bool { return connection(f.Err) }), Retry: Slow},
	{Name: "Transient", Message: when("a transient error", func(_ context.Context, f *Failure) bool { return f.Transient }), Retry: Slow},
	{Name: "Unknown", Message: when("anything else", func(context.Context, *Failure) bool { return true }), Retry: Slow},
}

// when makes a Matcher that sees the whole failure. text is the condition in
// words.
func when(text string, holds func(context.Context, *Failure) bool) Matcher {
	return Matcher{"(" + text + ")", holds}
}

// defaultRows are the rows after the table of the service.
var defaultRows = mustCompile("defaults", defaults[1:])

// decide is the end of each chain that [Compose] makes.
func decide(ctx context.Context, f *Failure) (Classification, error) {
	if f == nil {
		return f.failed(noFailure, errNoFailure), nil
	}
	if panicked(ctx, f) {
		return f.As(defaults[0].Name, defaults[0].Retry), nil
	}
	if f.service != nil {
		if c, ok := f.service.decide(ctx, f); ok {
			return c, nil
		}
	}
	c, _ := defaultRows.classify(ctx, f)
	c.d.canceled = c.d.rule == ruleCanceled
	return c, nil
}

func panicked(_ context.Context, f *Failure) bool {
	found, _ := errtree.Walk(f.Err, func(err error, _ int) bool {
		_, is := err.(*chain.PanicError)
		return is
	})
	return found
}

func canceled(_ context.Context, f *Failure) bool { return errors.Is(f.Err, context.Canceled) }

func canceledHere(ctx context.Context, f *Failure) bool {
	// A context whose deadline has passed has another error, even if it was
	// canceled later.
	return ctx != nil && errors.Is(ctx.Err(), context.Canceled) && canceled(ctx, f)
}

// String prints the rows in order, and then the general rules of [Compose]. The
// numbers are those in the messages of [Table.Link]. "-" is an unset condition
// or an empty name. The line of a row that can never decide names the earlier
// rows that decide instead. The format may change.
//
// The table of a service is not included. To see it, print both:
//
//	fmt.Print(append(mine, azure.Codes()...))
func (t Table) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "#\tRULE\tCODE\tSTATUS\tMESSAGE\tAPI VERSIONS\tRETRY")
	all := slices.Concat(t, defaults)
	parsed, _ := compile(all) // a table with an invalid row can be printed, too
	for i, r := range all {
		number, codes, status, message, retry := fmt.Sprint(i+1), r.Code, "", r.Message.text, r.verdict()
		if r.AnyCase {
			codes += " (any case)"
		}
		if r.InnerCode != "" {
			codes += " (inner " + r.InnerCode + ")"
		}
		if r.Status != 0 {
			status = fmt.Sprint(r.Status)
		}
		if r.Is != nil {
			message += " (" + errorText(r.Is) + ")"
		}
		if i >= len(t) {
			number = "default"
			if r.Name == ruleCanceled {
				retry = verdictCanceled
			}
		}
		cells := []string{number, r.Name, codes, status, message, r.APIVersions, retry}
		for i, cell := range cells {
			cells[i] = cmp.Or(strings.TrimSpace(text.Line(cell, text.Name)), "-")
		}
		if by := parsed[i].covering; len(by) > 0 {
			cells = append(cells, "never reached, see "+rowNumbers(by))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	w.Flush()
	return b.String()
}

// rowNumbers returns, for example, "row 1 and row 3".
func rowNumbers(rows []int) string {
	texts := make([]string, len(rows))
	for n, i := range rows {
		texts[n] = fmt.Sprintf("row %d", i+1)
	}
	return strings.Join(texts, " and ")
}
