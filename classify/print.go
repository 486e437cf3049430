package classify

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// String prints the effective table, in the order in which it is asked: its own rows, numbered as Link's errors number
// them, and behind them what [Default] goes by. A rule without a name is known by its conditions and shown as "-", as is
// a condition that is not set. Rows that are never reached, because rows in front of them match all that they would,
// say so.
//
// The text is for people and may change.
func (t Table) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "#\tRULE\tCODE\tSTATUS\tMESSAGE\tAPI VERSIONS\tRETRY")
	all := slices.Concat(t, AzureCodes())
	shadows := shadowed(all)
	for i, r := range all {
		if i == len(t) {
			printConditions(w, firstConditions)
		}
		number := "default"
		if i < len(t) {
			number = fmt.Sprint(i + 1)
		}
		status := ""
		if r.Status != 0 {
			status = fmt.Sprint(r.Status)
		}
		message := ""
		if !r.Message.isZero() {
			message = r.Message.String()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s", number, dash(r.Name), dash(r.Code), dash(status), dash(message), dash(r.APIVersions), r.Retry)
		if by := shadows[i]; len(by) > 0 {
			fmt.Fprintf(w, "\tnever reached, see %s", rowNumbers(by, len(t)))
		}
		fmt.Fprintln(w)
	}
	printConditions(w, lastConditions)
	w.Flush()
	return b.String()
}

func printConditions(w *tabwriter.Writer, conditions []condition) {
	for _, c := range conditions {
		retry := c.retry.String()
		if c.canceled {
			retry = "canceled"
		}
		fmt.Fprintf(w, "default\t%s\t-\t-\t(%s)\t-\t%s\n", c.name, c.when, retry)
	}
}

func dash(s string) string {
	if s = strings.Join(strings.Fields(s), " "); s == "" {
		return "-"
	}
	return s
}

func rowNumbers(rows []int, own int) string {
	var texts []string
	for _, i := range rows {
		text := "the default"
		if i < own {
			text = fmt.Sprintf("row %d", i+1)
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, " and ")
}

// shadowed finds, for each row that can never be reached, the rows in front of it that match all that it would.
func shadowed(rows []Rule) map[int][]int {
	shadows := make(map[int][]int)
	byCode := make(map[string][]int) // the rows so far; "" for those that take any code
	for i, r := range rows {
		codes := strings.Fields(lowerString(r.Code))
		if len(codes) == 0 {
			codes = []string{""}
		}
		var by []int
		for _, code := range codes {
			if j, ok := firstCovering(rows, r, byCode[code], byCode[""]); ok {
				by = append(by, j)
			}
		}
		if len(by) == len(codes) {
			slices.Sort(by)
			shadows[i] = slices.Compact(by)
		}
		for _, code := range codes {
			byCode[code] = append(byCode[code], i)
		}
	}
	return shadows
}

func firstCovering(rows []Rule, r Rule, candidates ...[]int) (int, bool) {
	found, ok := 0, false
	for _, list := range candidates {
		for _, i := range list {
			if (!ok || i < found) && rows[i].covers(r) {
				found, ok = i, true
			}
		}
	}
	return found, ok
}

// covers tells whether r's conditions hold wherever those of o do, their codes aside.
func (r Rule) covers(o Rule) bool {
	return (r.Status == 0 || r.Status == o.Status) &&
		(r.Message.isZero() || r.Message.String() == o.Message.String()) &&
		(strings.TrimSpace(r.APIVersions) == "" || dash(r.APIVersions) == dash(o.APIVersions))
}
