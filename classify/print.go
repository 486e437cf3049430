package classify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/windlass-go/windlass/internal/text"
)

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
	ix, _ := compile(all) // a table with an invalid row can be printed, too
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
		if !r.As.isZero() {
			message += " (" + r.As.text + ")"
		}
		if r.KeepStatus {
			retry += ", keeps the status"
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
		if by := ix.rows[i].covering; len(by) > 0 {
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
