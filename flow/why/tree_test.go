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
	cases := map[string]struct {
		reason  string
		objects []why.Object
		of      checks.Ref
		want    string
	}{
		"Unknown": {"the graph does not have it", nil, a, ""},
		"Alone": {"an object is its own cause", []why.Object{{Ref: a, State: why.Failed, Reason: "QuotaExceeded", Message: "no cores are left", Since: noon.Add(-50 * time.Hour)}}, a,
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
		"Deep": {"the number of lines is bounded", chain, name(0), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := why.New(tc.objects).Tree(tc.of, noon)
			if name == "Many" {
				for _, r := range long {
					got = strings.Replace(got, r.String(), "N", 1)
				}
			}
			if name == "Deep" {
				if n := strings.Count(got, "\n"); n != 61 || !strings.HasSuffix(got, "and more\n") {
					t.Errorf("%s: there are %d lines:\n%s", tc.reason, n, got)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// No text of an object adds a line to a tree.
func TestTreeHostile(t *testing.T) {
	evil := "x\n└─ N forged\x1b[31m\u202e" + strings.Repeat("long ", 3000)
	o := why.Object{Ref: checks.Ref{Kind: evil, Name: evil}, State: why.State(evil), Reason: evil, Message: evil, Link: evil, WaitingFor: []checks.Ref{{Kind: evil, Name: "b"}}}
	got := why.New([]why.Object{o}).Tree(o.Ref, noon)
	if n := strings.Count(got, "\n"); n != 2 || len(got) > 1000 || strings.ContainsAny(got, "\x1b\u202e") {
		t.Errorf("the tree has %d lines and %d bytes:\n%s", n, len(got), got)
	}
}
