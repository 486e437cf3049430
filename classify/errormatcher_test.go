package classify

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
)

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

func TestRowsMatchErrors(t *testing.T) {
	table := Table{
		{Name: "is", Is: errNoQuota, Retry: VerySlow},
		{Name: "exist and message", Is: fs.ErrExist, Message: Contains("in b"), Retry: Fast},
		{Name: "list", Is: listError{"a"}, Retry: Fast},
		{Name: "text", Message: Contains("missing"), Retry: OnChange},
	}
	cases := map[string]struct {
		reason string
		err    error
		want   string // the rule
	}{
		"is, wrapped":    {"an error that wraps it", fmt.Errorf("create: %w", errNoQuota), "is"},
		"is, method":     {"an error with an Is method", fmt.Errorf("create: %w", likeError{errNoQuota}), "is"},
		"message too":    {"all conditions of a row have to hold", fmt.Errorf("in b: %w", fs.ErrExist), "exist and message"},
		"one of two":     {"one condition does not hold", fs.ErrExist, "Unknown"},
		"other":          {"no condition holds", fs.ErrNotExist, "Unknown"},
		"not comparable": {"errors that cannot be compared are not equal", listError{"a"}, "Unknown"},
		"panic":          {"the value of a panic is not compared", &chain.PanicError{Value: errNoQuota}, "Panic"},
		"panics in Is":   {"no later row decides about an error that panics", panics("Is"), "Unreadable(is)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := classifyBy(t, NewFailure(tc.err, "", noon), table.Link())
			fault := "<nil>"
			if name, unreadable := strings.CutPrefix(tc.want, "Unreadable("); unreadable {
				fault = "classify: rule " + strings.TrimSuffix(name, ")") + " cannot decide: " + newUnreadable(tc.err).Error()
			}
			if c.Rule() != tc.want || fmt.Sprint(c.Fault()) != fault || c.Fault() != nil && c.Retry() != Slow {
				t.Errorf("%s: got %v, fault %v, want rule %s, fault %s", tc.reason, c, c.Fault(), tc.want, fault)
			}
		})
	}
}

// A program marks an error by joining it with one of its own. The mark counts for
// each cause, with the code of that cause.
func TestRowsMatchMarkedErrors(t *testing.T) {
	conflict := respErr("Conflict", 409, "busy")
	table := Table{
		{Name: "marked conflict", Is: errNoQuota, Code: "Conflict", Retry: Fast, KeepStatus: true},
		{Name: "marked", Is: errNoQuota, Retry: Fast, KeepStatus: true},
		{Name: "conflict", Code: "Conflict", Retry: OnChange},
	}
	cases := map[string]struct {
		reason string
		err    error
		want   string // the rule
	}{
		"joined":     {"errors.Is finds the mark in the joined error", errors.Join(errNoQuota, errors.New("x")), "marked"},
		"two %w":     {"fmt.Errorf joins, too", fmt.Errorf("%w: %w", errNoQuota, errors.New("x")), "marked"},
		"code":       {"the code is that of the cause", errors.Join(conflict, errNoQuota), "marked conflict"},
		"not marked": {"another join has no mark", errors.Join(conflict, errors.New("x")), "conflict"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := classifyBy(t, newFailure(tc.err, "", noon), table.Link())
			if marked := tc.want != "conflict"; c.Rule() != tc.want || c.KeepsStatus() != marked {
				t.Errorf("%s: got %v, want rule %s", tc.reason, c, tc.want)
			}
		})
	}
}

// A row can set the delay. The longer of its delay and that of the service
// applies.
func TestRowsSetTheDelay(t *testing.T) {
	table := Table{
		{Name: "quota", Is: errNoQuota, Retry: VerySlow, After: 10 * time.Minute},
		{Name: "busy", Code: "Conflict", Retry: Fast, After: 30 * time.Second},
		{Name: "none", Code: "NotFound", Retry: Fast},
	}
	cases := map[string]struct {
		reason string
		err    error
		want   time.Duration
	}{
		"row":     {"the service asks for no delay", errNoQuota, 10 * time.Minute},
		"shorter": {"the service asks for a shorter delay", respErr("Conflict", 409, "", "Retry-After", "15"), 30 * time.Second},
		"longer":  {"the service asks for a longer delay", respErr("Conflict", 409, "", "Retry-After", "45"), 45 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if c := classifyBy(t, newFailure(tc.err, "", noon), table.Link()); c.After() != tc.want {
				t.Errorf("%s: got %v", tc.reason, c)
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
