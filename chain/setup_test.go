package chain_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
)

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
		"New": {
			reason: "the message has the position of the nil link, counted from 1",
			do:     func() { chain.New(quota, none, quota) },
			want:   "chain: New: link 2 of 3 is nil: leave it out or give a func(next Handler) Handler",
		},
		"Map": {
			reason: "Map cannot convert links without a function",
			do:     func() { chain.Map[request, string, request, string](chain.New(quota), nil) },
			want:   "chain: Map: the function is nil",
		},
		"MapToNil": {
			reason: "a converted link must not be nil",
			do:     func() { chain.Map(chain.New(quota), func(link) link { return nil }) },
			want:   "chain: Map: the function made a nil link of quota",
		},
		"Append": {
			reason: "the position counts the arguments of Append",
			do:     func() { chain.New(quota).Append(none) },
			want:   "chain: Append: link 1 of 1 is nil: leave it out or give a func(next Handler) Handler",
		},
		"Prepend": {
			reason: "the position counts the arguments of Prepend",
			do:     func() { chain.New(quota).Prepend(none) },
			want:   "chain: Prepend: link 1 of 1 is nil: leave it out or give a func(next Handler) Handler",
		},
		"Insert": {
			reason: "the position counts the inserted links",
			do:     func() { must(chain.New(quota).InsertBefore("quota", quota, none)) },
			want:   "chain: InsertBefore: link 2 of 2 is nil: leave it out or give a func(next Handler) Handler",
		},
		"Replace": {
			reason: "a nil link does not remove the named link",
			do:     func() { must(chain.New(quota).Replace("quota", none)) },
			want:   "chain: Replace: link 1 of 1 is nil: leave it out or give a func(next Handler) Handler",
		},
		"EmptyName": {
			reason: "a link with an empty name cannot be edited",
			do:     func() { chain.Named("", declared) },
			want:   "chain: Named: the name of the link at <here> is empty",
		},
		"BlankName": {
			reason: "a blank name cannot be read in the output",
			do:     func() { chain.Named(" \t", declared) },
			want:   "chain: Named: the name of the link at <here> is empty",
		},
		"NamedNil": {
			reason: "the message contains the known name",
			do:     func() { chain.Named("quota", none) },
			want:   "chain: Named: link quota at <here> is nil",
		},
		"Before":      {reason: "a nil function would fail at the first request", do: func() { chain.Before[request, string](nil) }, want: "chain: Before: the function is nil"},
		"After":       {reason: "a nil function would fail at the first request", do: func() { chain.After[request, string](nil) }, want: "chain: After: the function is nil"},
		"Finally":     {reason: "a nil function would fail at the first request", do: func() { chain.Finally[request, string](nil) }, want: "chain: Finally: the function is nil"},
		"WhenNothing": {reason: "a nil predicate would fail at the first request", do: func() { chain.When(nil, quota) }, want: "chain: When: the predicate is nil"},
		"WhenNil":     {reason: "a nil link would fail later, in Then", do: func() { chain.When(always, none) }, want: "chain: When: link 1 of 1 is nil: leave it out or give a func(next Handler) Handler"},
		"WhenNone":    {reason: "a When without links has no effect", do: func() { chain.When[request, string](always) }, want: "chain: When: there are no links"},
		"WhenNilTwo": {
			reason: "the message has the position of the nil link",
			do:     func() { chain.When(always, quota, none) },
			want:   "chain: When: link 2 of 2 is nil: leave it out or give a func(next Handler) Handler",
		},
		"DeadlineNil": {reason: "a nil link would fail later, in Then", do: func() { chain.Deadline(time.Second, none) }, want: "chain: Deadline: the link is nil"},
		"DeadlineZero": {
			reason: "a link with no time would always fail",
			do:     func() { chain.Deadline(0, quota) },
			want:   "chain: Deadline: link quota is given 0s: give a positive duration",
		},
		"DeadlineNegative": {
			reason: "a link with negative time would always fail",
			do:     func() { chain.Deadline(-time.Second, quota) },
			want:   "chain: Deadline: link quota is given -1s: give a positive duration",
		},
		"Decorate": {
			reason: "a nil decoration would fail later, in Then",
			do:     func() { chain.New(quota).Decorate(nil) },
			want:   "chain: Decorate: the function is nil",
		},
		"NilEnd": {
			reason: "without an end no handler does the work",
			do:     func() { chain.New(quota, broken).Then(nil) },
			want:   "chain: Then: the end of the chain quota -> broken is nil: give it the handler that does the work",
		},
		"NilEndOfNothing": {
			reason: "Then of an empty chain returns the end, which must not be nil",
			do:     func() { links{}.Then(nil) },
			want:   "chain: Then: the end of the chain (empty) is nil: give it the handler that does the work",
		},
		"NilHandler": {
			reason: "the message names the link that returned a nil handler",
			do:     func() { chain.New(quota, broken).Then(end) },
			want:   "chain: Then: link 2 of 2, broken, returned a nil handler",
		},
		"NilHandlerInWhen": {
			reason: "a nil handler within When would fail for some requests only",
			do:     func() { chain.New(quota, chain.When(always, broken)).Then(end) },
			want:   "chain: Then: link 2 of 2, When(broken), returned a nil handler",
		},
		"NilHandlerInDeadline": {
			reason: "the message names the Deadline around the link",
			do:     func() { chain.New(chain.Deadline(time.Second, broken), quota).Then(end) },
			want:   "chain: Then: link 1 of 2, Deadline(1s, broken), returned a nil handler",
		},
		"NilDecoration": {
			reason: "the message blames the decoration, not the link",
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
				if _, rest, ok := strings.Cut(got, "setup_test.go:"); ok {
					line, _, _ := strings.Cut(rest, " ")
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

// A chain without links, and a nil observer, are valid.
func TestEmptyChain(t *testing.T) {
	cases := map[string]struct {
		reason string
		chain  links
	}{
		"Zero":        {"the zero chain runs only the end", links{}},
		"New":         {"New without links makes an empty chain", chain.New[request, string]()},
		"NilSlice":    {"a nil slice adds no links", links{}.Append([]link(nil)...)},
		"NilObserver": {"a nil observer adds nothing", links{}.Observe(nil)},
		"Observed":    {"an observer of a chain without links sees nothing", links{}.Observe(&tracer{id: "o", on: true})},
		"NoOthers":    {"Extend without chains adds nothing", links{}.Extend().At("Apply")},
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

// The end gets the context of the call unchanged, even a nil one.
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
