package checks_test

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/run"
)

func TestResourceIs(t *testing.T) {
	objection := func(d *Database) string {
		if d.Version < 12 {
			return "version 12 is the oldest"
		}
		return ""
	}
	cases := map[string]struct {
		reason string
		d      *Database
		opts   []checks.Option
		want   answer
	}{
		"None":      {"a resource without an objection proceeds", &Database{Version: 12}, nil, proceeding()},
		"One":       {"an objection blocks until the resource changes", &Database{}, nil, blocks("ResourceUnsuitable", classify.OnChange, "version 12 is the oldest")},
		"Options":   {"options change the reason and the retry", &Database{}, []checks.Option{checks.WithReason(checks.ReasonSpecInvalid), checks.WithRetry(classify.Slow), checks.WithWaitingFor(lan)}, blocks("SpecInvalid", classify.Slow, "version 12 is the oldest", lan)},
		"Finished":  {"the objection becomes the message of the verdict", &Database{}, []checks.Option{checks.WithVerdict(checks.Finished("TooOld", ""))}, answer{Result: checks.Finished("TooOld", "version 12 is the oldest")}},
		"Release":   {"and the text of a release", &Database{}, []checks.Option{checks.WithVerdict(checks.Release(""))}, answer{Result: checks.Release("version 12 is the oldest")}},
		"Ignore":    {"an Ignore keeps its options", &Database{}, []checks.Option{checks.WithVerdict(checks.Ignore("", checks.WithAfter(time.Hour)))}, answer{Result: checks.Ignore("version 12 is the oldest", checks.WithAfter(time.Hour))}},
		"NoVerdict": {"without an objection there is no verdict", &Database{Version: 12}, []checks.Option{checks.WithVerdict(checks.Release(""))}, proceeding()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mustAnswer(t, tc.reason, tc.want, checks.ResourceIs("version", objection, tc.opts...), &checks.Request[*Database]{Resource: tc.d})
		})
	}
	t.Run("Nil", func(t *testing.T) {
		_, err := ask(t, checks.ResourceIs("version", objection), &checks.Request[*Database]{})
		mustNameNil(t, err, "version", "resource_test.go", `return an objection or "" where a field that may be nil is unset`)
	})
}

func TestPaused(t *testing.T) {
	const text = "the resource is paused; resume it to continue"
	paused := func(d *Database) bool { return d.Paused }
	req := &checks.Request[*Database]{Resource: &Database{Paused: true}}
	mustAnswer(t, "the resource is not paused", proceeding(), checks.Paused(paused), &checks.Request[*Database]{Resource: &Database{}})
	mustAnswer(t, "a paused resource waits until a person resumes it", blocks("Paused", classify.OnChange, text), checks.Paused(paused), req)
	mustAnswer(t, "options replace the reason and the retry", blocks("OnHold", classify.Slow, text), checks.Paused(paused, checks.WithReason("OnHold"), checks.WithRetry(classify.Slow)), req)
	_, err := ask(t, checks.Paused(paused), &checks.Request[*Database]{})
	mustNameNil(t, err, "Paused", "resource_test.go", "return false where a field that may be nil is unset")
}

// mustNameNil fails the test unless an error names the place of a nil
// dereference, and the remedy.
func mustNameNil(t *testing.T, err error, check, file, remedy string) {
	t.Helper()
	want := regexp.MustCompile("^" + regexp.QuoteMeta(check+": the function dereferenced nil at checks/"+file) + ":[0-9]+: " + regexp.QuoteMeta(remedy) + "$")
	if err == nil || !want.MatchString(err.Error()) {
		t.Errorf("the error of a nil dereference is %v, want %s", err, want)
	}
}

func TestApprovalPending(t *testing.T) {
	const (
		pending      = " must be approved by a person"
		rejected     = " was rejected: a person has to approve it or to remove it"
		disconnected = " was disconnected: a person has to connect it again"
		absent       = " has no approval status yet"
	)
	type req = checks.Request[*[]checks.Approval]
	of := func(status string) checks.Approval { return checks.Approval{Name: status, Status: status} }
	list := func(a ...checks.Approval) req { return req{Resource: &a} }
	nilled := nilHere("resource_test.go")
	unreported := noting(blocks("ApprovalAbsent", classify.Slow, "the list of approvals is not reported yet"), nilled)
	cases := map[string]struct {
		reason string
		req    req
		opts   []checks.Option
		want   answer
	}{
		"OddCase":   {"case and white space make no difference", list(of("approved"), of(" APPROVED\n")), nil, proceeding()},
		"Rejected":  {"no retry helps against a rejection", list(of("Rejected")), nil, blocks("ApprovalRejected", classify.OnChange, "Rejected"+rejected)},
		"Absent":    {"an unreported status is not approved", list(checks.Approval{Name: "backup"}), nil, blocks("ApprovalAbsent", classify.Slow, "backup"+absent)},
		"Unknown":   {"an unknown status is not approved", list(checks.Approval{Name: "backup", Status: "Approved?\n"}), nil, blocks("ApprovalUnknown", classify.Slow, `backup has the unknown approval status "Approved?": it must be approved`)},
		"Described": {"the message includes the description", list(checks.Approval{Name: "backup", Status: "Rejected", Description: "not in this network"}), nil, blocks("ApprovalRejected", classify.OnChange, "backup"+rejected+" (not in this network)")},
		"Nameless":  {"the index replaces a missing name", list(of("Approved"), checks.Approval{Status: "Pending"}, of("Approved")), nil, blocks("ApprovalPending", classify.Slow, "connection 2 of 3"+pending)},
		"Disconnected2": {
			"disconnected is more severe than unreported", list(of("Pending"), checks.Approval{Name: "a"}, of("Disconnected")), nil,
			blocks("ApprovalDisconnected", classify.OnChange, "Pending"+pending+"; a"+absent+"; Disconnected"+disconnected),
		},
		"Minimum":       {"enough approvals proceed", list(of("Approved"), of("Approved")), []checks.Option{checks.WithMinimum(2)}, proceeding()},
		"TooFew":        {"too few approvals block", list(of("Approved")), []checks.Option{checks.WithMinimum(2)}, blocks("ApprovalAbsent", classify.Slow, "approvals found: 1, required: at least 2")},
		"Replaced":      {"options replace the reason and the retry", list(of("Rejected")), []checks.Option{checks.WithReason("NotApproved"), checks.WithRetry(classify.VerySlow)}, blocks("NotApproved", classify.VerySlow, "Rejected"+rejected)},
		"NilInSelector": {"a nil dereference is an unreported status", list(checks.Approval{Name: "nil"}), nil, noting(blocks("ApprovalAbsent", classify.Slow, "connection 1 of 1"+absent), nilled)},

		"NotReported":   {"an unreported list is unknown, not empty: a present resource may have approvals", req{Presence: checks.Present}, nil, unreported},
		"NotThere":      {"an absent resource has nothing to approve", req{Presence: checks.Absent}, nil, proceeding(nilled)},
		"NotThereYet":   {"an absent resource has fewer approvals than the minimum", req{Presence: checks.Absent}, []checks.Option{checks.WithMinimum(1)}, noting(blocks("ApprovalAbsent", classify.Slow, "approvals found: 0, required: at least 1"), nilled)},
		"NotThereAfter": {"an absent resource blocks after Apply", req{Presence: checks.Absent, OwnerRequest: checks.OwnerRequest{Applied: true}}, nil, unreported},
		"NotNeeded":     {"WithUnknownAllowed proceeds", req{Presence: checks.Present}, []checks.Option{checks.WithUnknownAllowed()}, proceeding(nilled)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			check := checks.ApprovalPending(func(a *[]checks.Approval) []checks.Approval { return *a }, func(a checks.Approval) checks.Approval {
				if a.Name == "nil" {
					return *(*checks.Approval)(nil)
				}
				return a
			}, tc.opts...)
			mustAnswer(t, tc.reason, tc.want, check, &tc.req)
		})
	}
}

// Deep holds a state three pointers deep, like the types of a cloud's SDK.
type Deep struct {
	Status *DeepStatus
	List   []*DeepStatus
	Map    map[string]string
	Face   fmt.Stringer
}

type DeepStatus struct{ Properties *DeepProperties }

type DeepProperties struct{ State *State }

// State is a named string type, as in SDKs.
type State string

func deep(s *State) *Deep { return &Deep{Status: &DeepStatus{&DeepProperties{s}}} }

func deepState(d *Deep) *State { return d.Status.Properties.State }

// TestNilPlace requires that the trace shows the line of a nil dereference.
func TestNilPlace(t *testing.T) {
	_, _, line, _ := runtime.Caller(0)
	selector := func(d *Deep) *State { return d.Status.Properties.State }
	var notes []string
	ctx := run.WithNotes(t.Context(), func(text string) { notes = append(notes, text) })
	_, _ = checks.Compose(chain.New(checks.ProvisioningState(selector)))(ctx, &checks.Request[*Deep]{})
	want := []string{fmt.Sprintf("nil dereferenced at checks/resource_test.go:%d", line+1)}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Errorf("the notes: -want, +got:\n%s", diff)
	}
}

// TestSelectorsPanic tries other panics than a nil dereference in each function
// that may dereference nil. None of them means "not reported".
func TestSelectorsPanic(t *testing.T) {
	failure := errors.New("selector failed")
	cases := map[string]struct {
		reason string
		do     func(*Deep)
		is     error
		want   string
	}{
		"NilMap": {"a write to a nil map is an error", func(d *Deep) { d.Map["a"] = "b" }, nil, "assignment to entry in nil map"},
		"Error":  {"errors.Is finds the error", func(*Deep) { panic(failure) }, failure, "selector failed"},
	}
	req := func() *checks.Request[*Deep] {
		d := deep(new(State("Succeeded")))
		return &checks.Request[*Deep]{Resource: d, Presence: checks.Present, OwnerRequest: checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: d}}}
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, link := range selecting(tc.do) {
				_, err := ask(t, link, req())
				var p *chain.PanicError
				if !errors.As(err, &p) {
					t.Errorf("%s: %s gave %v, not the panic", tc.reason, nameOf(link), err)
					continue
				}
				if !strings.HasSuffix(err.Error(), "panic in link "+p.Link+": "+tc.want) || !strings.Contains(nameOf(link), p.Link) {
					t.Errorf("%s: %s gave the error %q, want one of it that ends with %q", tc.reason, nameOf(link), err, tc.want)
				}
				if tc.is != nil && !errors.Is(err, tc.is) {
					t.Errorf("%s: errors.Is does not find the error that %s panicked with", tc.reason, nameOf(link))
				}
				if !strings.Contains(string(p.Stack), "resource_test.go") {
					t.Errorf("%s: the stack of %s does not show where the panic was:\n%s", tc.reason, nameOf(link), p.Stack)
				}
			}
		})
	}
}

// selecting returns each check with a function that may dereference nil. The
// function calls do first, and then returns a value for which the check
// proceeds.
func selecting(do func(*Deep)) []checks.Middleware[*Deep] {
	return []checks.Middleware[*Deep]{
		checks.ProvisioningState(func(d *Deep) *State { do(d); return deepState(d) }),
		checks.ReferenceReady("network", func(d *Deep) []checks.Ref { do(d); return nil }),
		checks.ApprovalPending(func(d *Deep) []int { do(d); return nil }, func(int) checks.Approval { return checks.Approval{} }),
		checks.Paused(func(d *Deep) bool { do(d); return false }),
		checks.OwnerFits("suits", func(_, d *Deep) string { do(d); return "" }),
		checks.OnOwner[*Deep](checks.OwnerProvisioningState(func(d *Deep) *State { do(d); return deepState(d) })),
		checks.OnOwner[*Deep](checks.OwnerIs("fits", func(d *Deep) string { do(d); return "" })),
	}
}

// FuzzState gives a state to each check of states, with two allowed or denied
// states, and compares the answers with a model. The corpus is in
// testdata/fuzz.
func FuzzState(f *testing.F) {
	f.Fuzz(func(t *testing.T, state, one, two string) {
		set := []string{one, two}
		if trimmed(one) == "" || trimmed(two) == "" {
			if text := panicOf(func() { checks.ProvisioningState(deepState, checks.WithAllowed(set...)) }); !strings.Contains(text, "names an empty state") {
				t.Errorf("WithAllowed(%q) gave the panic %q", set, text)
			}
			return
		}
		want := slices.ContainsFunc(set, func(s string) bool {
			return folded(trimmed(state)) == folded(trimmed(s))
		})
		reported := trimmed(state) != ""
		d := deep(new(State(state)))
		req := &checks.Request[*Deep]{Resource: d, Presence: checks.Present, OwnerRequest: checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: d}}}
		for name, tc := range map[string]struct {
			set  checks.Option
			lets bool
		}{"Allow": {checks.WithAllowed(set...), want}, "Deny": {checks.WithDenied(set...), !want}} {
			for _, unknownAllowed := range []bool{false, true} {
				opts := []checks.Option{tc.set}
				lets := reported && tc.lets
				if unknownAllowed {
					opts = append(opts, checks.WithUnknownAllowed())
					lets = !reported || tc.lets
				}
				for _, link := range []checks.Middleware[*Deep]{
					checks.OnOwner[*Deep](checks.OwnerProvisioningState(deepState, opts...)),
					checks.ProvisioningState(deepState, opts...),
					live(d, opts...),
				} {
					check := name + " in " + nameOf(link)
					first, err := ask(t, link, req)
					if err != nil || first.Result.Proceeds() != lets || first.Result.Blocked() == lets {
						t.Errorf("%q, %q: %s answers %s, error %v, want proceed: %t", state, set, check, first.Result, err, lets)
					}
					if message := first.Result.Message(); oneLine(trimmed(one)) && oneLine(trimmed(two)) && !oneLine(message) {
						t.Errorf("%q: the message of %s is not one line of text: %q", state, check, message)
					}
				}
			}
		}
	})
}

// trimmed returns a state without the white space around it.
func trimmed(s string) string { return strings.TrimFunc(s, unicode.IsSpace) }

// folded replaces each character by the smallest one with the same simple
// folding in Unicode. All invalid bytes become equal.
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, s)
}

// oneLine reports whether a text is valid UTF-8 and printable.
func oneLine(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
