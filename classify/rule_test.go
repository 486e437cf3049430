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

// A mistake that is visible at set-up panics there.
func TestSetUp(t *testing.T) {
	read := func(*Failure) bool { return false }
	cases := map[string]struct {
		make func()
		want string
	}{
		"no text":       {func() { Contains() }, "Contains: give at least one text"},
		"empty text":    {func() { Contains("a", "") }, "Contains: text 2 of 2 is empty and would match anything"},
		"no matcher":    {func() { AnyOf() }, "AnyOf: give at least one matcher"},
		"zero matcher":  {func() { AnyOf(Contains("a"), Matcher{}) }, "AnyOf: matcher 2 of 2 is the zero Matcher and would match anything"},
		"empty regexp":  {func() { Regexp("") }, "Regexp: the expression is empty and would match anything"},
		"broken regexp": {func() { Regexp("(a") }, "Regexp: \"(a\" does not compile: error parsing regexp: missing closing ): `(a`"},
		"no name":       {func() { NewErrors(" ", read, nil) }, `NewErrors: the name " " is empty or the reader is nil: set both`},
		"no reader":     {func() { NewErrors("x", nil, nil) }, `NewErrors: the name "x" is empty or the reader is nil: set both`},
		"broken row": {func() { NewErrors("x", read, Table{{Code: "A"}}) },
			"NewErrors: x: row 1 of 1 (A) cannot be used: its Retry is unset: use Fast, Slow, VerySlow, OnChange or Never"},
	}
	for name, c := range cases {
		if got := panicText(c.make); got != "classify: "+c.want {
			t.Errorf("%s: got panic %q, want %q", name, got, c.want)
		}
	}
}

func TestRuleSetUp(t *testing.T) {
	const apis = "(mine) cannot be used: its APIVersions: "
	versions := func(s string) Rule { return Rule{Name: "mine", APIVersions: s, Retry: Slow} }
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
		"api space":    {versions(">= 2023-01-01"), apis + `">=" is not a version`},
		"api short":    {versions(">=2023"), apis + `">=2023" is not a version`},
		"api equals":   {versions("==2023-01-01"), apis + `"==2023-01-01" starts with ==: use >=, >, <=, < or nothing`},
		"api not":      {versions("!=2023-01-01"), apis + `"!=2023-01-01" starts with !=: use >=, >, <=, < or nothing`},
		"api mixed":    {versions(">=2023-01-01 2024-01-01"), apis + `">=2023-01-01 2024-01-01" has both plain versions and comparisons: use two rows`},
		"api no date":  {versions("2023-02-30"), apis + `"2023-02-30" is not a version`},
		"api commas":   {versions("2023-01-01,2024-01-01"), apis + `"2023-01-01,2024-01-01" is not a version`},
		"bad api":      {versions("v1"), apis + `"v1" is not a version`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			table := Table{{Code: "Fine", Retry: Slow}, c.rule}
			want := "classify: Table: row 2 of 2 " + c.want
			if strings.HasSuffix(want, "is not a version") {
				want += " such as 2024-05-01 or 2024-05-01-preview, with one of >= > <= < directly before it or nothing"
			}
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
