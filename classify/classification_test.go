package classify

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/reason"
)

func TestRetry(t *testing.T) {
	type words struct {
		String   string
		Severity Severity
	}
	cases := map[Retry]words{
		Unset:     {"unset", ""},
		Fast:      {"fast", Warning},
		Slow:      {"slow", Warning},
		VerySlow:  {"very slow", Warning},
		OnChange:  {"on change", Error},
		Never:     {"never", Error},
		Never + 1: {"Retry(6)", Warning},
		9:         {"Retry(9)", Warning},
	}
	for r, want := range cases {
		if diff := cmp.Diff(want, words{r.String(), r.Severity()}); diff != "" {
			t.Errorf("Retry %d (-want +got):\n%s", r, diff)
		}
	}
	if !(Unset < Fast && Fast < Slow && Slow < VerySlow && VerySlow < OnChange && OnChange < Never) {
		t.Error("a Retry that waits longer must be greater")
	}
}

func TestZeroClassification(t *testing.T) {
	var c Classification
	if !c.IsZero() || !c.With(Slow).IsZero() || !c.WithAfter(time.Second).IsZero() || !c.WithStatusKept().IsZero() || c.KeepsStatus() {
		t.Error("the zero Classification must stay zero")
	}
	if diff := cmp.Diff(facts{}, factsOf(c)); diff != "" {
		t.Errorf("the zero Classification has no values (-want +got):\n%s", diff)
	}
	if c.Severity() != "" || c.Fault() != nil || c.Reason() != "Failed" || c.String() != "unset" {
		t.Errorf("got severity %q, fault %v, reason %q, text %q", c.Severity(), c.Fault(), c.Reason(), c)
	}
}

func TestWith(t *testing.T) {
	c := (&Failure{Code: "Conflict", Message: "busy", After: time.Second}).As("Mine", Slow)
	want := facts{Slow, time.Second, "Conflict", "busy", "Mine", false}
	for _, r := range []Retry{Fast, OnChange, Never} {
		adjusted := want
		adjusted.Retry = r
		if diff := cmp.Diff(adjusted, factsOf(c.With(r))); diff != "" {
			t.Errorf("With(%s) changes the Retry alone (-want +got):\n%s", r, diff)
		}
	}
	for _, r := range []Retry{Unset, Never + 1} {
		if diff := cmp.Diff(want, factsOf(c.With(r))); diff != "" {
			t.Errorf("With(%s) changes nothing (-want +got):\n%s", r, diff)
		}
	}
	for after, cut := range map[time.Duration]time.Duration{time.Minute: time.Minute, -1: 0, 6 * time.Hour: 6 * time.Hour, 0: 0, 1: 1} {
		adjusted, fault := want, "<nil>"
		adjusted.After = cut
		if after < 0 {
			fault = "the delay -1ns is negative and counts as none"
		}
		got := c.WithAfter(after)
		if diff := cmp.Diff(adjusted, factsOf(got)); diff != "" {
			t.Errorf("WithAfter(%s) (-want +got):\n%s", after, diff)
		}
		if fmt.Sprint(got.Fault()) != fault {
			t.Errorf("WithAfter(%s): got fault %v, want %s", after, got.Fault(), fault)
		}
	}
	if got := new(Failure).failed("Mine", errNoFailure).WithAfter(-1).Fault(); got != errNoFailure {
		t.Errorf("WithAfter(-1) keeps an earlier fault: got %v", got)
	}
	kept := c.WithStatusKept()
	if diff := cmp.Diff(want, factsOf(kept)); diff != "" || !kept.KeepsStatus() || c.KeepsStatus() {
		t.Errorf("WithStatusKept changes a copy: kept %t, the original %t (-want +got):\n%s", kept.KeepsStatus(), c.KeepsStatus(), diff)
	}
	if diff := cmp.Diff(want, factsOf(c)); diff != "" {
		t.Errorf("With and WithAfter changed the original (-want +got):\n%s", diff)
	}
}

func TestReason(t *testing.T) {
	cases := map[string]struct {
		reason     string
		code, rule string
		want       string
	}{
		"not ASCII":  {"each character becomes one underscore", "Überlast", "x", "Code_berlast"},
		"no code":    {"the words of the rule replace a missing code", "", "Redis is busy", "RedisIsBusy"},
		"conditions": {"conditions have words, too", "", `message contains "was not found"`, "MessageContainsWasNotFound"},
		"nothing":    {"there is always a reason", "", "???", "Failed"},
		"long rule":  {"the words of a rule are cut, too", "", strings.Repeat("x ", 2000), strings.Repeat("X", 1024)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := (&Failure{Code: c.code}).As(c.rule, Slow).Reason()
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestReasonIsAlwaysValid(t *testing.T) {
	long := rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat("x", rapid.IntRange(1015, 1030).Draw(t, "length")) + rapid.StringMatching(`[:,A.]*`).Draw(t, "end")
	})
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[A-Za-z0-9_,:. ]*`), long)
	rapid.Check(t, func(t *rapid.T) {
		code, rule := text.Draw(t, "code"), text.Draw(t, "rule")
		got := (&Failure{Code: code}).As(rule, Slow).Reason()
		if !reason.Valid(got) { // TestValidReason of package checks compares it with the pattern of Kubernetes
			t.Fatalf("%q is not valid", got)
		}
		if reason.Valid(code) && got != code {
			t.Fatalf("a valid code became %q", got)
		}
	})
}

func TestClassificationString(t *testing.T) {
	cases := map[string]struct {
		c    Classification
		want string
	}{
		"after":    {(&Failure{Code: "Conflict", Message: "busy", After: 30 * time.Second}).As("Conflict", Slow), "slow after 30s, rule Conflict: busy"},
		"code":     {(&Failure{Code: "Conflict", Message: "busy"}).As("Mine", OnChange), "on change, rule Mine, code Conflict: busy"},
		"no code":  {(&Failure{Message: "busy"}).As("Mine", Fast), "fast, rule Mine: busy"},
		"canceled": {Classification{d: &decision{retry: Fast, canceled: true, rule: "Canceled", message: "context canceled"}}, "canceled, rule Canceled: context canceled"},
	}
	for name, c := range cases {
		if diff := cmp.Diff(c.want, c.c.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestDescribe(t *testing.T) {
	type words struct{ Verdict, Reason string }
	got := map[string]words{}
	watch := observer(func(link *chain.Link, exit chain.Exit) {
		verdict, reason := exit.Verdict()
		got[link.Name] = words{verdict, reason}
	})
	adjust := chain.Named("adjust", func(next Handler) Handler {
		return func(ctx ctx, f *Failure) (Classification, error) {
			c, err := next(ctx, f)
			if c.Code() == "ScopeLocked" {
				c = c.With(Slow)
			}
			return c, err
		}
	})
	audit := chain.Named("audit", func(next Handler) Handler { return next })
	table := Table{{Name: "busy", Code: "Conflict", Retry: Fast}}
	handle := Compose(chain.New(audit, adjust, table.Link()).Observe(watch))

	cases := map[string]struct {
		reason string
		code   string
		want   map[string]words
	}{
		"table":   {"the table decided", "Conflict", map[string]words{"audit": {"proceed", ""}, "adjust": {"proceed", ""}, "Table(1 rule)": {"fast", "busy"}}},
		"adjust":  {"another link adjusted the decision of the general rules", "ScopeLocked", map[string]words{"audit": {"proceed", ""}, "adjust": {"slow", "ScopeLocked"}, "Table(1 rule)": {"proceed", ""}}},
		"default": {"the general rules decided, so no link did", "NotFound", map[string]words{"audit": {"proceed", ""}, "adjust": {"proceed", ""}, "Table(1 rule)": {"proceed", ""}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			clear(got)
			res, _ := handle(t.Context(), newFailure(respErr(c.code, 0, ""), "", noon))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			verdict, reason := res.Describe()
			if diff := cmp.Diff(words{res.Retry().String(), res.Rule()}, words{verdict, reason}); diff != "" {
				t.Errorf("the verdict of the whole chain (-want +got):\n%s", diff)
			}
		})
	}
}

// printed returns the lines of a printed table with single spaces: first those
// of its own rows, then the rest.
func printed(t Table) (own, rest []string) {
	for i, line := range strings.Split(strings.TrimSuffix(t.String(), "\n"), "\n") {
		line = strings.Join(strings.Fields(line), " ")
		switch {
		case i == 0:
		case i <= len(t):
			own = append(own, line)
		default:
			rest = append(rest, line)
		}
	}
	return own, rest
}

func TestTableString(t *testing.T) {
	table := Table{
		{Name: "busy", Code: "Conflict", Message: Contains("busy"), Retry: Fast},
		{Code: "Conflict Mine", Retry: VerySlow},
		{Code: "Conflict", Status: 409, Retry: Slow},
		{Code: "Mine  Yours", Retry: Slow},
		{Status: 423, APIVersions: ">=2023-01-01  <2024-01-01", Retry: OnChange},
		{Code: "Locked", Status: 423, APIVersions: ">=2023-01-01 <2024-01-01", Retry: Slow},
		{Code: "Mine Locked", Status: 423, APIVersions: ">=2023-01-01 <2024-01-01", Retry: Slow},
		{Message: Contains("x"), Retry: Slow},
		{Message: Contains("x"), Retry: Fast},
		{Message: Contains("X"), Retry: Fast},
		{Code: "Conflict Conflict", Retry: Fast},
		{Code: "Mine", Message: Contains("z"), Retry: Fast},
		{Code: "MINE", Retry: Slow},
		{Code: "mine", AnyCase: true, Retry: Slow},
		{Code: "minE", Retry: Slow},
		{InnerCode: "A  B", Retry: Slow},
		{Code: "Other", InnerCode: "A B", Retry: Slow},
		{Code: "Other", InnerCode: "A", Retry: Slow},
		{Name: "ours", Status: 429, Retry: Slow},
		{Name: strings.Repeat("n", 300), Status: 423, Retry: Fast, KeepStatus: true},
		{Is: errNoQuota, Retry: Fast},
		{Code: "Busy", Message: Contains("busy"), Is: listError{"a"}, Retry: Slow, After: 90 * time.Second},
		{Is: panics("Error"), Status: 400, Retry: Slow},
		{Is: errors.New("a\n\x1b[31mb"), Retry: Slow},
		{Is: errNoQuota, Status: 400, Retry: Fast},
		{Is: listError{"a"}, Code: "Busy", Message: Contains("busy"), Retry: Slow},
		{Is: errors.New("no quota"), Retry: Slow},
	}
	own, rest := printed(table)
	want := []string{
		`1 busy Conflict - contains "busy" - fast`,
		`2 - Conflict Mine - - - very slow`,
		`3 - Conflict 409 - - slow never reached, see row 2`,
		`4 - Mine Yours - - - slow`,
		`5 - - 423 - >=2023-01-01 <2024-01-01 on change`,
		`6 - Locked 423 - >=2023-01-01 <2024-01-01 slow never reached, see row 5`,
		`7 - Mine Locked 423 - >=2023-01-01 <2024-01-01 slow never reached, see row 2 and row 5`,
		`8 - - - contains "x" - slow`,
		`9 - - - contains "x" - fast never reached, see row 8`,
		`10 - - - contains "X" - fast`,
		`11 - Conflict Conflict - - - fast never reached, see row 2`,
		`12 - Mine - contains "z" - fast never reached, see row 2`,
		`13 - MINE - - - slow`,
		`14 - mine (any case) - - - slow`,
		`15 - minE - - - slow never reached, see row 14`,
		`16 - (inner A B) - - - slow`,
		`17 - Other (inner A B) - - - slow never reached, see row 16`,
		`18 - Other (inner A) - - - slow`,
		`19 ours - 429 - - slow`,
		`20 ` + strings.Repeat("n", 180) + `... (120 bytes more) - 423 - - fast, keeps the status`,
		`21 - - - (error "no quota") - fast`,
		`22 - Busy - contains "busy" (error "list") - slow after 1m30s`,
		`23 - - 400 (error "%!v(PANIC=Error method: no Error)") - slow`,
		`24 - - - (error "a\n\x1b[31mb") - slow`,
		`25 - - 400 (error "no quota") - fast never reached, see row 21`,
		`26 - Busy - contains "busy" (error "list") - slow`,
		`27 - - - (error "no quota") - slow`,
	}
	if diff := cmp.Diff(want, own); diff != "" {
		t.Errorf("its own rows (-want +got):\n%s", diff)
	}
	if want := len(defaults); len(rest) != want {
		t.Errorf("%d lines of defaults, want %d", len(rest), want)
	}
	var names []string
	for _, r := range table[20:23] { // a row without a name is named after its conditions
		names = append(names, r.String())
	}
	wantNames := []string{`error "no quota"`, `Busy, message contains "busy", error "list"`, `HTTP 400, error "%!v(PANIC=Error method: no Error)"`}
	if diff := cmp.Diff(wantNames, names); diff != "" {
		t.Errorf("the names (-want +got):\n%s", diff)
	}
}

// The general rules are printed after any table, in the order in which they
// decide.
func TestDefaultTableString(t *testing.T) {
	const want = `
#        RULE               CODE  STATUS  MESSAGE                               API VERSIONS  RETRY
default  Panic              -     -       (a panic that was recovered)          -             slow
default  UnknownBadRequest  -     400     -                                     -             very slow
default  Authentication     -     401     -                                     -             slow
default  RequestTimeout     -     408     -                                     -             slow
default  Throttled          -     429     -                                     -             slow
default  ServerError        -     -       (HTTP 5xx)                            -             slow
default  Canceled           -     -       (canceled by the pass's own context)  -             canceled
default  CanceledElsewhere  -     -       (canceled by another context)         -             slow
default  Timeout            -     -       (a deadline or a timeout)             -             slow
default  Network            -     -       (a network error)                     -             slow
default  Transient          -     -       (a transient error)                   -             slow
default  Unknown            -     -       (anything else)                       -             slow
`
	if diff := cmp.Diff(want, "\n"+Table(nil).String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	_, rest := printed(Table{{Status: 429, Name: "ours", Retry: Slow}, {Status: 400, Retry: Fast}})
	got := []string{rest[1], rest[4]}
	if diff := cmp.Diff([]string{"default UnknownBadRequest - 400 - - very slow never reached, see row 2", "default Throttled - 429 - - slow never reached, see row 1"}, got); diff != "" {
		t.Errorf("general rules that a table replaces (-want +got):\n%s", diff)
	}
}
