package classify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
)

func TestTable(t *testing.T) {
	long := strings.Repeat("Long", 100)
	table := Table{
		{Name: "busy", Code: "Conflict", Message: Contains("busy"), Retry: Fast},
		{Name: "two codes", Code: "First  Second", Retry: VerySlow},
		{Name: "status and code", Code: "Gone", Status: 410, Retry: OnChange},
		{Name: "status", Status: 423, Retry: VerySlow},
		{Name: "any code", Message: Contains("somewhere else"), Retry: OnChange},
		{Name: "new version", Code: "Old", APIVersions: ">=2024-01-01", Retry: Fast},
		{Name: "again", Code: "first", Retry: Fast},
		{Name: "late", Code: "Late", Retry: Fast},
		{Name: "long", Code: long, Retry: Fast},
		{Name: "über", Code: "Über", Retry: Fast},
	}
	cases := map[string]struct {
		reason  string
		failure Failure
		want    string
	}{
		"code and message": {"both hold", Failure{Code: "Conflict", Message: "It is BUSY."}, "busy"},
		"message missing":  {"the default decides what no row does", Failure{Code: "Conflict", Message: "no"}, "Conflict"},
		"folded":           {"the case of a code does not matter", Failure{Code: "conflict", Message: "busy"}, "busy"},
		"first code":       {"one of several codes", Failure{Code: "FIRST"}, "two codes"},
		"second code":      {"one of several codes", Failure{Code: "second"}, "two codes"},
		"both codes":       {"the codes are several, not one with a space", Failure{Code: "First  Second"}, "Unknown"},
		"status and code":  {"both hold", Failure{Code: "Gone", Status: 410}, "status and code"},
		"code only":        {"only one of both holds", Failure{Code: "Gone", Status: 200}, "Unknown"},
		"status":           {"any code with this status", Failure{Code: "X", Status: 423}, "status"},
		"no code":          {"no code with this status", Failure{Status: 423}, "status"},
		"any code":         {"any code with this message", Failure{Code: "Whatever", Message: "it is somewhere else"}, "any code"},
		"row order":        {"a row with a code in front of one without", Failure{Code: "First", Message: "somewhere else"}, "two codes"},
		"row order 2":      {"a row without a code in front of one with", Failure{Code: "Late", Message: "somewhere else"}, "any code"},
		"version":          {"the version holds", Failure{Code: "Old", APIVersion: "2024-05-01"}, "new version"},
		"old version":      {"it does not", Failure{Code: "Old", APIVersion: "2023-05-01"}, "Unknown"},
		"no version":       {"it is not known", Failure{Code: "Old"}, "Unknown"},
		"long code":        {"a code of any length", Failure{Code: strings.ToUpper(long)}, "long"},
		"longer code":      {"a code longer than any", Failure{Code: long + "x"}, "Unknown"},
		"not ASCII":        {"letters beyond ASCII are compared as they are", Failure{Code: "über"}, "Unknown"},
		"not ASCII either": {"and those of ASCII are folded beside them", Failure{Code: "ÜBER"}, "über"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, classifyBy(t, &c.failure, table.Link()).Rule()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestTableLinkIsNamed(t *testing.T) {
	rule := Rule{Code: "A", Retry: Slow}
	for want, table := range map[string]Table{"Table(0 rules)": nil, "Table(1 rule)": {rule}, "Table(2 rules)": {rule, rule}} {
		if got := chain.New(table.Link()).String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTableLinkIsASnapshot(t *testing.T) {
	table := Table{{Code: "Mine", Retry: Fast}}
	link := table.Link()
	table[0] = Rule{Code: "Other", Retry: VerySlow}
	if c := classifyBy(t, &Failure{Code: "Mine"}, link); c.Retry() != Fast {
		t.Errorf("a change of the table showed in its link: %v", c)
	}
}

func TestFirstTableWins(t *testing.T) {
	first, second := Table{{Code: "Mine", Retry: Fast}}, Table{{Code: "Mine Yours", Retry: VerySlow}}
	for code, want := range map[string]Retry{"Mine": Fast, "Yours": VerySlow, "Conflict": Slow} {
		if c := classifyBy(t, &Failure{Code: code}, first.Link(), second.Link()); c.Retry() != want {
			t.Errorf("%s: got %v, want %s", code, c, want)
		}
	}
}

func TestTableLinkOfNilFailure(t *testing.T) {
	handle := Table{{Status: 400, Retry: OnChange}}.Link()(Default)
	if c, err := handle(t.Context(), nil); err != nil || c.Rule() != "NoFailure" || c.Retry() != Slow {
		t.Errorf("got %v, %v", c, err)
	}
}

// linear is the table as its documentation has it: ask one rule after the other.
func linear(table Table, f *Failure) (Rule, bool) {
	for _, r := range table {
		code := r.Code == ""
		for _, c := range strings.Fields(r.Code) {
			code = code || strings.EqualFold(c, f.Code)
		}
		versions, err := parseAPIVersions(r.APIVersions)
		if err != nil {
			panic(err)
		}
		if code && (r.Status == 0 || r.Status == f.Status) && r.Message.Match(f.Message) && versions.match(f.APIVersion) {
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
		}
		r.Status = rapid.SampledFrom([]int{0, 0, 400, 409}).Draw(t, "status")
		if rapid.Bool().Draw(t, "has message") {
			r.Message = Contains(rapid.StringMatching(`[xyX]{1,2}`).Draw(t, "message"))
		}
		r.APIVersions = rapid.SampledFrom([]string{"", "", ">=2024-01-01", "2023-01-01"}).Draw(t, "versions")
		return r
	}).Filter(func(r Rule) bool { return r.check() == nil })
	rapid.Check(t, func(t *rapid.T) {
		table := Table(rapid.SliceOfN(rule, 0, 12).Draw(t, "table"))
		for i := range table {
			table[i].Name = fmt.Sprint("row ", i+1)
		}
		f := &Failure{
			Code:       rapid.OneOf(code, rapid.Just("")).Draw(t, "code"),
			Status:     rapid.SampledFrom([]int{0, 200, 400, 409}).Draw(t, "status"),
			Message:    rapid.StringMatching(`[xyXY]{0,4}`).Draw(t, "message"),
			APIVersion: rapid.SampledFrom([]string{"", "2023-01-01", "2024-01-01-preview", "2024-01-01"}).Draw(t, "version"),
		}
		want, found := linear(table, f)
		if !found {
			c, _ := Default(ctx(nil), f)
			want = Rule{Name: c.Rule(), Retry: c.Retry()}
		}
		c, _ := Compose(chain.New(table.Link()))(ctx(nil), f)
		if c.Rule() != want.Name || c.Retry() != want.Retry {
			t.Fatalf("got %v, want %s, %s", c, want.Name, want.Retry)
		}
		// What printing calls unreachable must not have been reached.
		for i, by := range shadowed(table) {
			if found && want.Name == table[i].Name {
				t.Fatalf("row %d decided, but is said to be shadowed by %v", i+1, by)
			}
		}
	})
}
