package checks_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

// Deep holds a state behind three pointers, as the types of a cloud's SDK do.
type Deep struct {
	Status *DeepStatus
	List   []*DeepStatus
	Map    map[string]string
	Face   fmt.Stringer
}

type DeepStatus struct{ Properties *DeepProperties }

type DeepProperties struct{ State *State }

// State is a type of its own, as those of SDKs are.
type State string

func deep(s *State) *Deep { return &Deep{Status: &DeepStatus{&DeepProperties{s}}} }

func deepState(d *Deep) *State { return d.Status.Properties.State }

// TestStates tries all that decides about a state with each of the three checks of states: what a table of states says
// must not depend on whose state it is.
func TestStates(t *testing.T) {
	const settled = ": it must be Succeeded, Failed or Canceled"
	long := strings.Repeat("x", 200)
	cases := map[string]struct {
		reason string
		state  *Deep
		opts   []checks.Option
		want   string // "", "unknown" or what the message says behind "is in state"; "noted" if it passes unknown
	}{
		"Succeeded": {"a settled state lets the work go on", deep(ptr(State("Succeeded"))), nil, ""},
		"Failed":    {"so does a failed one: nothing is going on in it", deep(ptr(State("Failed"))), nil, ""},
		"Canceled":  {"and a canceled one", deep(ptr(State("Canceled"))), nil, ""},
		"OddCase":   {"clouds are not consistent about case", deep(ptr(State("sUCCEEDED"))), nil, ""},
		"Padded":    {"nor about white space", deep(ptr(State(" Succeeded\n"))), nil, ""},
		"Creating":  {"anything else blocks", deep(ptr(State("Creating"))), nil, ` "Creating"` + settled},
		"Prefix":    {"a state that begins like one is another one", deep(ptr(State("SucceededX"))), nil, ` "SucceededX"` + settled},

		"NilStatus":     {"a nil on the way is a state that nobody reported", &Deep{}, nil, "unknown"},
		"NilProperties": {"at each level", &Deep{Status: &DeepStatus{}}, nil, "unknown"},
		"NilState":      {"the last one included", deep(nil), nil, "unknown"},
		"Empty":         {"the empty state is none", deep(ptr(State(""))), nil, "unknown"},
		"Blank":         {"white space is no state", deep(ptr(State(" \t\r\n"))), nil, "unknown"},
		"WideBlank":     {"the white space of Unicode neither", deep(ptr(State("\u00a0\u3000"))), nil, "unknown"},
		"BlankDenied":   {"what is not reported is not let through for not being denied", deep(ptr(State("\u00a0"))), []checks.Option{checks.WithDenied("Deleting")}, "unknown"},
		"UnknownDenied": {"nor is a nil", deep(nil), []checks.Option{checks.WithDenied("Deleting")}, "unknown"},
		"UnknownExact":  {"nor is it by comparing exactly", deep(ptr(State(" "))), []checks.Option{checks.WithDenied("Deleting"), checks.WithExactStates()}, "unknown"},

		"UnknownProceeds":  {"the option lets it pass, and the trace says so", &Deep{}, []checks.Option{checks.WithUnknownAllowed()}, "noted"},
		"BlankProceeds":    {"however it is that nothing is known", deep(ptr(State(" "))), []checks.Option{checks.WithUnknownAllowed()}, "noted"},
		"KnownWithUnknown": {"the option is about unknown states only", deep(ptr(State("Creating"))), []checks.Option{checks.WithUnknownAllowed()}, ` "Creating"` + settled},

		"Allowed":         {"a set of one's own replaces that of Settled", deep(ptr(State("ready"))), []checks.Option{checks.WithAllowed("Ready", "Stopped")}, ""},
		"NotAllowed":      {"so Succeeded is not in it", deep(ptr(State("Succeeded"))), []checks.Option{checks.WithAllowed("Ready", "Stopped")}, ` "Succeeded": it must be Ready or Stopped`},
		"AllowOne":        {"one state is named alone", deep(ptr(State("Succeeded"))), []checks.Option{checks.WithAllowed("Ready")}, ` "Succeeded": it must be Ready`},
		"AllowTyped":      {"the states of a type of one's own are taken as they are", deep(ptr(State("Ready"))), []checks.Option{checks.WithAllowed(State("Ready"))}, ""},
		"AllowTwice":      {"the states of several WithAllowed add up", deep(ptr(State("Stopped"))), []checks.Option{checks.WithAllowed("Ready"), checks.WithAllowed("Stopped")}, ""},
		"AllowSettled":    {"the usual set can be added to", deep(ptr(State("Succeeded"))), []checks.Option{checks.WithAllowed(append(checks.Settled(), "Ready")...)}, ""},
		"AllowPadded":     {"white space around an option's state is no part of it", deep(ptr(State("Ready"))), []checks.Option{checks.WithAllowed(" Ready ")}, ""},
		"Denied":          {"a denied state blocks", deep(ptr(State("deleting"))), []checks.Option{checks.WithDenied("Deleting", "Frozen")}, ` "deleting": it must not be Deleting or Frozen`},
		"NotDenied":       {"all others pass", deep(ptr(State("Creating"))), []checks.Option{checks.WithDenied("Deleting", "Frozen")}, ""},
		"Exact":           {"exactly the state that is allowed", deep(ptr(State("Succeeded"))), []checks.Option{checks.WithExactStates(), checks.WithAllowed("Succeeded")}, ""},
		"ExactCase":       {"another case is another state", deep(ptr(State("succeeded"))), []checks.Option{checks.WithExactStates(), checks.WithAllowed("Succeeded")}, ` "succeeded": it must be Succeeded`},
		"ExactPadded":     {"so is white space", deep(ptr(State("Succeeded "))), []checks.Option{checks.WithExactStates(), checks.WithAllowed("Succeeded")}, ` "Succeeded ": it must be Succeeded`},
		"ExactDenied":     {"for a denied one, too", deep(ptr(State("deleting"))), []checks.Option{checks.WithExactStates(), checks.WithDenied("Deleting")}, ""},
		"ExactAndSettled": {"without a set of one's own it is about Settled", deep(ptr(State("succeeded"))), []checks.Option{checks.WithExactStates()}, ` "succeeded"` + settled},

		"Control": {"the message stays one line", deep(ptr(State("a\nb\"c\x1b"))), nil, ` "a; b\"c\x1b"` + settled},
		"Invalid": {"and is text", deep(ptr(State("a\xffb"))), nil, ` "a` + "\uFFFD" + `b"` + settled},
		"Umlaut":  {"that people can read", deep(ptr(State("Läuft"))), nil, ` "Läuft"` + settled},
		"Long":    {"and has an end", deep(ptr(State(long))), nil, ` "` + long[:80] + `... (120 bytes more)"` + settled},
		"Cut":     {"that leaves no half character behind", deep(ptr(State(long[:79] + "ä" + long[81:]))), nil, ` "` + long[:79] + `... (121 bytes more)"` + settled},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want := func(unknown, state, unknownText, text, note string, refs ...checks.Ref) answer {
				notes := nilNotes(tc.state)
				switch tc.want {
				case "":
					return passes()
				case "noted":
					return passes(append(notes, note)...)
				case "unknown":
					all := settled
					if len(tc.opts) > 0 {
						all = ": it must not be Deleting"
					}
					return noting(blocks(unknown, classify.Slow, unknownText+all, refs...), notes...)
				}
				return blocks(state, classify.Slow, text+" is in state"+tc.want, refs...)
			}
			req := &checks.Request[*Deep]{Resource: tc.state, Presence: checks.Present, OwnerRequest: checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: tc.state}}}

			mustAnswer(t, "OwnerProvisioningState: "+tc.reason,
				want("OwnerStateUnknown", "OwnerState", "owner Cluster prod has not reported a state yet", "owner Cluster prod", "the owner has not reported a state", prod),
				checks.OwnerProvisioningState(deepState, tc.opts...), &req.OwnerRequest)

			ofResource := want("ResourceStateUnknown", "ResourceState", "the resource is in the cloud and has not reported a state yet", "the resource", "no state is reported")
			mustAnswer(t, "ProvisioningState: "+tc.reason, ofResource, checks.ProvisioningState(deepState, tc.opts...), req)
			ofResource.Notes = slices.DeleteFunc(ofResource.Notes, func(note string) bool { return note == nilHere("state_test.go") })
			if len(ofResource.Notes) == 0 {
				ofResource.Notes = nil
			}
			mustAnswer(t, "LiveState: "+tc.reason, ofResource, live(tc.state, tc.opts...), req)
			if res, _ := ask(t, checks.ProvisioningState(deepState, tc.opts...), req); !utf8.ValidString(res.Result.Message()) {
				t.Errorf("%s: the message %q is no valid text", tc.reason, res.Result.Message())
			}
		})
	}
}

// nilNotes returns the notes that deepState leaves in the trace.
func nilNotes(d *Deep) []string {
	if d.Status == nil || d.Status.Properties == nil {
		return []string{nilHere("state_test.go")}
	}
	return nil
}

// TestNilPlace finds the line of a selector that dereferences nil.
func TestNilPlace(t *testing.T) {
	_, _, line, _ := runtime.Caller(0)
	selector := func(d *Deep) *State { return d.Status.Properties.State }
	var notes []string
	ctx := chain.WithNotes(t.Context(), func(text string) { notes = append(notes, text) })
	_, _ = checks.Compose(chain.New(checks.ProvisioningState(selector)))(ctx, &checks.Request[*Deep]{})
	want := []string{fmt.Sprintf("nil dereferenced at checks/state_test.go:%d", line+1)}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Errorf("a bug in a selector is visible: -want, +got:\n%s", diff)
	}
}

func TestSettledIsACopy(t *testing.T) {
	states := checks.Settled()
	states[0] = "Changed"
	if diff := cmp.Diff([]string{"Succeeded", "Failed", "Canceled"}, checks.Settled()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestSelectorsPanic tries each function that may follow pointers blindly with panics that are no nil pointer. None of
// them may pass for "not reported".
func TestSelectorsPanic(t *testing.T) {
	failure := errors.New("selector failed")
	cases := map[string]struct {
		reason string
		do     func(*Deep)
		is     error
		want   string
	}{
		"Index":     {"an index out of range is a fault", func(d *Deep) { _ = d.List[len(d.List)] }, nil, "runtime error: index out of range [0] with length 0"},
		"NilMap":    {"so is a write to a nil map, though there is a nil in it", func(d *Deep) { d.Map["a"] = "b" }, nil, "assignment to entry in nil map"},
		"Assertion": {"so is a type that is another one", func(d *Deep) { _ = any(d).(fmt.Stringer) }, nil, "interface conversion: *checks_test.Deep is not fmt.Stringer: missing method String"},
		"Text":      {"a text that speaks of a nil pointer is none", func(*Deep) { panic("nil pointer dereference") }, nil, "nil pointer dereference"},
		"ErrorText": {"nor is an error that does", func(*Deep) { panic(errors.New("nil pointer dereference")) }, nil, "nil pointer dereference"},
		"Error":     {"an error stays the same error", func(*Deep) { panic(failure) }, failure, "selector failed"},
		"Nil":       {"panic(nil) is a panic, too", func(*Deep) { panic(nil) }, nil, "panic called with nil argument"},
	}
	req := func() *checks.Request[*Deep] {
		d := deep(ptr(State("Succeeded")))
		return &checks.Request[*Deep]{Resource: d, Presence: checks.Present, OwnerRequest: checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: d}}}
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, link := range blind(tc.do) {
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
				if !strings.Contains(string(p.Stack), "state_test.go") {
					t.Errorf("%s: the stack of %s does not show where the panic was:\n%s", tc.reason, nameOf(link), p.Stack)
				}
			}
		})
	}
}

// blind are the checks with a function that may follow pointers blindly; it does do before it returns what lets pass.
func blind(do func(*Deep)) []checks.Middleware[*Deep] {
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

// TestSelectorsGoexit ends the goroutine in a selector, as a failing test does.
func TestSelectorsGoexit(t *testing.T) {
	for _, link := range blind(func(*Deep) { runtime.Goexit() }) {
		d := &Deep{}
		req := &checks.Request[*Deep]{Resource: d, Presence: checks.Present, OwnerRequest: checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: d}}}
		returned, done := false, make(chan struct{})
		go func() {
			defer close(done)
			ctx := chain.WithNotes(t.Context(), func(text string) { t.Errorf("%s: runtime.Goexit is not %s", nameOf(link), text) })
			_, _ = checks.Compose(chain.New(link))(ctx, req)
			returned = true
		}()
		<-done
		if returned {
			t.Errorf("%s: runtime.Goexit in a selector was taken for a state that is not reported", nameOf(link))
		}
	}
}

// FuzzState asks each check of states about a state, with two states that are allowed or denied, and holds what they say
// against what the options promise. The corpus is in testdata/fuzz.
func FuzzState(f *testing.F) {
	f.Fuzz(func(t *testing.T, state, one, two string, exact bool) {
		set := []string{one, two}
		if trimmed(one) == "" || trimmed(two) == "" {
			if text := panicOf(func() { checks.ProvisioningState(deepState, checks.WithAllowed(set...)) }); !strings.Contains(text, "names an empty state") {
				t.Errorf("WithAllowed(%q) gave the panic %q", set, text)
			}
			return
		}
		want := slices.ContainsFunc(set, func(s string) bool {
			if exact {
				return state == trimmed(s) // white space around an option's state is no part of it
			}
			return folded(trimmed(state)) == folded(trimmed(s))
		})
		reported := trimmed(state) != ""
		d := deep(ptr(State(state)))
		req := &checks.Request[*Deep]{Resource: d, Presence: checks.Present, OwnerRequest: checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: d}}}
		for name, tc := range map[string]struct {
			set  checks.Option
			lets bool
		}{"Allow": {checks.WithAllowed(set...), want}, "Deny": {checks.WithDenied(set...), !want}} {
			for _, unknownProceeds := range []bool{false, true} {
				opts := []checks.Option{tc.set}
				lets := reported && tc.lets
				if exact {
					opts = append(opts, checks.WithExactStates())
				}
				if unknownProceeds {
					opts = append(opts, checks.WithUnknownAllowed())
					lets = !reported || tc.lets
				}
				for _, link := range []checks.Middleware[*Deep]{
					checks.OnOwner[*Deep](checks.OwnerProvisioningState(deepState, opts...)),
					checks.ProvisioningState(deepState, opts...),
					live(d, opts...),
				} {
					said := name + " in " + nameOf(link)
					first, err := ask(t, link, req)
					if err != nil || first.Result.Proceeds() != lets || first.Result.Blocked() == lets {
						t.Errorf("%q, %q, exact %t: %s says %s, error %v; it should proceed: %t", state, set, exact, said, first.Result, err, lets)
					}
					if again, _ := ask(t, link, req); !again.Result.Equal(first.Result) {
						t.Errorf("%q: %s says %s, and then %s", state, said, first.Result, again.Result)
					}
					if message := first.Result.Message(); oneLine(trimmed(one)) && oneLine(trimmed(two)) && !oneLine(message) {
						t.Errorf("%q: the message of %s is not one line of text: %q", state, said, message)
					}
				}
			}
		}
	})
}

// trimmed is a state without the white space around it.
func trimmed(s string) string { return strings.TrimFunc(s, unicode.IsSpace) }

// folded writes each character as the least of those that differ from it by case only, by Unicode's simple folding. Bytes
// that are no text are all the same.
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, s)
}

// oneLine tells whether a text is valid and can be shown as it is.
func oneLine(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
