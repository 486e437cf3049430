package why_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
)

func TestTree(t *testing.T) {
	a, b, c, d := name(1), name(2), name(3), name(4)
	long := make([]checks.Ref, 9)
	for i := range long {
		long[i] = name(10 + i)
	}
	var chain []why.Object
	for i := range 100 {
		chain = append(chain, why.Object{Ref: name(i), State: why.Blocked, WaitingFor: []checks.Ref{name(i + 1)}})
	}
	fan := []why.Object{{Ref: name(200), WaitingFor: []checks.Ref{name(201), name(0)}}, {Ref: name(201), WaitingFor: []checks.Ref{name(300)}}}
	for i := range 9 {
		fan = append(fan, why.Object{Ref: name(300 + i), State: why.Missing})
		fan[1].WaitingFor = append(fan[1].WaitingFor, name(300+i))
	}
	cases := map[string]struct {
		reason  string
		objects []why.Object
		of      checks.Ref
		want    string
	}{
		"Unknown": {"the graph does not have it", nil, a, ""},
		"Alone": {"an object is its own cause", []why.Object{{Ref: a, State: why.Failed, Link: "Quota", Reason: "QuotaExceeded", Message: "no cores are left", Since: noon.Add(-50 * time.Hour)}}, a,
			"N 0001  has failed for 2d: QuotaExceeded: no cores are left  <- root cause: correct the error that its message names\n"},
		"First": {"the path to the first cause comes first, and each object is expanded once", []why.Object{
			{Ref: a, State: why.Blocked, WaitingFor: []checks.Ref{b, c}, Since: noon.Add(-time.Hour)},
			{Ref: b, State: why.InProgress}, {Ref: c, State: why.Blocked, WaitingFor: []checks.Ref{d, b}}, {Ref: d, State: why.Missing},
		}, a, `N 0001  blocked for 1h
├─ N 0003  blocked
│  ├─ N 0004  is missing  <- root cause: create it, or correct the reference
│  └─ N 0002  is in progress  <- root cause: wait until its operation ends, or look at its events
└─ N 0002  is in progress  <- root cause: wait until its operation ends, or look at its events
`},
		"Cycle": {"the cycle is marked where it closes", []why.Object{
			{Ref: a, State: why.Blocked, WaitingFor: []checks.Ref{b}}, {Ref: b, State: why.Blocked, WaitingFor: []checks.Ref{a}},
		}, a, "N 0001  blocked\n└─ N 0002  blocked\n   └─ N 0001  blocked  <- dependency cycle: remove one of the references\n"},
		"Many": {"five awaited objects are shown", []why.Object{{Ref: a, State: why.Blocked, WaitingFor: long}}, a,
			"N 0001  blocked\n" + strings.Repeat("├─ N  has not reported a state  <- root cause: look at the object: no reconciler of this program reports its state\n", 5) + "└─ and 4 more\n"},
		"Six": {"the last one is shown in place of its number", []why.Object{{Ref: a, State: why.Blocked, WaitingFor: long[:6]}}, a,
			"N 0001  blocked\n" + strings.Repeat("├─ N  has not reported a state  <- root cause: look at the object: no reconciler of this program reports its state\n", 5) + "└─ N  has not reported a state  <- root cause: look at the object: no reconciler of this program reports its state\n"},
		"Again": {"an object that is named twice is one, and one with two waiters is expanded once", []why.Object{
			{Ref: a, State: why.Blocked, WaitingFor: []checks.Ref{b, c, b}, Since: noon.Add(time.Hour)},
			{Ref: b, State: why.Blocked, WaitingFor: []checks.Ref{c}}, {Ref: c, State: why.Blocked, WaitingFor: []checks.Ref{d}}, {Ref: d, State: why.Missing},
		}, a, `N 0001  blocked
├─ N 0002  blocked
│  └─ N 0003  blocked
│     └─ N 0004  is missing  <- root cause: create it, or correct the reference
└─ N 0003  blocked  (see above)
`},
		"Deep":  {"the number of lines is bounded", chain, name(0), ""},
		"Fan":   {"a line with a number counts", append(chain, fan...), name(200), ""},
		"Sixty": {"they are shown", chain[41:], name(41), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := why.New(tc.objects).Tree(tc.of, noon)
			if name == "Many" || name == "Six" {
				for _, r := range long {
					got = strings.Replace(got, r.String(), "N", 1)
				}
			}
			if lines := strings.Count(got, "\n"); lines >= 60 {
				if more := strings.HasSuffix(got, "\nand more\n"); lines > 61 || more != (lines == 61) || more != (name != "Sixty") {
					t.Errorf("%s: there are %d lines:\n%s", tc.reason, lines, got)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// No text of an object adds a line to a tree or hides a mark.
func TestTreeHostile(t *testing.T) {
	evil := "x\n└─ N forged\x1b[31m\u202e" + strings.Repeat("long ", 3000)
	o := why.Object{Ref: checks.Ref{Kind: evil, Name: evil}, State: why.State(evil), Reason: evil, Message: evil, Link: evil, WaitingFor: []checks.Ref{{Kind: evil, Name: "b"}}}
	got := why.New([]why.Object{o}).Tree(o.Ref, noon)
	if n := strings.Count(got, "\n"); n != 2 || strings.Index(got, "\n") != 400 || len(got) > 1000 ||
		!strings.HasSuffix(got, "  <- root cause: look at the object: no reconciler of this program reports its state\n") ||
		strings.ContainsAny(got, "\x1b\u202e") {
		t.Errorf("the tree has %d lines and %d bytes:\n%s", n, len(got), got)
	}
}

func TestLine(t *testing.T) {
	got := why.Line("a\x1b[2Jb\u202e\nc password=hunter2 " + strings.Repeat("long ", 1000))
	if strings.ContainsAny(got, "\x1b\u202e\n") || strings.Contains(got, "hunter2") || len(got) > 2000 || !strings.HasPrefix(got, `a\x1b[2Jb\u202e; c `) {
		t.Errorf("the line has %d bytes: %q", len(got), got)
	}
}
