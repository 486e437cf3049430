package classify

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// String prints the table in the order in which its rows are asked, and then the general part of [Default]. Rows have the
// numbers that Link's errors give them. "-" stands for a condition that is not set, and for a rule without a name. A row
// that is never reached, because earlier rows match every failure that it would match, says so.
//
// The table of a service is not part of it. To see that too, print both:
//
//	fmt.Print(append(mine, azure.Codes()...))
//
// The text is for people and may change.
func (t Table) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "#\tRULE\tCODE\tSTATUS\tMESSAGE\tAPI VERSIONS\tRETRY")
	all := slices.Concat(t, statuses)
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
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s", number, dash(r.Name), dash(r.codes()), dash(status), dash(message), dash(r.APIVersions), r.Retry)
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

// codes is the condition on codes in words.
func (r Rule) codes() string {
	text := r.Code
	if r.AnyCase {
		text += " (any case)"
	}
	if r.InnerCode != "" {
		text += " (inner " + r.InnerCode + ")"
	}
	return text
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

// shadowed finds, for each row that never decides, the earlier rows that together match every failure it would match.
func shadowed(rows []Rule) map[int][]int {
	shadows := make(map[int][]int)
	byCode := make(map[string][]int) // the rows so far by code in lower case; "" for those that take any code
	for i, r := range rows {
		codes := strings.Fields(r.Code)
		if len(codes) == 0 {
			codes = []string{""}
		}
		var by []int
		for _, code := range codes {
			candidates := byCode[lowerString(code)]
			if code != "" {
				candidates = slices.Concat(candidates, byCode[""])
				slices.Sort(candidates)
			}
			j := slices.IndexFunc(candidates, func(j int) bool { return rows[j].covers(r, code) })
			if j >= 0 {
				by = append(by, candidates[j])
			}
		}
		if len(by) == len(codes) {
			slices.Sort(by)
			shadows[i] = slices.Compact(by)
		}
		for _, code := range codes {
			code = lowerString(code)
			byCode[code] = append(byCode[code], i)
		}
	}
	return shadows
}

// covers reports whether r decides about every failure with this code that o would decide about.
func (r Rule) covers(o Rule, code string) bool {
	return (r.Code == "" || r.AnyCase || !o.AnyCase && slices.Contains(strings.Fields(r.Code), code)) &&
		(r.InnerCode == "" || dash(r.InnerCode) == dash(o.InnerCode)) &&
		(r.Status == 0 || r.Status == o.Status) &&
		(r.Message.isZero() || r.Message.String() == o.Message.String()) &&
		(strings.TrimSpace(r.APIVersions) == "" || dash(r.APIVersions) == dash(o.APIVersions))
}
