package classify

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Codes that TestTableFirstMatchWins seldom draws, or never.
func TestTable(t *testing.T) {
	long := strings.Repeat("Long", 100)
	table := Table{
		{Name: "inner", Code: "DeploymentFailed", InnerCode: "QuotaExceeded NoCores", Retry: VerySlow},
		{Name: "long", Code: long, Retry: Fast},
		{Name: "longest", Code: long + "Est", AnyCase: true, Retry: Fast},
		{Name: "über", Code: "Über", AnyCase: true, Retry: Fast},
		{Name: "signs", Code: "z` a{", AnyCase: true, Retry: Fast},
	}
	cases := map[string]struct {
		reason  string
		failure Failure
		want    string
	}{
		"inner":       {"one of the nested errors has the code", Failure{Code: "DeploymentFailed", Inner: []InnerError{{"Other", ""}, {"QuotaExceeded", "x"}}}, "inner"},
		"long code":   {"a code may have any length", Failure{Code: long}, "long"},
		"last letter": {"the case of Z is ignored", Failure{Code: "Z`"}, "signs"},
		"before A":    {"the character before A has no case", Failure{Code: "Z@"}, "Unknown"},
		"after Z":     {"the character after Z has no case", Failure{Code: "A["}, "Unknown"},
		"not ASCII":   {"the case of letters outside ASCII counts", Failure{Code: "über"}, "Unknown"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, classifyBy(t, &c.failure, table.Link()).Rule()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestTableLinkIsASnapshot(t *testing.T) {
	table := Table{{Code: "Mine", Retry: Fast}}
	link := table.Link()
	table[0] = Rule{Code: "Other", Retry: VerySlow}
	if c := classifyBy(t, &Failure{Code: "Mine"}, link); c.Retry() != Fast {
		t.Errorf("a later change of the table changed the link: %v", c)
	}
}

func TestTableLinkOfNilFailure(t *testing.T) {
	handle := Table{{Status: 400, Retry: OnChange}}.Link()(decide)
	if c, err := handle(t.Context(), nil); err != nil || c.Rule() != "NoFailure" || c.Retry() != Slow {
		t.Errorf("got %v, %v", c, err)
	}
}

// linear decides as the documentation of Table describes it: it tries one rule
// after the other.
func linear(table Table, f *Failure) (Rule, bool) {
	for _, r := range table {
		code := r.Code == ""
		for _, c := range strings.Fields(r.Code) {
			code = code || c == f.Code || r.AnyCase && strings.EqualFold(c, f.Code)
		}
		versions, err := parseAPIVersions(r.APIVersions)
		if err != nil {
			panic(err)
		}
		inner := r.InnerCode == ""
		for _, c := range strings.Fields(r.InnerCode) {
			inner = inner || slices.ContainsFunc(f.Inner, func(e InnerError) bool { return e.Code == c })
		}
		if code && inner && (r.Status == 0 || r.Status == f.Status) && (r.Message.isZero() || r.Message.matches(nil, f)) && versions.match(f.APIVersion) && (r.Link == "" || r.Link == f.Link) &&
			(r.Is == nil || errors.Is(f.Err, r.Is)) {
			return r, true
		}
	}
	return Rule{}, false
}

func TestTableFirstMatchWins(t *testing.T) {
	code := rapid.StringMatching(`[abcABC]{1,2}`)
	rule := rapid.Custom(func(t *rapid.T) Rule {
		r := Rule{Retry: rapid.SampledFrom([]Retry{Fast, Slow, VerySlow, OnChange}).Draw(t, "retry")}
		if rapid.IntRange(0, 4).Draw(t, "has code") > 0 {
			r.Code = strings.Join(rapid.SliceOfN(code, 1, 3).Draw(t, "codes"), " ")
			r.AnyCase = rapid.Bool().Draw(t, "any case")
		}
		if rapid.IntRange(0, 3).Draw(t, "has inner") == 0 {
			r.InnerCode = strings.Join(rapid.SliceOfN(code, 1, 2).Draw(t, "inner codes"), " ")
		}
		r.Status = rapid.SampledFrom([]int{0, 0, 400, 409}).Draw(t, "status")
		if rapid.Bool().Draw(t, "has message") {
			r.Message = Contains(rapid.StringMatching(`[xyX]{1,2}`).Draw(t, "message"))
		}
		r.APIVersions = rapid.SampledFrom([]string{"", "", ">=2024-01-01", "2023-01-01"}).Draw(t, "versions")
		r.Link = rapid.SampledFrom([]string{"", "", "", "x", "X"}).Draw(t, "link")
		r.Is = rapid.SampledFrom([]error{nil, nil, errNoQuota, fs.ErrExist}).Draw(t, "is")
		return r
	}).Filter(func(r Rule) bool { _, err := r.parse(); return err == nil })
	rapid.Check(t, func(t *rapid.T) {
		var table Table
		for _, r := range rapid.SliceOfN(rule, 0, 16).Draw(t, "table") {
			r.Name = fmt.Sprint("row ", len(table)+1)
			if _, err := compile(append(table, r)); err == nil { // it contradicts no earlier row
				table = append(table, r)
			}
		}
		f := &Failure{
			Err:        rapid.SampledFrom([]error{nil, errNoQuota, fmt.Errorf("a: %w", &quotaError{}), likeError{errNoQuota}}).Draw(t, "error"),
			Code:       rapid.OneOf(code, rapid.Just("")).Draw(t, "code"),
			Inner:      rapid.SliceOfN(rapid.Custom(func(t *rapid.T) InnerError { return InnerError{Code: code.Draw(t, "code")} }), 0, 2).Draw(t, "inner"),
			Status:     rapid.SampledFrom([]int{0, 200, 400, 409}).Draw(t, "status"),
			Message:    rapid.StringMatching(`[xyXY]{0,4}`).Draw(t, "message"),
			Link:       rapid.SampledFrom([]string{"", "x", "X"}).Draw(t, "link"),
			APIVersion: rapid.SampledFrom([]string{"", "2023-01-01", "2024-01-01-preview", "2024-01-01"}).Draw(t, "version"),
		}
		want, found := linear(table, f)
		if !found {
			c, _ := decide(ctx(nil), f)
			want = Rule{Name: c.Rule(), Retry: c.Retry()}
		}
		c, _ := Compose(table.Chain())(ctx(nil), f)
		if c.Rule() != want.Name || c.Retry() != want.Retry {
			t.Fatalf("got %v, want %s, %s", c, want.Name, want.Retry)
		}
		// A row that is printed as unreachable must not have decided.
		all, _ := compile(table)
		for i, row := range all {
			if found && want.Name == row.name && len(row.covering) > 0 {
				t.Fatalf("row %d decided, but rows %v cover it", i+1, row.covering)
			}
		}
	})
}

// A row that can never decide is an error if the row that decides in its place
// has another Retry.
func TestTableContradicts(t *testing.T) {
	cases := map[string]struct {
		reason string
		table  Table
		want   string // the panic, from "row"; empty: none
	}{
		"same code": {"the first row always decides", Table{{Code: "A", Retry: Fast}, {Code: "A", Retry: Slow}},
			"row 2 of 2 (A, slow) never decides: row 1 (A, fast) matches every failure that it would match: move it up, or leave one of them out"},
		"any case": {"a row with AnyCase covers each spelling", Table{{Code: "a", AnyCase: true, Retry: Fast}, {Code: "A", Retry: Slow}},
			"row 2 of 2 (A, slow) never decides: row 1 (a, fast) matches every failure that it would match: move it up, or leave one of them out"},
		"inner": {"an InnerCode covers an equal InnerCode", Table{{InnerCode: "A B", Retry: Fast}, {Code: "C", InnerCode: " A  B", Retry: Slow}},
			"row 2 of 2 (C, inner A or B, slow) never decides: row 1 (inner A or B, fast) matches every failure that it would match: move it up, or leave one of them out"},
		"other delay": {"another delay is a contradiction, too", Table{{Code: "A", Retry: Fast, After: time.Minute}, {Code: "A", Retry: Fast}},
			`row 2 of 2 (A, fast) never decides: row 1 (A, fast after 1m0s) matches every failure that it would match: move it up, or leave one of them out`},
		"first of two": {"the message names the first row that cannot decide", Table{{Code: "A", Retry: Fast}, {Code: "A", Retry: Slow}, {Code: "A", Retry: VerySlow}, {Code: "B"}},
			"row 2 of 4 (A, slow) never decides: row 1 (A, fast) matches every failure that it would match: move it up, or leave one of them out"},
		"first broken": {"the message names the first row that cannot be used", Table{{Code: "A"}, {Code: "B"}, {Code: "B", Retry: Fast}},
			"row 1 of 3 (A) cannot be used: its Retry is unset: use Fast, Slow, VerySlow, OnChange or Never"},
		"first of several": {"the message names the earliest row that decides instead", Table{{Code: "B", Retry: Fast}, {Code: "A", Retry: Fast}, {Code: "A B", Retry: Slow}},
			"row 3 of 3 (A or B, slow) never decides: row 1 (B, fast) matches every failure that it would match: move it up, or leave one of them out"},
		"only inner": {"a row without an InnerCode covers a row with one", Table{{Code: "A", Retry: Fast}, {Code: "A", InnerCode: "B", Retry: Slow}},
			"row 2 of 2 (A, inner B, slow) never decides: row 1 (A, fast) matches every failure that it would match: move it up, or leave one of them out"},
		"other versions": {"the later row decides about other versions", Table{{Code: "A", APIVersions: ">=2024-01-01", Retry: Fast}, {Code: "A", Retry: Slow}}, ""},
		"other links":    {"the later row decides about other links", Table{{Code: "A", Link: "a", Retry: Fast}, {Code: "A", Retry: Slow}, {Link: "b", Retry: Slow}}, ""},
		"same link": {"an equal Link is covered", Table{{Link: "a b", Retry: Fast}, {Code: "A", Link: "a b", Retry: Slow}},
			"row 2 of 2 (A, link a b, slow) never decides: row 1 (link a b, fast) matches every failure that it would match: move it up, or leave one of them out"},
		"no comparison":  {"errors that are not comparable may differ", Table{{Is: listError{"a"}, Retry: Fast}, {Is: listError{"a"}, Retry: Slow}}, ""},
		"same Retry":     {"a redundant row with the same Retry is permitted", Table{{Code: "A", Retry: Fast}, {Code: "A", Status: 409, Retry: Fast}}, ""},
		"partly":         {"the later row decides about B", Table{{Code: "A", Retry: Fast}, {Code: "A B", Retry: Slow}}, ""},
		"narrower first": {"the later row decides about other states", Table{{Code: "A", Status: 409, Retry: Fast}, {Code: "A", Retry: Slow}}, ""},
		"exact first":    {"the later row decides about other spellings", Table{{Code: "A", Retry: Fast}, {Code: "A", AnyCase: true, Retry: Slow}}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := panicText(func() { c.table.Link() })
			if diff := cmp.Diff(c.want, strings.TrimPrefix(got, "classify: Table: ")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
