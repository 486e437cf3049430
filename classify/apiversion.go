package classify

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/windlass-go/windlass/internal/reason"
)

// apiVersion is a version such as "2024-05-01" or "2024-05-01-preview". suffix
// is in lower case, or [stable].
type apiVersion struct{ date, suffix string }

// stable is the suffix of a version without one. It sorts after "-preview".
const stable = "~"

func parseAPIVersion(s string) (apiVersion, bool) {
	const layout = time.DateOnly
	if len(s) < len(layout) {
		return apiVersion{}, false
	}
	date, suffix := s[:len(layout)], s[len(layout):]
	if _, err := time.Parse(layout, date); err != nil {
		return apiVersion{}, false
	}
	if suffix == "" {
		return apiVersion{date, stable}, true
	}
	label, ok := strings.CutPrefix(suffix, "-")
	ok = ok && label != "" && !strings.ContainsFunc(label, func(r rune) bool {
		return !reason.Alphanumeric(r) && r != '-' && r != '.'
	})
	return apiVersion{date, strings.ToLower(suffix)}, ok
}

// compare orders versions by date. Previews come before the stable version of
// their date.
func (v apiVersion) compare(o apiVersion) int {
	return cmp.Or(strings.Compare(v.date, o.date), strings.Compare(v.suffix, o.suffix))
}

// apiVersions is a parsed [Rule.APIVersions]: comparisons that must all hold,
// or versions. One of several versions must be equal. An empty list holds for
// any version, also for an unknown one.
type apiVersions []term

type term struct {
	low, high int // the term holds if compare returns low to high
	v         apiVersion
}

var operators = map[string]term{"": {}, ">=": {high: 1}, ">": {low: 1, high: 1}, "<=": {low: -1}, "<": {low: -1, high: -1}}

func (t term) plain() bool { return t.low == 0 && t.high == 0 }

func parseAPIVersions(s string) (apiVersions, error) {
	var vs apiVersions
	for _, word := range strings.Fields(s) {
		text := strings.TrimLeft(word, "<>=!")
		op := word[:len(word)-len(text)]
		v, isVersion := parseAPIVersion(text)
		t, isOperator := operators[op]
		switch {
		case !isVersion:
			return nil, fmt.Errorf("%q is not a version such as 2024-05-01 or 2024-05-01-preview, with one of >= > <= < directly before it or nothing", word)
		case !isOperator:
			return nil, fmt.Errorf("%q starts with %s: use >=, >, <=, < or nothing", word, op)
		case len(vs) > 0 && t.plain() != vs[0].plain():
			return nil, fmt.Errorf("%q has both plain versions and comparisons: use two rows", s)
		}
		vs = append(vs, term{t.low, t.high, v})
	}
	return vs, nil
}

// match reports whether the version of a request meets the condition. An
// invalid version meets only the empty condition.
func (vs apiVersions) match(version string) bool {
	if len(vs) == 0 {
		return true
	}
	v, ok := parseAPIVersion(version)
	if !ok {
		return false
	}
	one := vs[0].plain() // one term must hold; if false, all terms
	for _, t := range vs {
		c := v.compare(t.v)
		if holds := t.low <= c && c <= t.high; holds == one {
			return one
		}
	}
	return !one
}
