package chain_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
)

func TestEdit(t *testing.T) {
	named := func(name string) link { return chain.Named(name, declared) }
	base := chain.New(named("lock"), named("quota"), named("audit"), named("audit"))
	x, y := named("x"), named("y")

	cases := map[string]struct {
		reason string
		edit   func() (links, error)
		want   string
		err    *chain.NameError
		text   string
	}{
		"InsertBefore":      {reason: "the new links are before the named one", edit: func() (links, error) { return base.InsertBefore("quota", x, y) }, want: "lock -> x -> y -> quota -> audit -> audit"},
		"InsertBeforeFirst": {reason: "the named link may be the outermost", edit: func() (links, error) { return base.InsertBefore("lock", x) }, want: "x -> lock -> quota -> audit -> audit"},
		"InsertAfter":       {reason: "the new links are after the named one", edit: func() (links, error) { return base.InsertAfter("quota", x, y) }, want: "lock -> quota -> x -> y -> audit -> audit"},
		"Replace":           {reason: "the new links take the place of the named one", edit: func() (links, error) { return base.Replace("quota", x, y) }, want: "lock -> x -> y -> audit -> audit"},
		"ReplaceByNothing":  {reason: "Replace without new links removes the named one", edit: func() (links, error) { return base.Replace("quota") }, want: "lock -> audit -> audit"},
		"Without":           {reason: "all other links stay", edit: func() (links, error) { return base.Without("lock") }, want: "quota -> audit -> audit"},
		"NoLinks":           {reason: "InsertAfter without new links changes nothing", edit: func() (links, error) { return base.InsertAfter("lock") }, want: "lock -> quota -> audit -> audit"},
		"Missing": {
			reason: "the error contains the missing name and the chain",
			edit:   func() (links, error) { return base.InsertBefore("qouta", x) },
			want:   "lock -> quota -> audit -> audit",
			err:    &chain.NameError{Op: "InsertBefore", Name: "qouta", Chain: "lock -> quota -> audit -> audit"},
			text:   `chain: InsertBefore: no link is named "qouta" in lock -> quota -> audit -> audit`,
		},
		"Double": {
			reason: "the error of an ambiguous name says how to fix it",
			edit:   func() (links, error) { return base.Without("audit") },
			want:   "lock -> quota -> audit -> audit",
			err:    &chain.NameError{Op: "Without", Name: "audit", Found: 2, Chain: "lock -> quota -> audit -> audit"},
			text:   `chain: Without: 2 links are named "audit" in lock -> quota -> audit -> audit: give each a name of its own with chain.Named`,
		},
		"Empty": {
			reason: "an empty chain has no link of any name",
			edit:   func() (links, error) { return links{}.Replace("quota", x) },
			want:   "(empty)",
			err:    &chain.NameError{Op: "Replace", Name: "quota", Chain: "(empty)"},
			text:   `chain: Replace: no link is named "quota" in (empty)`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.edit()
			if got.String() != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
			var named *chain.NameError
			if errors.As(err, &named); !cmp.Equal(named, tc.err) || named != nil && named.Error() != tc.text {
				t.Errorf("%s: error: -want, +got:\n%s\n%v", tc.reason, cmp.Diff(tc.err, named), err)
			}
		})
	}
}

// An edited chain keeps its observers.
func TestEditKeepsObservers(t *testing.T) {
	o := &tracer{id: "o", on: true}
	c, err := chain.New(step{id: "a", op: pass}.named()).Observe(o).InsertAfter("a", step{id: "b", op: pass}.named())
	if err != nil {
		t.Fatal(err)
	}
	want := trace(run(layered([]step{{id: "a", op: pass}, {id: "b", op: pass}}, []string{"o"}), stopped))
	if diff := cmp.Diff(want, trace(c.Then(stopped.end()))); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
