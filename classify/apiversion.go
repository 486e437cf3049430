package classify

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// apiVersion is a version such as "2024-05-01" or "2024-05-01-preview".
type apiVersion struct{ date, suffix string }

// parseAPIVersion allocates only if s is no version.
func parseAPIVersion(s string) (apiVersion, bool) {
	const layout = time.DateOnly
	if len(s) < len(layout) {
		return apiVersion{}, false
	}
	date, suffix := s[:len(layout)], s[len(layout):]
	if _, err := time.Parse(layout, date); err != nil {
		return apiVersion{}, false
	}
	if suffix != "" && (suffix[0] != '-' || len(suffix) == 1 || strings.ContainsFunc(suffix[1:], notSuffix)) {
		return apiVersion{}, false
	}
	return apiVersion{date: date, suffix: suffix}, true
}

func notSuffix(r rune) bool {
	return r >= 0x80 || !letter(byte(r)) && !digit(byte(r)) && r != '-' && r != '.'
}

// compare orders by date; of one date, previews come before the stable version and among each other by their suffix.
func (v apiVersion) compare(o apiVersion) int {
	if v.date != o.date {
		return strings.Compare(v.date, o.date)
	}
	switch {
	case v.suffix == "" && o.suffix == "":
		return 0
	case v.suffix == "":
		return 1
	case o.suffix == "":
		return -1
	}
	return compareFold(v.suffix, o.suffix)
}

// compareFold is strings.Compare with ASCII letters taken as lower case.
func compareFold(a, b string) int {
	for i := range min(len(a), len(b)) {
		if c := int(lower(a[i])) - int(lower(b[i])); c != 0 {
			return c
		}
	}
	return len(a) - len(b)
}

// apiVersions is a compiled Rule.APIVersions; nil holds for any version, an unknown one too.
type apiVersions struct {
	bounds []bound      // all must hold
	equal  []apiVersion // one must be equal, if there are any
}

type bound struct {
	op string
	v  apiVersion
}

func parseAPIVersions(s string) (*apiVersions, error) {
	terms := strings.Fields(s)
	if len(terms) == 0 {
		return nil, nil
	}
	vs := new(apiVersions)
	for _, term := range terms {
		text := strings.TrimLeft(term, "<>=!")
		op := term[:len(term)-len(text)]
		v, ok := parseAPIVersion(text)
		if !ok {
			return nil, fmt.Errorf("%q is not a version such as 2024-05-01 or 2024-05-01-preview, with one of >= > <= < directly in front or nothing", term)
		}
		switch op {
		case "":
			vs.equal = append(vs.equal, v)
		case ">=", ">", "<=", "<":
			vs.bounds = append(vs.bounds, bound{op, v})
		default:
			return nil, fmt.Errorf("%q starts with %s: use >=, >, <=, < or nothing", term, op)
		}
	}
	if len(vs.equal) > 0 && len(vs.bounds) > 0 {
		return nil, fmt.Errorf("%q has both plain versions and comparisons: use two rows", s)
	}
	return vs, nil
}

// match reports whether the version of a request fulfils the condition. A text that is no version fulfils none.
func (vs *apiVersions) match(version string) bool {
	if vs == nil {
		return true
	}
	v, ok := parseAPIVersion(version)
	if !ok {
		return false
	}
	for _, b := range vs.bounds {
		if !b.holds(v) {
			return false
		}
	}
	return len(vs.equal) == 0 || slices.ContainsFunc(vs.equal, func(o apiVersion) bool { return v.compare(o) == 0 })
}

func (b bound) holds(v apiVersion) bool {
	c := v.compare(b.v)
	switch b.op {
	case ">=":
		return c >= 0
	case ">":
		return c > 0
	case "<=":
		return c <= 0
	}
	return c < 0
}
