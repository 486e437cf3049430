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

// TestBy tests which of the links outer and inner the note names.
func TestBy(t *testing.T) {
	type handler = chain.Handler[*onion.Note, string]
	errInner, errOuter := errors.New("inner"), errors.New("outer")
	fails := func(err error) handler {
		return func(context.Context, *onion.Note) (string, error) { return "", err }
	}
	says := func(res string) handler {
		return func(context.Context, *onion.Note) (string, error) { return res, nil }
	}
	replaced := func(res string, err error) func(string, error) (string, error) {
		return func(string, error) (string, error) { return res, err }
	}
	same := func(res string, err error) (string, error) { return res, err }
	cases := map[string]struct {
		reason string
		inner  handler
		outer  func(string, error) (string, error) // what the outer link makes of the inner result
		want   string
	}{
		"Proceed":      {"no link decided", says(""), same, ""},
		"Passed":       {"the outer link passed on a decision", says("block"), same, "inner"},
		"Replaced":     {"the outer link made another decision", says("block"), replaced("other", nil), "outer"},
		"Mended":       {"the outer link proceeds", says("block"), replaced("", nil), ""},
		"Error":        {"the outer link passed on an error", fails(errInner), same, "inner"},
		"Wrapped":      {"also if it wraps the error", fails(errInner), func(_ string, err error) (string, error) { return "", fmt.Errorf("outer: %w", err) }, "inner"},
		"OtherError":   {"an error of its own is its own", fails(errInner), replaced("", errOuter), "outer"},
		"Uncomparable": {"errors that cannot be compared pass", fails(uncomparable{[]string{"a"}}), same, "inner"},
		"ErrorToBlock": {"a decision in place of an error", fails(errInner), replaced("block", nil), "outer"},
		"BlockToError": {"an error in place of a decision", says("block"), replaced("block", errOuter), "outer"},
		"Panic":        {"a panic is the error of its link", func(context.Context, *onion.Note) (string, error) { panic("no") }, same, "inner"},
		"Refused":      {"a result that is refused is an error of its link", says("refuse"), same, "inner"},
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
			h := onion.Compose(chain.New(outer, inner), nil, &onion.Guard[*onion.Note, string]{
				Proceed: new(string),
				Note:    func(_ context.Context, n *onion.Note) (*onion.Note, bool) { return n, n != nil },
				Stray:   func(*onion.Note, *chain.Link) error { return errors.New("stray") },
				Vet: func(_ context.Context, _, _ *onion.Note, _ *chain.Link, res string, err error) (string, any, error) {
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

// TestCallNests tests that a call inside another one leaves the note of the
// outer one in place, and that a call is over when it is closed.
func TestCallNests(t *testing.T) {
	var c onion.Call
	outer, first := c.Open()
	inner, nested := c.Open()
	if !first || nested || outer != inner || c.Note() != outer {
		t.Errorf("first %t, nested first %t, one note %t", first, nested, outer == inner)
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
