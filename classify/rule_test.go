package classify

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
)

func TestRuleSetUp(t *testing.T) {
	cases := map[string]struct {
		rule Rule
		want string
	}{
		"no retry":     {Rule{Code: "A"}, "(A) cannot be used: its Retry is unset: use Fast, Slow, VerySlow, OnChange or Never"},
		"no condition": {Rule{Retry: Slow}, "(no condition) cannot be used: it has no condition: set Code, InnerCode, Status, Message, APIVersions, Link or Is"},
		"blank code":   {Rule{Name: "mine", Code: " ", Retry: Slow}, "(mine) cannot be used: its Code is blank: set it, or leave it empty for any"},
		"inner commas": {Rule{Code: "A", InnerCode: "B;C", Retry: Slow}, `(A, inner B;C) cannot be used: its Code or InnerCode is "A B;C": separate codes by spaces`},
		"blank inner":  {Rule{Code: "A", InnerCode: " ", Retry: Slow}, "(A) cannot be used: its InnerCode is blank: set it, or leave it empty for any"},
		"any case":     {Rule{Status: 400, AnyCase: true, Retry: Slow}, "(HTTP 400) cannot be used: it has AnyCase and no Code: name a code, or leave AnyCase out"},
		"status 399":   {Rule{Status: 399, Retry: Slow}, "(HTTP 399) cannot be used: its Status is 399: only 400 to 599 are failures (long-running operations fail with 200; match those by Code)"},
		"negative":     {Rule{Code: "A", Retry: Slow, After: -1}, "(A) cannot be used: its After is -1ns: use 0 (none) or a positive delay"},
		"tiny delay":   {Rule{Code: "A", Retry: Never, After: 1}, "(A) cannot be used: its After is 1ns and its Retry is never, which has no delay: leave After out, or use Fast, Slow or VerySlow"},
		"no delay":     {Rule{Code: "A", Retry: OnChange, After: time.Hour}, "(A) cannot be used: its After is 1h0m0s and its Retry is on change, which has no delay: leave After out, or use Fast, Slow or VerySlow"},
		"status 600":   {Rule{Status: 600, Retry: Slow}, "(HTTP 600) cannot be used: its Status is 600: only 400 to 599 are failures (long-running operations fail with 200; match those by Code)"},
		"blank api":    {Rule{Code: "A", APIVersions: " ", Retry: Slow}, "(A) cannot be used: its APIVersions is blank: set it, or leave it empty for any"},
		"blank link":   {Rule{Code: "A", Link: " ", Retry: Slow}, "(A) cannot be used: its Link is blank: set it, or leave it empty for any"},
		"bad api":      {Rule{Name: "mine", APIVersions: "v1", Retry: Slow}, `(mine) cannot be used: its APIVersions: "v1" is not a version such as 2024-05-01 or 2024-05-01-preview, with one of >= > <= < directly before it or nothing`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			table := Table{{Code: "Fine", Retry: Slow}, c.rule}
			want := "classify: Table: row 2 of 2 " + c.want
			if diff := cmp.Diff(want, panicText(func() { table.Link() })); diff != "" {
				t.Errorf("the panic (-want +got):\n%s", diff)
			}
			if table.String() == "" {
				t.Error("a table with an invalid row must still be printable")
			}
		})
	}
	if text := panicText(func() { Table{{Code: "A", Retry: VerySlow, After: 6 * time.Hour}}.Link() }); text != "" {
		t.Errorf("six hours must be valid: %s", text)
	}
	for _, status := range []int{400, 599} {
		if text := panicText(func() { Table{{Status: status, Retry: Slow}}.Link() }); text != "" {
			t.Errorf("status %d must be valid: %s", status, text)
		}
	}
}

var errNoQuota = errors.New("no quota")

// quotaError is an error with a type of its own.
type quotaError struct{ zone string }

func (e *quotaError) Error() string { return "no quota in " + e.zone }

// listError is not comparable: == panics for two of them.
type listError []string

func (listError) Error() string { return "list" }

// likeError equals an error by its Is method, and produces a quotaError by its
// As method.
type likeError struct{ is error }

func (likeError) Error() string          { return "like" }
func (e likeError) Is(target error) bool { return e.is == target }

func (e likeError) As(target any) bool {
	t, ok := target.(**quotaError)
	if ok {
		*t = &quotaError{"a"}
	}
	return ok
}

// A row compares errors. A program may mark an error by joining it with one of
// its own: the mark counts for each cause, with the code of that cause. The longer
// of the delay of a row and that of the service applies.
func TestRowsMatchErrors(t *testing.T) {
	const long, short = 10 * time.Minute, 30 * time.Second
	table := Table{
		{Name: "marked conflict", Is: errNoQuota, Code: "Conflict", Retry: Fast, After: long, KeepStatus: true},
		{Name: "quota", Is: errNoQuota, Retry: Fast, After: long, KeepStatus: true},
		{Name: "list", Is: listError{"a"}, Retry: Fast},
		{Name: "text", Message: Contains("missing"), Retry: OnChange},
		{Name: "conflict", Code: "Conflict", Retry: VerySlow, After: short},
	}
	other, conflict := errors.New("x"), respErr("Conflict", 409, "busy")
	cases := map[string]struct {
		reason string
		err    error
		want   string // the rule
		after  time.Duration
	}{
		"not comparable": {"errors that cannot be compared are not equal", listError{"a"}, "Unknown", 0},
		"panic":          {"the value of a panic is not compared", &chain.PanicError{Value: errNoQuota}, "Panic", 0},
		"panics in Is":   {"no later row decides about an error that panics", panics("Is"), "Unreadable(quota)", 0},
		"joined":         {"errors.Is finds the mark in the joined error", errors.Join(errNoQuota, other), "quota", long},
		"code":           {"the code is that of the cause", errors.Join(conflict, errNoQuota), "marked conflict", long},
		"not marked":     {"another join has no mark", errors.Join(conflict, other), "conflict", short},
		"shorter":        {"the service asks for a shorter delay", respErr("Conflict", 409, "", "Retry-After", "15"), "conflict", short},
		"longer":         {"the service asks for a longer delay", respErr("Conflict", 409, "", "Retry-After", "45"), "conflict", 45 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := classifyBy(t, newFailure(tc.err, "", noon), table.Link())
			fault := "<nil>"
			if name, unreadable := strings.CutPrefix(tc.want, "Unreadable("); unreadable {
				fault = "classify: rule " + strings.TrimSuffix(name, ")") + " cannot decide: " + newUnreadable(tc.err).Error()
			}
			if c.Rule() != tc.want || fmt.Sprint(c.Fault()) != fault || c.Fault() != nil && c.Retry() != Slow {
				t.Errorf("%s: got %v, fault %v, want rule %s, fault %s", tc.reason, c, c.Fault(), tc.want, fault)
			}
			if c.After() != tc.after || c.KeepsStatus() != (tc.after == long) {
				t.Errorf("%s: got %v, and the status is kept: %t", tc.reason, c, c.KeepsStatus())
			}
		})
	}
}

// A row without a name is named after the error, and the table prints it.
func TestErrorRowsArePrinted(t *testing.T) {
	table := Table{
		{Is: errNoQuota, Retry: Fast},
		{Code: "Conflict", Message: Contains("busy"), Is: listError{"a"}, Retry: Slow, After: 90 * time.Second},
		{Is: panics("Error"), Status: 400, Retry: Slow},
		{Is: errors.New("a\n\x1b[31mb"), Retry: Slow},
		{Is: errNoQuota, Status: 400, Retry: Fast},
		{Is: listError{"a"}, Code: "Conflict", Message: Contains("busy"), Retry: Slow},
		{Is: errors.New("no quota"), Retry: Slow},
	}
	own, _ := printed(table)
	want := []string{
		`1 - - - (error "no quota") - fast`,
		`2 - Conflict - contains "busy" (error "list") - slow after 1m30s`,
		`3 - - 400 (error "%!v(PANIC=Error method: no Error)") - slow`,
		`4 - - - (error "a\n\x1b[31mb") - slow`,
		`5 - - 400 (error "no quota") - fast never reached, see row 1`,
		`6 - Conflict - contains "busy" (error "list") - slow`,
		`7 - - - (error "no quota") - slow`,
	}
	if diff := cmp.Diff(want, own); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var names []string
	for _, r := range table[:3] {
		names = append(names, r.String())
	}
	wantNames := []string{`error "no quota"`, `Conflict, message contains "busy", error "list"`, `HTTP 400, error "%!v(PANIC=Error method: no Error)"`}
	if diff := cmp.Diff(wantNames, names); diff != "" {
		t.Errorf("the names (-want +got):\n%s", diff)
	}
	table.Link()
}
