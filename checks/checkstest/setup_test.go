package checkstest_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"pgregory.net/rapid"
)

// What makes no sense fails the test, and says so.
func TestSetUp(t *testing.T) {
	ready := checks.OwnerReady()
	owners := rapid.Just(checkstest.OwnerRequest())
	some := checkstest.OwnerCases{"A": {Request: checkstest.OwnerRequest(), Want: checkstest.Proceeds()}}
	var nilLink checks.OwnerMiddleware
	cases := map[string]struct {
		reason string
		do     func(*fakeT)
		want   string
	}{
		"NoCases": {
			"a table that was emptied tests nothing",
			func(t *fakeT) { checkstest.Run(t, ready, checkstest.OwnerCases{}) },
			"checkstest: Run: OwnerReady: there are no cases",
		},
		"RunNilLink": {
			"there is nothing to ask",
			func(t *fakeT) { checkstest.Run(t, nilLink, some) },
			"checkstest: Run: the link is nil",
		},
		"NoRequest": {
			"a case that was not filled in",
			func(t *fakeT) { checkstest.Run(t, ready, checkstest.OwnerCases{"A": {Want: checkstest.Proceeds()}}) },
			`checkstest: OwnerReady: case "A" (): the request is nil`,
		},
		"WantsNothing": {
			"whatever comes would be right",
			func(t *fakeT) {
				checkstest.Run(t, ready, checkstest.OwnerCases{"A": {Reason: "why", Request: checkstest.OwnerRequest()}})
			},
			`checkstest: OwnerReady: case "A" (why): its Want is not set: use Proceeds, Skips, Blocks or Fails`,
		},
		"SayingNothing": {
			"a message of what?",
			func(t *fakeT) {
				checkstest.Run(t, ready, checkstest.OwnerCases{"A": {Reason: "why", Request: checkstest.OwnerRequest(), Want: checkstest.Want{}.Saying("a")}})
			},
			`checkstest: OwnerReady: case "A" (why): its Want is not set: use Proceeds, Skips, Blocks or Fails`,
		},
		"BreaksInRun": {
			"it would have no effect",
			func(t *fakeT) { checkstest.Run(t, ready, some, checkstest.WithExcuse(checkstest.ReadOnly, "why")) },
			"checkstest: Run: option 1: WithExcuse is for Conforms and Laws",
		},
		"RunNoTime": {
			"nothing answers in no time",
			func(t *fakeT) { checkstest.Run(t, ready, some, checkstest.WithTimeout(0)) },
			"checkstest: Run: option 1: WithTimeout(0s): give a positive duration",
		},
		"ZeroOption": {
			"it says nothing",
			func(t *fakeT) { checkstest.Conforms(t, ready, owners, checkstest.Option{}) },
			"checkstest: Conforms: option 1: it is the zero Option: use WithTimeout or WithExcuse",
		},
		"NotARequest": {
			"only requests can be asked about",
			func(t *fakeT) {
				checkstest.Conforms(t, chain.Named("Odd", func(next chain.Handler[*int, checks.Result]) chain.Handler[*int, checks.Result] { return next }), rapid.Just(new(3)))
			},
			"checkstest: Conforms: Odd: a check is about a *checks.Request[T] or *checks.OwnerRequest, not about a *int",
		},
		"NilLink": {
			"there is nothing to ask",
			func(t *fakeT) { checkstest.Conforms(t, nilLink, owners) },
			"checkstest: Conforms: the link is nil",
		},
		"NilGenerator": {
			"nor anything to ask about",
			func(t *fakeT) { checkstest.Conforms[*checks.OwnerRequest](t, ready, nil) },
			"checkstest: Conforms: OwnerReady: the generator of requests is nil",
		},
		"NilRequest": {
			"a generator that makes nothing",
			func(t *fakeT) { checkstest.Conforms(t, ready, rapid.Just[*checks.OwnerRequest](nil)) },
			"checkstest: Conforms: OwnerReady: the generator made a request that is nil",
		},
		"GeneratorPanics": {
			"a fault in the test, not in the check",
			func(t *fakeT) {
				checkstest.Conforms(t, ready, rapid.Custom(func(*rapid.T) *checks.OwnerRequest { panic("no more owners") }))
			},
			"checkstest: Conforms: OwnerReady: the generator of requests panics: no more owners",
		},
		"LawsNilGenerator": {
			"there is nothing to ask about",
			func(t *fakeT) { checkstest.Laws[*checks.OwnerRequest](t, ready, nil) },
			"checkstest: Laws: OwnerReady: the generator of requests is nil",
		},
		"LawsNilRequest": {
			"a generator that makes nothing",
			func(t *fakeT) { checkstest.Laws(t, ready, rapid.Just[*checks.OwnerRequest](nil)) },
			"checkstest: Laws: OwnerReady: the generator made a request that is nil",
		},
		"OnLinksInConforms": {
			"it has no links to say something of",
			func(t *fakeT) { checkstest.Conforms(t, ready, owners, checkstest.WithChainOptions()) },
			"checkstest: Conforms: option 1: WithChainOptions is for Laws",
		},
		"BreaksWithoutWhy": {
			"an excuse that nobody can judge",
			func(t *fakeT) { checkstest.Conforms(t, ready, owners, checkstest.WithExcuse(checkstest.ReadOnly, " ")) },
			"checkstest: Conforms: option 1: WithExcuse(ReadOnly): say why",
		},
		"BreaksNoRule": {
			"there is no such rule",
			func(t *fakeT) { checkstest.Conforms(t, ready, owners, checkstest.WithExcuse(99, "why")) },
			"checkstest: Conforms: option 1: WithExcuse(Rule(99)): there is no such rule",
		},
		"BreaksTwice": {
			"one of the two is another rule",
			func(t *fakeT) {
				checkstest.Conforms(t, ready, owners, checkstest.WithExcuse(checkstest.Stops, "why"), checkstest.WithExcuse(checkstest.Stops, "why"))
			},
			"checkstest: Conforms: option 2: WithExcuse(Stops) is given twice",
		},
		"BreaksDecides": {
			"it would be no check",
			func(t *fakeT) {
				checkstest.Conforms(t, ready, owners, checkstest.WithExcuse(checkstest.Decides, "why"))
			},
			"checkstest: Conforms: option 1: WithExcuse(Decides): no check is excused from deciding",
		},
		"FailedAlready": {
			"rapid would panic",
			func(t *fakeT) { t.Fail(); checkstest.Conforms(t, ready, owners) },
			"checkstest: Conforms: OwnerReady: the rules were not tried, because the test has already failed",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fake := &fakeT{}
			fake.run(func() { tc.do(fake) })
			if diff := cmp.Diff(tc.want, fake.complaint()); diff != "" || !fake.Failed() {
				t.Errorf("%s: failed: %t, -want, +got:\n%s\n%s", tc.reason, fake.Failed(), diff, fake.said())
			}
		})
	}
}

// Whoever asks an owner check whether the resource is in the cloud has not understood what it is about.
func TestNotInCloudOfAnOwner(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it does not panic")
		}
	}()
	checkstest.OwnerRequest(checkstest.NotInCloud())
}

// What rapid does by panics of its own is not taken for a panic of the generator.
func TestGeneratorFilters(t *testing.T) {
	checkstest.Conforms(t, newEnough(), ordinary().Filter(func(r request) bool { return r.Resource.Version != 13 }))
}

// A gate is excused from what it cannot keep, wherever it stands; from nothing else.
func TestGate(t *testing.T) {
	begun := func(r request) (checks.Result, error) {
		r.Resource.Tags = append(r.Resource.Tags, "begun")
		return checks.Block("Begun", "it has begun"), nil
	}
	cases := map[string]struct {
		reason string
		link   checks.Middleware[*Database]
		want   string
	}{
		"Acts": {"that is what gates are for", checks.Gate("Begin", func(_ context.Context, r request) (checks.Result, error) { return begun(r) }), ""},
		"OnOwner": {
			"a gate in another link is one, too",
			checks.OnOwner[*Database](checks.Gate("Begin", func(_ context.Context, r *checks.OwnerRequest) (checks.Result, error) {
				r.Owner.Readiness.Message += "x"
				return checks.Proceed(), nil
			})), "",
		},
		"Check": {
			"what acts and does not say so is found", checks.Check("Begin", func(_ context.Context, r request) (checks.Result, error) { return begun(r) }),
			"checkstest: Begin breaks ReadOnly (it changes neither the resource nor the owner nor the request): it changed Resource.Tags[2]: is new: \"begun\"",
		},
		"NoMessage": {
			"the other rules are kept",
			checks.Gate("Begin", func(context.Context, request) (checks.Result, error) { return checks.Block("Begun", ""), nil }),
			"checkstest: Gate(Begin) breaks Explains (a block has a reason in CamelCase, and a message): the block for Begun has no message: name the awaited object",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fake := &fakeT{}
			fake.run(func() { checkstest.Conforms(fake, tc.link, ordinary(), checkstest.WithTimeout(time.Minute)) })
			if diff := cmp.Diff(tc.want, fake.complaint()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s\n%s", tc.reason, diff, fake.said())
			}
		})
	}
}

// A whole chain is tried as one, and so are chains without links and chains that are observed.
func TestChains(t *testing.T) {
	owner := checks.OnOwner[*Database](checks.OwnerReady())
	wrong := checks.Check("Wrong", func(context.Context, request) (checks.Result, error) { return checks.Block("no", "no"), nil })
	cases := map[string]struct {
		reason string
		chain  checks.Chain[*Database]
		want   string
	}{
		"None":      {"what asks nothing stops nothing", checks.Chain[*Database]{}, ""},
		"Right":     {"links that are right make a chain that is", chain.New(owner, newEnough()), ""},
		"Decorated": {"an observer changes no result", chain.New(owner, newEnough()).Observe(silent{}), ""},
		"Wrong": {"one that is wrong does not", chain.New(owner, wrong),
			"checkstest: OnOwner(OwnerReady) -> Wrong breaks Explains (a block has a reason in CamelCase, and a message): the reason \"no\" does not begin with a capital letter"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fake := &fakeT{}
			fake.run(func() { checkstest.Conforms(fake, tc.chain, ordinary()) })
			if diff := cmp.Diff(tc.want, fake.complaint()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s\n%s", tc.reason, diff, fake.said())
			}
		})
	}
}

type silent struct{}

func (silent) Enabled(context.Context) bool                             { return true }
func (silent) Enter(ctx context.Context, _ *chain.Link) context.Context { return ctx }
func (silent) Exit(_ context.Context, _ *chain.Link, _ chain.Exit)      {}
