package classify

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
)

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
	// As in Kubernetes' own validation of conditions.
	valid := regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)
	long := rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat("x", rapid.IntRange(1015, 1030).Draw(t, "length")) + rapid.StringMatching(`[:,A.]*`).Draw(t, "end")
	})
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[A-Za-z0-9_,:. ]*`), long)
	rapid.Check(t, func(t *rapid.T) {
		code, rule := text.Draw(t, "code"), text.Draw(t, "rule")
		got := (&Failure{Code: code}).As(rule, Slow).Reason()
		if !valid.MatchString(got) || len(got) > 1024 {
			t.Fatalf("%q is not valid", got)
		}
		if valid.MatchString(code) && len(code) <= 1024 && got != code {
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
			res, _ := handle(t.Context(), ofService(c.code))
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
