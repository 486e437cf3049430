package classify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-go/windlass/chain"
)

// Table is rules in order: the first one whose conditions hold decides. It is data; [Table.Link] makes a link of it.
// A nil Table has no rules.
type Table []Rule

// Link makes a link that decides by the table. It asks next about a failure that no rule matches. Its name is
// "Table(3 rules)". Later changes of the table do not change the link.
//
// Rules are found by their code, so the number of rows with a code does not matter. Link panics if a row cannot be right,
// or if it can never decide because an earlier row with another Retry covers it. The message names the row and the reason.
func (t Table) Link() Middleware {
	ix, err := compile(t)
	if err != nil {
		panic("classify: Table: " + err.Error())
	}
	name := fmt.Sprintf("Table(%d rules)", len(t))
	if len(t) == 1 {
		name = "Table(1 rule)"
	}
	return chain.Named(name, func(next Handler) Handler {
		return func(ctx context.Context, f *Failure) (Classification, error) {
			if row := ix.find(f); row != nil {
				return f.As(row.name, row.retry), nil
			}
			return next(ctx, f)
		}
	})
}

// index is a table made for looking up. Each list of rows is in the table's order.
type index struct {
	rows    []row
	byCode  map[string][]int // rows by code as it is written
	folded  map[string][]int // rows with AnyCase, by code in lower case
	anyCode []int            // rows without a code
	longest int              // the longest code
}

type row struct {
	name     string
	inner    []string
	status   int
	message  Matcher
	versions *apiVersions
	retry    Retry
}

func compile(t Table) (*index, error) {
	ix := &index{rows: make([]row, len(t)), byCode: make(map[string][]int, len(t)), folded: map[string][]int{}}
	for i, r := range t {
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("row %d of %d (%s) cannot be right: %w", i+1, len(t), r, err)
		}
		versions, _ := parseAPIVersions(r.APIVersions) // checked above
		ix.rows[i] = row{name: r.String(), inner: strings.Fields(r.InnerCode), status: r.Status, message: r.Message, versions: versions, retry: r.Retry}
		for _, code := range strings.Fields(r.Code) {
			ix.longest = max(ix.longest, len(code))
			if r.AnyCase {
				code = lowerString(code)
				ix.folded[code] = append(ix.folded[code], i)
			} else {
				ix.byCode[code] = append(ix.byCode[code], i)
			}
		}
		if r.Code == "" {
			ix.anyCode = append(ix.anyCode, i)
		}
	}
	shadows := shadowed(t)
	for i := range t {
		for _, j := range shadows[i] {
			if t[j].Retry != t[i].Retry {
				return nil, fmt.Errorf("row %d of %d (%s, %s) never decides: row %d (%s, %s) matches every failure that it would match: move it up, or leave one of them out",
					i+1, len(t), t[i], t[i].Retry, j+1, t[j], t[j].Retry)
			}
		}
	}
	return ix, nil
}

// find returns the first row that matches f, or nil.
func (ix *index) find(f *Failure) *row {
	if f == nil {
		return nil
	}
	lists := [...][]int{ix.byCode[f.Code], ix.anyCase(f.Code), ix.anyCode}
	if f.Code == "" {
		lists[0] = nil
	}
	for {
		first := -1 // the list whose next row comes first in the table
		for i, rows := range lists {
			if len(rows) > 0 && (first < 0 || rows[0] < lists[first][0]) {
				first = i
			}
		}
		if first < 0 {
			return nil
		}
		row := &ix.rows[lists[first][0]]
		if row.match(f) {
			return row
		}
		lists[first] = lists[first][1:]
	}
}

// anyCase lists the rows with AnyCase for a code.
func (ix *index) anyCase(code string) []int {
	if code == "" || len(code) > ix.longest || len(ix.folded) == 0 {
		return nil
	}
	var room [64]byte // enough for the codes of real services, so that folding does not allocate
	b := room[:0]
	for i := range len(code) {
		b = append(b, lower(code[i]))
	}
	return ix.folded[string(b)]
}

// match reports whether all conditions but the code hold.
func (r *row) match(f *Failure) bool {
	return (r.status == 0 || r.status == f.Status) && r.versions.match(f.APIVersion) && r.message.Match(f.Message) && r.matchInner(f)
}

func (r *row) matchInner(f *Failure) bool {
	return len(r.inner) == 0 || slices.ContainsFunc(f.Inner, func(e InnerError) bool { return slices.Contains(r.inner, e.Code) })
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// lowerString folds the letters of ASCII.
func lowerString(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lower(c)
	}
	return string(b)
}
