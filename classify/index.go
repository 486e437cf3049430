package classify

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// index is a checked table with its rows by code. Each list of rows is in the
// order of the table and includes the rows without a code.
type index struct {
	rows    []row
	byCode  map[string][]int // the rows for each code of the table; the key is in lower case
	anyCode []int            // the rows for any other code
	longest int              // the length of the longest code
}

// row is a parsed [Rule].
type row struct {
	name        string
	codes       []string
	anyCase     bool
	inner       []string
	status      int
	message     Matcher
	versions    apiVersions
	is          errorMatcher
	as          TypeMatcher
	retry       Retry
	after       time.Duration
	keepsStatus bool
	covering    []int // the earlier rows that together match every failure of this row
}

// mustCompile compiles t, or panics. where names the caller in the message.
func mustCompile(where string, t Table) *index {
	ix, err := compile(t)
	if err != nil {
		panic(fmt.Sprintf("classify: %s: %v", where, err))
	}
	return ix
}

// compile returns the index of a table, and an error for the first row that
// cannot be used or that an earlier row contradicts.
func compile(t Table) (ix *index, err error) {
	ix = &index{rows: make([]row, len(t)), byCode: make(map[string][]int, len(t))}
	for i, r := range t {
		row, wrong := r.parse()
		if wrong != nil && err == nil {
			err = fmt.Errorf("row %d of %d (%s) cannot be used: %w", i+1, len(t), r, wrong)
		}
		row.covering = ix.cover(&row)
		for _, j := range row.covering {
			if (t[j].Retry != r.Retry || t[j].After != r.After) && err == nil {
				err = fmt.Errorf("row %d of %d (%s, %s) never decides: row %d (%s, %s) matches every failure that it would match: move it up, or leave one of them out",
					i+1, len(t), r, r.verdict(), j+1, t[j], t[j].verdict())
			}
		}
		ix.rows[i] = row
		for _, code := range row.codes {
			ix.longest = max(ix.longest, len(code))
			ix.byCode[string(lower(nil, code))] = append(slices.Clip(ix.list(code)), i)
		}
		if len(row.codes) == 0 {
			ix.anyCode = append(ix.anyCode, i)
			for code, rows := range ix.byCode {
				ix.byCode[code] = append(rows, i)
			}
		}
	}
	return ix, err
}

// list returns the rows for a code, in upper or lower case.
func (ix *index) list(code string) []int {
	if len(code) <= ix.longest {
		var buf [64]byte // holds the codes of real services, so lower does not allocate
		if rows, ok := ix.byCode[string(lower(buf[:0], code))]; ok {
			return rows
		}
	}
	return ix.anyCode
}

// lower appends s to buf and returns it, with ASCII letters in lower case.
func lower(buf []byte, s string) []byte {
	b := append(buf, s...)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b
}

// classify returns the decision of the first row that matches f. ok is false if
// no row matches. If the error of f cannot be compared with that of a row, the
// failure is Slow: no later row may decide in place of that row.
func (ix *index) classify(ctx context.Context, f *Failure) (c Classification, ok bool) {
	if f == nil {
		return c, false
	}
	for _, i := range ix.list(f.Code) {
		r := &ix.rows[i]
		if !r.matches(ctx, f) {
			continue
		}
		err := f.Err
		if f.Joined != nil { // a mark that a program joined counts for each cause
			err = f.Joined
		}
		switch matches, readable := r.matchesError(err); {
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

// matches reports whether all conditions hold, except those on the Go error.
// The caller has compared the code without regard to case.
func (r *row) matches(ctx context.Context, f *Failure) bool {
	return (len(r.codes) == 0 || r.anyCase || slices.Contains(r.codes, f.Code)) &&
		(r.status == 0 || r.status == f.Status) &&
		r.versions.match(f.APIVersion) &&
		(r.message.isZero() || r.message.matches(ctx, f)) &&
		(len(r.inner) == 0 || slices.ContainsFunc(f.Inner, func(e InnerError) bool { return slices.Contains(r.inner, e.Code) }))
}

// matchesError reports whether the conditions on the Go error hold. readable is
// false if a method of the error panics, or if its tree is too large.
func (r *row) matchesError(err error) (matches, readable bool) {
	matches, readable = true, true
	if r.is.target != nil {
		matches, readable = within(err, r.is.has)
	}
	if matches && !r.as.isZero() {
		matches, readable = within(err, r.as.has)
	}
	return matches, readable
}

// cover returns the earlier rows that together match every failure of r. It
// returns none if r can decide.
func (ix *index) cover(r *row) (by []int) {
	codes := r.codes
	if len(codes) == 0 {
		codes = []string{""} // no row has this code
	}
	for _, code := range codes {
		list := ix.list(code)
		i := slices.IndexFunc(list, func(i int) bool { return ix.rows[i].covers(r, code) })
		if i < 0 {
			return nil
		}
		by = append(by, list[i])
	}
	slices.Sort(by)
	return slices.Compact(by)
}

// covers reports whether r matches every failure with this code that o matches.
func (r *row) covers(o *row, code string) bool {
	return (len(r.codes) == 0 || r.anyCase || !o.anyCase && slices.Contains(r.codes, code)) &&
		(len(r.inner) == 0 || slices.Equal(r.inner, o.inner)) &&
		(r.status == 0 || r.status == o.status) &&
		(r.message.isZero() || r.message.text == o.message.text) &&
		(len(r.versions) == 0 || slices.Equal(r.versions, o.versions)) &&
		(r.is.target == nil || r.is.equals(o.is.target)) &&
		(r.as.isZero() || r.as.typ == o.as.typ)
}
