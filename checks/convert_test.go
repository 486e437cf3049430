package checks_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// newer is a later version of Database.
type newer struct {
	spec *Database
	err  error
}

func (n *newer) older() (*Database, error) { return n.spec, n.err }

// convertedTo converts a chain before it is composed.
func convertedTo(links ...link) func(context.Context, request) (checks.Result, string, error) {
	for i, l := range links { // Convert refuses gates, so they become raw links
		links[i] = chain.Named(nameOf(l), func(next handler) handler { return l(next) })
	}
	h := checks.Compose(checks.Convert(chain.New(links...), (*newer).older))
	return func(ctx context.Context, req request) (checks.Result, string, error) {
		converted := &checks.Request[*newer]{OwnerRequest: req.OwnerRequest, Resource: &newer{spec: &Database{}}, Presence: req.Presence}
		res, err := h(ctx, converted)
		return res, decidedBy(converted), err
	}
}

// A chain can be converted twice, and its links may build a request from the
// one that they received. Each link sees its own type, and the changes of outer
// links.
func TestConvertTwice(t *testing.T) {
	type newest struct{ n *newer }
	rebuilds := raw("rebuilds", func(ctx context.Context, req request, next handler) (checks.Result, error) {
		req.Owner.Ref.Name = "changed"
		return next(ctx, &checks.Request[*Database]{OwnerRequest: req.OwnerRequest, Resource: req.Resource, Presence: req.Presence})
	})
	var seen []string
	old := chain.New(rebuilds)
	middle := checks.Convert(old, (*newer).older).Append(checks.ResourceIs("middle", func(n *newer) string {
		seen = append(seen, "middle "+n.spec.Network.Name)
		return ""
	}))
	c := checks.Convert(middle, func(n *newest) (*newer, error) { return n.n, nil }).Append(checks.Check("newest", func(_ context.Context, req *checks.Request[*newest]) (checks.Result, error) {
		seen = append(seen, "newest "+req.Resource.n.spec.Network.Name+" of "+req.Owner.Ref.Name)
		return checks.Proceed(), nil
	}))
	if diff := cmp.Diff(old.Links(), c.Links()[:1]); diff != "" || c.String() != "rebuilds -> middle -> newest" {
		t.Errorf("Convert changed the links to %s: -want, +got:\n%s", c, diff)
	}
	req := &checks.Request[*newest]{Resource: &newest{&newer{spec: &Database{Network: checks.Ref{Name: "n"}}}}}
	for range 2 {
		seen = nil
		res, err := checks.Compose(c)(t.Context(), req)
		if diff := cmp.Diff([]string{"middle n", "newest n of changed"}, seen); diff != "" || err != nil || !res.Proceeds() {
			t.Errorf("%v, %v; each link must see its own type: -want, +got:\n%s", res, err, diff)
		}
	}
}

// conversionFails fails the test unless convert gives this error for a request
// without a Kind and a resource.
func conversionFails[From, To any](t *testing.T, convert func(From) (To, error), want string) {
	t.Helper()
	c := checks.Convert(chain.New(checks.ResourceIs("Valid", func(To) string { return "" })), convert)
	_, err := checks.Compose(c)(t.Context(), &checks.Request[From]{})
	if err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

func TestConvertFails(t *testing.T) {
	c := chain.New(checks.ResourceIs("Valid", func(*Database) string { return "" }))
	const cannot = "Database: cannot convert *checks_test.newer to *checks_test.Database: "
	cases := map[string]struct {
		reason  string
		convert func(*newer) (*Database, error)
		is      error
		text    string
	}{
		"Error": {"errors.Is finds the error of convert", func(*newer) (*Database, error) { return nil, errTest }, errTest, "a test error"},
		"Both":  {"an error wins over a resource", func(*newer) (*Database, error) { return &Database{}, errTest }, errTest, "a test error"},
		"Nil": {"checks could proceed for a nil resource",
			func(*newer) (*Database, error) { return nil, nil }, nil, "the conversion returned nil: return the converted resource, or an error"},
		"Panic": {"a panic is an error", func(*newer) (*Database, error) { panic(errTest) }, errTest, "panic: a test error"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := &checks.Request[*newer]{Resource: &newer{}}
			req.Kind = "Database"
			res, err := checks.Compose(checks.Convert(c, tc.convert))(t.Context(), req)
			var conversion *checks.ConversionError
			if !errors.As(err, &conversion) || tc.is != nil && !errors.Is(err, tc.is) || decidedBy(req) != "Valid" {
				t.Fatalf("%s: %v at %v, %v", tc.reason, err, decidedBy(req), res)
			}
			if diff := cmp.Diff(cannot+tc.text, err.Error()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff([]string{"Database", "*checks_test.newer", "*checks_test.Database"}, []string{conversion.Kind, conversion.From, conversion.To}); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	const returnedNil = "the conversion returned nil: return the converted resource, or an error"
	conversionFails(t, func(*newer) (any, error) { return nil, nil }, "cannot convert *checks_test.newer to interface {}: "+returnedNil)
	conversionFails(t, func(*newer) (map[string]int, error) { return nil, nil }, "cannot convert *checks_test.newer to map[string]int: "+returnedNil)
	conversionFails(t, func(any) (*Database, error) { return nil, errTest }, "cannot convert nothing to *checks_test.Database: a test error")
	t.Run("NilRequest", func(t *testing.T) {
		h := checks.Convert(c, (*newer).older).Then(func(context.Context, *checks.Request[*newer]) (checks.Result, error) { return checks.Proceed(), nil })
		if res, err := h(t.Context(), nil); !errors.Is(err, checks.ErrNilRequest) || !res.IsZero() {
			t.Errorf("without Compose a nil request must be refused: %v, %v", res, err)
		}
	})
}
