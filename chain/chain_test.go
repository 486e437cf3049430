package chain_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/onion"
)

// countingContext counts the calls of Value.
type countingContext struct {
	context.Context
	n *int
}

func (c countingContext) Value(key any) any {
	*c.n++
	return c.Context.Value(key)
}

// derives is an observer that returns a new context for each link.
type derives struct {
	chain.Observer
	n *int
}

func (d derives) Enter(ctx context.Context, _ *chain.Link) context.Context {
	return countingContext{ctx, d.n}
}

// A link finds the state of its call after a few contexts, whatever the number
// of outer links. Else the cost of each link would grow with the chain.
func TestDepth(t *testing.T) {
	searched := func(links int) (n int) {
		var c chain.Chain[request, string]
		for range links {
			c = c.Append(chain.Named("link", through))
		}
		c = c.Observe(derives{newEntries(false, false), &n}).Observe(newEntries(false, false))
		_ = trace(c.Then(stopped.end()))
		return n
	}
	few, many := searched(10), searched(100)
	if many > 11*few {
		t.Errorf("10 links search %d contexts and 100 links search %d, which is more than 11 times as many", few, many)
	}
}

// A mistake that is visible at set-up panics there, not at the first request.
// The message names the link and the fix.
func TestSetUpPanics(t *testing.T) {
	var none link
	nothing := func(handler) handler { return nil }
	quota := chain.Named("quota", declared)
	broken := chain.Named("broken", nothing)
	end := stopped.end()
	must := func(_ links, err error) {
		if err != nil {
			t.Error(err)
		}
	}

	cases := map[string]struct {
		reason string
		do     func()
		want   string // <here> stands for the line of the call
	}{
		"New":                  {"the message has the position of the nil link, counted from 1", func() { chain.New(quota, none, quota) }, "chain: New: link 2 of 3 is nil: leave it out or give a func(next Handler) Handler"},
		"Map":                  {"Map cannot convert links without a function", func() { chain.Map[request, string, request, string](chain.New(quota), nil) }, "chain: Map: the function is nil"},
		"MapToNil":             {"a converted link must not be nil", func() { chain.Map(chain.New(quota), func(link) link { return nil }) }, "chain: Map: the function made a nil link of quota"},
		"Append":               {"the position counts the arguments of Append", func() { chain.New(quota).Append(none) }, "chain: Append: link 1 of 1 is nil: leave it out or give a func(next Handler) Handler"},
		"Replace":              {"a nil link does not remove the named link", func() { must(chain.New(quota).Replace("quota", none)) }, "chain: Replace: link 1 of 1 is nil: leave it out or give a func(next Handler) Handler"},
		"EmptyName":            {"a link with an empty name cannot be edited", func() { chain.Named("", declared) }, "chain: Named: the name of the link at <here> is empty"},
		"NamedNil":             {"the message contains the known name", func() { chain.Named("quota", none) }, "chain: Named: link quota at <here> is nil"},
		"Before":               {"a nil function would fail at the first request", func() { chain.Before[request, string](nil) }, "chain: Before: the function is nil"},
		"After":                {"a nil function would fail at the first request", func() { chain.After[request, string](nil) }, "chain: After: the function is nil"},
		"Finally":              {"a nil function would fail at the first request", func() { chain.Finally[request, string](nil) }, "chain: Finally: the function is nil"},
		"WhenNothing":          {"a nil predicate would fail at the first request", func() { chain.When(nil, quota) }, "chain: When: the predicate is nil"},
		"WhenNone":             {"a When without links has no effect", func() { chain.When[request, string](always) }, "chain: When: there are no links"},
		"WhenNilTwo":           {"the message has the position of the nil link", func() { chain.When(always, quota, none) }, "chain: When: link 2 of 2 is nil: leave it out or give a func(next Handler) Handler"},
		"DeadlineNil":          {"a nil link would fail later, in Then", func() { chain.Deadline(time.Second, none) }, "chain: Deadline: the link is nil"},
		"DeadlineZero":         {"a link with no time would always fail", func() { chain.Deadline(0, quota) }, "chain: Deadline: link quota is given 0s: give a positive duration"},
		"NilEnd":               {"without an end no handler does the work", func() { chain.New(quota, broken).Then(nil) }, "chain: Then: the end of the chain quota -> broken is nil: give it the handler that does the work"},
		"NilHandler":           {"the message names the link that returned a nil handler", func() { chain.New(quota, broken).Then(end) }, "chain: Then: link 2 of 2, broken, returned a nil handler"},
		"NilHandlerInWhen":     {"a nil handler within When would fail for some requests only", func() { chain.New(quota, chain.When(always, broken)).Then(end) }, "chain: Then: link 2 of 2, When(broken), returned a nil handler"},
		"NilHandlerInDeadline": {"the message names the Deadline around the link", func() { chain.New(chain.Deadline(time.Second, broken), quota).Then(end) }, "chain: Then: link 1 of 2, Deadline(1s, broken), returned a nil handler"},
		"NilDecoration": {"the message blames the decoration, not the link", func() {
			onion.Decorate(chain.New(quota), func(*chain.Link, handler) handler { return nil }, nil).Then(end)
		},
			"chain: Then: a decoration of link 1 of 1, quota, returned a nil handler"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() {
				got, _ := recover().(string)
				if _, rest, ok := strings.Cut(got, "chain_test.go:"); ok {
					line, _, _ := strings.Cut(rest, " ")
					got = strings.Replace(got, "chain/chain_test.go:"+line, "<here>", 1)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s: panic: -want, +got:\n%s", tc.reason, diff)
				}
			}()
			tc.do()
		})
	}
}
