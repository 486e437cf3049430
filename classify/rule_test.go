package classify

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRuleSetUp(t *testing.T) {
	cases := map[string]struct {
		rule Rule
		want string
	}{
		"no retry":     {Rule{Code: "A"}, "(A) cannot be used: its Retry is unset: use Fast, Slow, VerySlow, OnChange or Never"},
		"no condition": {Rule{Retry: Slow}, "(no condition) cannot be used: it has no condition: set Code, InnerCode, Status, Message, APIVersions, Link or Is"},
		"blank code":   {Rule{Name: "mine", Code: " ", Retry: Slow}, "(mine) cannot be used: its Code is blank: set it, or leave it empty for any"},
		"commas":       {Rule{Code: "A,B", Retry: Slow}, `(A,B) cannot be used: its Code or InnerCode is "A,B": separate codes by spaces`},
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
