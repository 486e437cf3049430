package classify

import (
	"context"
	"fmt"
	"strings"

	"github.com/windlass-go/windlass/chain"
)

// Table is rules in order: the first one whose conditions hold decides. It is data; [Table.Link] makes a link of it.
// A nil Table has no rules.
type Table []Rule

// Link makes a link that decides by the table, and asks next about what no rule matches. Its name is "Table(3 rules)".
// Later changes of the table do not show in it.
//
// Rules are found by their code, so that the number of rows with one does not matter. A rule that cannot be right is an
// error of set-up: Link panics and says which row and why.
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

// index is a table made for looking up. Both lists of rows are in the table's order.
type index struct {
	rows    []row
	byCode  map[string][]int // rows by code, in lower case
	anyCode []int            // rows without a code
	longest int              // the longest code
}

type row struct {
	name     string
	status   int
	message  Matcher
	versions *apiVersions
	retry    Retry
}

func compile(t Table) (*index, error) {
	ix := &index{rows: make([]row, len(t)), byCode: make(map[string][]int, len(t))}
	for i, r := range t {
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("row %d of %d (%s) cannot be right: %w", i+1, len(t), r, err)
		}
		versions, _ := parseAPIVersions(r.APIVersions) // checked above
		ix.rows[i] = row{name: r.String(), status: r.Status, message: r.Message, versions: versions, retry: r.Retry}
		for _, code := range strings.Fields(r.Code) {
			code = lowerString(code)
			ix.byCode[code] = append(ix.byCode[code], i)
			ix.longest = max(ix.longest, len(code))
		}
		if r.Code == "" {
			ix.anyCode = append(ix.anyCode, i)
		}
	}
	return ix, nil
}

// find gives the first row that matches f, or nil.
func (ix *index) find(f *Failure) *row {
	if f == nil {
		return nil
	}
	coded, others := ix.coded(f.Code), ix.anyCode
	for len(coded) > 0 || len(others) > 0 {
		var i int
		if len(others) == 0 || len(coded) > 0 && coded[0] < others[0] {
			i, coded = coded[0], coded[1:]
		} else {
			i, others = others[0], others[1:]
		}
		if row := &ix.rows[i]; row.match(f) {
			return row
		}
	}
	return nil
}

// coded lists the rows for a code.
func (ix *index) coded(code string) []int {
	if code == "" || len(code) > ix.longest {
		return nil
	}
	var room [64]byte // enough for what services use, so that folding does not allocate
	b := room[:0]
	for i := range len(code) {
		b = append(b, lower(code[i]))
	}
	return ix.byCode[string(b)]
}

// match tells whether what is not the code matches.
func (r *row) match(f *Failure) bool {
	return (r.status == 0 || r.status == f.Status) && r.versions.match(f.APIVersion) && r.message.Match(f.Message)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// lowerString folds as the look-up does: the letters of ASCII only.
func lowerString(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lower(c)
	}
	return string(b)
}
