package onion_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/onion"
)

// uncomparable is an error whose values cannot be compared with ==.
type uncomparable struct{ all []string }

func (u uncomparable) Error() string { return fmt.Sprint(u.all) }

// holds is an error of a comparable type. Its values cannot be compared with ==
// if they hold a value that cannot be compared.
type holds struct{ any any }

func (h holds) Error() string { return fmt.Sprint(h.any) }

// The note names the link that decided: outer, inner, or none.
func TestBy(t *testing.T) {
	type handler = chain.Handler[*onion.Note, string]
	errInner, errOuter := errors.New("inner"), errors.New("outer")
	fails := func(err error) handler {
		return func(context.Context, *onion.Note) (string, error) { return "", err }
	}
	returns := func(res string) handler {
		return func(context.Context, *onion.Note) (string, error) { return res, nil }
	}
	replaced := func(res string, err error) func(string, error) (string, error) {
		return func(string, error) (string, error) { return res, err }
	}
	same := func(res string, err error) (string, error) { return res, err }
	cases := map[string]struct {
		reason string
		inner  handler
		outer  func(string, error) (string, error) // returns the results of the outer link
		want   string
	}{
		"Proceed":      {"no link decided", returns(""), same, ""},
		"Passed":       {"the outer link passed on a decision", returns("block"), same, "inner"},
		"Replaced":     {"the outer link made another decision", returns("block"), replaced("other", nil), "outer"},
		"Repaired":     {"the outer link proceeds", returns("block"), replaced("", nil), ""},
		"Error":        {"the outer link passed on an error", fails(errInner), same, "inner"},
		"Wrapped":      {"a wrapped error is passed on", fails(errInner), func(_ string, err error) (string, error) { return "", fmt.Errorf("outer: %w", err) }, "inner"},
		"OtherError":   {"another error is a decision of the outer link", fails(errInner), replaced("", errOuter), "outer"},
		"Uncomparable": {"errors that cannot be compared count as the same error", fails(uncomparable{[]string{"a"}}), same, "inner"},
		"Inside":       {"so do errors of a type whose fields may hold such a value", fails(holds{[]string{"a"}}), same, "inner"},
		"ErrorToBlock": {"the outer link replaced an error with a decision", fails(errInner), replaced("block", nil), "outer"},
		"BlockToError": {"the outer link replaced a decision with an error", returns("block"), replaced("block", errOuter), "outer"},
		"Panic":        {"a panic is an error of its link", func(context.Context, *onion.Note) (string, error) { panic("no") }, same, "inner"},
		"Refused":      {"an invalid result is an error of its link", returns("refuse"), same, "inner"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inner := chain.Named("inner", func(next handler) handler {
				return func(ctx context.Context, n *onion.Note) (string, error) {
					if res, err := tc.inner(ctx, n); res != "" || err != nil {
						return res, err
					}
					return next(ctx, n)
				}
			})
			outer := chain.Named("outer", func(next handler) handler {
				return func(ctx context.Context, n *onion.Note) (string, error) { return tc.outer(next(ctx, n)) }
			})
			h := onion.Compose(chain.New(outer, inner), nil, &onion.Rules[*onion.Note, string]{
				Proceed: new(string),
				Note:    func(_ context.Context, n *onion.Note) (*onion.Note, any, bool) { return n, nil, n != nil },
				Stray:   func(*onion.Note, *chain.Link) error { return errors.New("stray") },
				Vet: func(_ context.Context, _ *onion.Note, _ any, _ *chain.Link, res string, err error) (string, any, error) {
					switch {
					case res == "refuse":
						return "", nil, errors.New("refused")
					case res == "":
						return res, nil, err
					}
					return res, res, err
				},
			})
			n := &onion.Note{}
			_, _ = h(t.Context(), n)
			by := ""
			if l := n.By(); l != nil {
				by = l.Name
			}
			if by != tc.want {
				t.Errorf("%s: decided by %q, want %q", tc.reason, by, tc.want)
			}
		})
	}
}

// A nested call uses the note of the outer call, and leaves it open. The outer
// Close removes the note.
func TestCallNests(t *testing.T) {
	var c onion.Call
	outer, first := c.Open()
	inner, nested := c.Open()
	if !first || nested || outer != inner || c.Note() != outer {
		t.Errorf("first: outer %t, nested %t; same note %t", first, nested, outer == inner)
	}
	link := &chain.Link{Name: "a"}
	c.Close(inner, nested, link)
	if c.Note() != outer || c.By() != link {
		t.Errorf("after the nested call: note %p, want %p; by %v", c.Note(), outer, c.By())
	}
	c.Close(outer, first, nil)
	if c.Note() != nil || c.By() != nil {
		t.Errorf("after the call: note %p, by %v", c.Note(), c.By())
	}
}
