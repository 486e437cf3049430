package classify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-go/windlass/internal/errtree"
)

// Rule is a row of a [Table]. It sets the Retry of each failure for which all
// its conditions hold. A zero field is not a condition. A rule needs at least
// one condition.
type Rule struct {
	// Name names the rule in traces, logs and metrics. If it is empty, the
	// conditions in words are the name.
	Name string
	// Code is the error code of the service, exactly as the service writes it.
	// Several codes, separated by spaces, are alternatives.
	Code string
	// AnyCase compares Code without regard to the case of ASCII letters.
	AnyCase bool
	// InnerCode is the code of a nested error ([Failure.Inner]), exactly as the
	// service writes it. Several codes, separated by spaces, are alternatives.
	InnerCode string
	// Status is the HTTP status, 400 to 599. Long-running operations fail with
	// 200, so no status rule matches those.
	Status int
	// Message is a condition on the text.
	Message Matcher
	// APIVersions restricts the rule to API versions, which are dates. It is a
	// list of comparisons or of versions, separated by spaces. All comparisons
	// must hold, as in ">=2023-01-01 <2024-01-01". One of several versions must
	// be equal. A preview comes before the stable version of its date. A rule
	// with APIVersions does not match a failure of an unknown version.
	APIVersions string
	// Link is the name of the link that returned the error, exactly as a listing
	// of the flow shows it. So the errors of one check can have a delay of their
	// own.
	Link string
	// Is is a Go error that the error of the failure must match, as for
	// errors.Is. If a joined error matches, so does each of its causes: with
	// errors.Join(ErrMine, err) the row decides about err, too, and its other
	// conditions are about err. For the combination of the causes, see [Compose].
	Is error
	// Retry says how soon to retry. It must be set.
	Retry Retry
	// KeepStatus leaves the conditions of the resource unchanged
	// ([Classification.WithStatusKept]).
	KeepStatus bool
	// After is the delay before the retry; 0 means none. A longer delay of the
	// service replaces it. It must not be negative, and it must be 0 for
	// [OnChange] and [Never].
	After time.Duration
}

// String returns the Name, or the conditions in words.
func (r Rule) String() string {
	if r.Name != "" {
		return r.Name
	}
	var parts []string
	add := func(before, words, between string) {
		if all := strings.Fields(words); len(all) > 0 {
			parts = append(parts, before+strings.Join(all, between))
		}
	}
	add("", r.Code, " or ")
	add("inner ", r.InnerCode, " or ")
	if r.Status != 0 {
		parts = append(parts, fmt.Sprintf("HTTP %d", r.Status))
	}
	if !r.Message.isZero() {
		parts = append(parts, "message "+r.Message.text)
	}
	add("API version ", r.APIVersions, " ")
	add("link ", r.Link, " ")
	if r.Is != nil {
		parts = append(parts, errorText(r.Is))
	}
	return cmp.Or(strings.Join(parts, ", "), "no condition")
}

// verdict returns the Retry and the After in words.
func (r Rule) verdict() string {
	text := r.Retry.String()
	if r.After != 0 {
		text += " after " + r.After.String()
	}
	if r.KeepStatus {
		text += ", keeps the status"
	}
	return text
}

// parse returns r as a row, and an error if r cannot be used.
func (r Rule) parse() (row, error) {
	versions, err := parseAPIVersions(r.APIVersions)
	parsed := row{
		name: r.String(), codes: strings.Fields(r.Code), anyCase: r.AnyCase, inner: strings.Fields(r.InnerCode),
		status: r.Status, message: r.Message, versions: versions, link: r.Link, is: newErrorMatcher(r.Is), retry: r.Retry, after: r.After, keepsStatus: r.KeepStatus,
	}
	type field struct{ name, value string }
	fields := []field{{"Code", r.Code}, {"InnerCode", r.InnerCode}, {"APIVersions", r.APIVersions}, {"Link", r.Link}}
	blank := slices.IndexFunc(fields, func(f field) bool { return f.value != "" && strings.TrimSpace(f.value) == "" })
	switch {
	case blank >= 0:
		err = fmt.Errorf("its %s is blank: set it, or leave it empty for any", fields[blank].name)
	case strings.ContainsAny(r.Code+r.InnerCode, ",;|"):
		err = fmt.Errorf("its Code or InnerCode is %q: separate codes by spaces", strings.TrimSpace(r.Code+" "+r.InnerCode))
	case r.AnyCase && r.Code == "":
		err = errors.New("it has AnyCase and no Code: name a code, or leave AnyCase out")
	case r.Status != 0 && (r.Status < 400 || r.Status > 599):
		err = fmt.Errorf("its Status is %d: only 400 to 599 are failures (long-running operations fail with 200; match those by Code)", r.Status)
	case r.Code == "" && r.InnerCode == "" && r.Status == 0 && r.Message.isZero() && r.APIVersions == "" && r.Link == "" && r.Is == nil:
		err = errors.New("it has no condition: set Code, InnerCode, Status, Message, APIVersions, Link or Is")
	case !r.Retry.decided():
		err = fmt.Errorf("its Retry is %s: use Fast, Slow, VerySlow, OnChange or Never", r.Retry)
	case r.After < 0:
		err = fmt.Errorf("its After is %s: use 0 (none) or a positive delay", r.After)
	case r.After > 0 && r.Retry >= OnChange:
		err = fmt.Errorf("its After is %s and its Retry is %s, which has no delay: leave After out, or use Fast, Slow or VerySlow", r.After, r.Retry)
	case err != nil:
		err = fmt.Errorf("its APIVersions: %w", err)
	}
	return parsed, err
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
	link        string
	is          errorMatcher
	retry       Retry
	after       time.Duration
	keepsStatus bool
	covering    []int // the earlier rows that together match every failure of this row
}

// within reports whether the error of f matches. If f is a cause of a joined
// error, that counts, because a program marks an error by joining one of its
// own. readable is false if the tree panics, or is too large, before an error in
// it matches.
func (m errorMatcher) within(f *Failure) (matches, readable bool) {
	if m.target == nil {
		return true, true
	}
	err := f.Err
	if f.Joined != nil {
		err = f.Joined
	}
	return errtree.Walk(err, func(err error, _ int) bool { return m.has(err) })
}

// matches reports whether all conditions hold, except that on the Go error.
func (r *row) matches(ctx context.Context, f *Failure) bool {
	return (len(r.codes) == 0 || r.hasCode(f.Code)) &&
		(r.status == 0 || r.status == f.Status) &&
		r.versions.match(f.APIVersion) &&
		(r.link == "" || r.link == f.Link) &&
		(r.message.isZero() || r.message.matches(ctx, f)) &&
		(len(r.inner) == 0 || slices.ContainsFunc(f.Inner, func(e InnerError) bool { return slices.Contains(r.inner, e.Code) }))
}

// hasCode reports whether code is one of the codes.
func (r *row) hasCode(code string) bool {
	return slices.ContainsFunc(r.codes, func(c string) bool { return c == code || r.anyCase && equalFold(c, code) })
}

// equalFold compares without regard to the case of ASCII letters.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if c, d := a[i], b[i]; c != d && (c|0x20 != d|0x20 || c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

// covers reports whether r matches every failure with this code that o matches.
func (r *row) covers(o *row, code string) bool {
	return (len(r.codes) == 0 || (r.anyCase || !o.anyCase) && r.hasCode(code)) &&
		(len(r.inner) == 0 || slices.Equal(r.inner, o.inner)) &&
		(r.status == 0 || r.status == o.status) &&
		(r.message.isZero() || r.message.text == o.message.text) &&
		(len(r.versions) == 0 || slices.Equal(r.versions, o.versions)) &&
		(r.link == "" || r.link == o.link) &&
		(r.is.target == nil || r.is.equals(o.is.target))
}
