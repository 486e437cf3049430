package classify

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
	}
	if diff := cmp.Diff(want, own); diff != "" {
		t.Errorf("its own rows (-want +got):\n%s", diff)
	}
	for _, line := range rest {
		if !strings.HasPrefix(line, "default ") {
			t.Errorf("%q is not marked as a default", line)
		}
		if unreachable, shadowed := strings.Contains(line, " Throttled "), strings.Contains(line, "never reached, see row 19"); unreachable != shadowed {
			t.Errorf("%q: row 19 must be named for 429 and for no other status", line)
		}
	}
	if want := len(defaults); len(rest) != want {
		t.Errorf("%d lines of defaults, want %d", len(rest), want)
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
