package chain_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
)

// What can be seen to be wrong while a chain is set up must not wait for the first request: it panics at once, and says
// which link, where, and what to do.
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
		"New": {
			reason: "New says which position is nil, counted from 1",
			do:     func() { chain.New(quota, none, quota) },
			want:   "chain: New: link 2 of 3 is nil: leave it out or give a func(next Handler) Handler",
		},
		"Map": {
			reason: "there is nothing to carry over by",
			do:     func() { chain.Map[request, string, request, string](chain.New(quota), nil) },
			want:   "chain: Map: the function is nil",
		},
		"MapToNil": {
			reason: "what is carried over is a link, too",
			do:     func() { chain.Map(chain.New(quota), func(link) link { return nil }) },
			want:   "chain: Map: the function made a nil link of quota",
		},
		"Append": {
			reason: "and so does Append, counting what it was given",
			do:     func() { chain.New(quota).Append(none) },
			want:   "chain: Append: link 1 of 1 is nil: leave it out or give a func(next Handler) Handler",
		},
		"Prepend": {
			reason: "and so does Prepend",
			do:     func() { chain.New(quota).Prepend(none) },
			want:   "chain: Prepend: link 1 of 1 is nil: leave it out or give a func(next Handler) Handler",
		},
		"Insert": {
			reason: "and editing",
			do:     func() { must(chain.New(quota).InsertBefore("quota", quota, none)) },
			want:   "chain: InsertBefore: link 2 of 2 is nil: leave it out or give a func(next Handler) Handler",
		},
		"Replace": {
			reason: "a nil link is no way to remove one",
			do:     func() { must(chain.New(quota).Replace("quota", none)) },
			want:   "chain: Replace: link 1 of 1 is nil: leave it out or give a func(next Handler) Handler",
		},
		"EmptyName": {
			reason: "a link without a name is not to be found again",
			do:     func() { chain.Named("", declared) },
			want:   "chain: Named: the name of the link at <here> is empty",
		},
		"BlankName": {
			reason: "a blank name is seen by nobody",
			do:     func() { chain.Named(" \t", declared) },
			want:   "chain: Named: the name of the link at <here> is empty",
		},
		"NamedNil": {
			reason: "the name is known, so it is said",
			do:     func() { chain.Named("quota", none) },
			want:   "chain: Named: link quota at <here> is nil",
		},
		"Before":      {reason: "a nil function would fail on the first request", do: func() { chain.Before[request, string](nil) }, want: "chain: Before: the function is nil"},
		"After":       {reason: "a nil function would fail on the first request", do: func() { chain.After[request, string](nil) }, want: "chain: After: the function is nil"},
		"Finally":     {reason: "a nil function would fail on the first request", do: func() { chain.Finally[request, string](nil) }, want: "chain: Finally: the function is nil"},
		"WhenNothing": {reason: "a nil predicate would fail on the first request", do: func() { chain.When(nil, quota) }, want: "chain: When: the predicate is nil"},
		"WhenNil":     {reason: "a nil link would fail when it is composed", do: func() { chain.When(always, none) }, want: "chain: When: link 1 of 1 is nil: leave it out or give a func(next Handler) Handler"},
		"WhenNone":    {reason: "a condition of no links is a mistake", do: func() { chain.When[request, string](always) }, want: "chain: When: there are no links"},
		"WhenNilTwo": {
			reason: "the position of the nil link is known",
			do:     func() { chain.When(always, quota, none) },
			want:   "chain: When: link 2 of 2 is nil: leave it out or give a func(next Handler) Handler",
		},
		"DeadlineNil": {reason: "a nil link would fail when it is composed", do: func() { chain.Deadline(time.Second, none) }, want: "chain: Deadline: the link is nil"},
		"DeadlineZero": {
			reason: "no time at all is a mistake, not a limit",
			do:     func() { chain.Deadline(0, quota) },
			want:   "chain: Deadline: link quota is given 0s: give a positive duration",
		},
		"DeadlineNegative": {
			reason: "less than no time as well",
			do:     func() { chain.Deadline(-time.Second, quota) },
			want:   "chain: Deadline: link quota is given -1s: give a positive duration",
		},
		"Decorate": {
			reason: "a nil decoration would fail in Then, far from the mistake",
			do:     func() { chain.New(quota).Decorate(nil) },
			want:   "chain: Decorate: the function is nil",
		},
		"NilEnd": {
			reason: "a chain without an end does no work",
			do:     func() { chain.New(quota, broken).Then(nil) },
			want:   "chain: Then: the end of the chain quota -> broken is nil: give it the handler that does the work",
		},
		"NilEndOfNothing": {
			reason: "an empty chain hands on its end, so it must have one too",
			do:     func() { links{}.Then(nil) },
			want:   "chain: Then: the end of the chain (empty) is nil: give it the handler that does the work",
		},
		"NilHandler": {
			reason: "a link that makes no handler is named",
			do:     func() { chain.New(quota, broken).Then(end) },
			want:   "chain: Then: link 2 of 2, broken, returned a nil handler",
		},
		"NilHandlerInWhen": {
			reason: "also inside of another link, where it would only be called for some requests",
			do:     func() { chain.New(quota, chain.When(always, broken)).Then(end) },
			want:   "chain: Then: link 2 of 2, When(broken), returned a nil handler",
		},
		"NilHandlerInDeadline": {
			reason: "also inside of another link",
			do:     func() { chain.New(chain.Deadline(time.Second, broken), quota).Then(end) },
			want:   "chain: Then: link 1 of 2, Deadline(1s, broken), returned a nil handler",
		},
		"NilDecoration": {
			reason: "a decoration that makes no handler is told apart from its link",
			do: func() {
				chain.New(quota).Decorate(func(*chain.Link, handler) handler { return nil }).Then(end)
			},
			want: "chain: Then: a decoration of link 1 of 1, quota, returned a nil handler",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() {
				got, _ := recover().(string)
				if _, behind, ok := strings.Cut(got, "setup_test.go:"); ok {
					line, _, _ := strings.Cut(behind, " ")
					got = strings.Replace(got, "chain/setup_test.go:"+line, "<here>", 1)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s: panic: -want, +got:\n%s", tc.reason, diff)
				}
			}()
			tc.do()
		})
	}
}

// After it is set up, a chain never panics by itself: what a nil observer, no links and no layers mean is defined.
func TestNothingIsFine(t *testing.T) {
	cases := map[string]struct {
		reason string
		chain  links
	}{
		"Zero":            {"the zero chain is the identity", links{}},
		"New":             {"so is one of no links", chain.New[request, string]()},
		"NilSlice":        {"a nil slice is no links", links{}.Append([]link(nil)...)},
		"NilObserver":     {"a nil observer is none", links{}.Observe(nil)},
		"ObservedNothing": {"there is nothing to observe", links{}.Observe(&watcher{id: "o", on: true})},
		"NoOthers":        {"no other chains add nothing", links{}.Extend().At("Apply")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(play(stopped.end()), play(tc.chain.Then(stopped.end()))); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if tc.chain.Len() != 0 || len(tc.chain.Links()) != 0 || tc.chain.String() != "(empty)" {
				t.Errorf("%s: got %d links, printed %q", tc.reason, tc.chain.Len(), tc.chain)
			}
		})
	}
}

// The end gets the very context of the call, nil included: the chain adds
// nothing to it.
func TestContextOfTheCall(t *testing.T) {
	for name, ctx := range map[string]context.Context{"Nil": nil, "Value": background(&call{})} {
		t.Run(name, func(t *testing.T) {
			end := func(got context.Context, _ request) (string, error) {
				if got != ctx {
					t.Errorf("got %v, want %v", got, ctx)
				}
				return "", nil
			}
			if _, err := chain.New(declared).Then(end)(ctx, request{}); err != nil {
				t.Error(err)
			}
		})
	}
}
