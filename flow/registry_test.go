package flow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// The resources of the tests are Resources for the engine, so that the compiler
// makes the flow for few types.
func (p *pool) Kind() string { return "Pool" }
func (p *pool) Name() string { return p.name }

func (w *world) Kind() string { return "World" }
func (w *world) Name() string { return "one" }

// disk is another kind of Resource.
type disk struct{ Meta }

func diskNamed(name string) *disk { return &disk{Meta{name: name}} }

// things are operations on things. They record their calls in c.
func (c *cloud) things() flow.Operations[Resource] {
	return flow.Operations[Resource]{
		Key: func(t Resource) string { return t.Name() },
		Get: func(_ context.Context, req *flow.Request[Resource]) (flow.Observation, error) {
			c.add("get %T", req.Resource)
			return c.seen, c.getErr
		},
		Apply: func(_ context.Context, req *flow.Request[Resource]) (flow.Progress, error) {
			return c.operate("apply "+req.Resource.Name(), req.Token)
		},
	}
}

// asThing is the subject of an engine that handles its resources as things of a
// kind. The kind "thing" has the extensions of the world.
func asThing(kind string) subject {
	return func(w *world, counts map[string]int, keep bool) func(context.Context) result {
		var registry flow.Registry[Resource]
		flow.Register(&registry, "thing", w.extensions(counts))
		r := must(registry.For(kind, operationsFor[Resource](w, keep), flow.WithBackoff(plain())))
		return func(ctx context.Context) result {
			return resultOf(r.Reconcile(ctx, w))
		}
	}
}

// A runner behaves like the typed flow of its kind. The runner of an unknown
// kind behaves like the flow without extensions.
func TestRunnerIsTheTypedFlow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		programs, counts, keep := drawRun(t)
		mustRunAlike(t, "a registered kind", theFlow(), asThing("thing"), programs, counts, keep)
		mustRunAlike(t, "a kind with empty extensions", theFlow(), asThing("thing"), programs, map[string]int{}, keep)
		mustRunAlike(t, "an unknown kind", theFlow(), asThing("unknown"), programs, map[string]int{}, keep)
	})
}

func TestRegistry(t *testing.T) {
	var registry flow.Registry[Resource]
	fine := ext{PreCheck: chain.New(checks.ResourceIs("fine", func(*pool) string { return "" }))}
	flow.Register(&registry, "Pool", fine)
	for _, kind := range []string{"D", "B", "A", "C"} {
		flow.Register(&registry, kind, ext{})
	}
	mustEqual(t, "the kinds are sorted", []string{"A", "B", "C", "D", "Pool"}, registry.Kinds())
	r := must(registry.For("Pool", (&cloud{}).things()))
	mustEqual(t, "the name of a runner is its kind", "Pool", r.Name())
	mustEqual(t, "a runner prints the flow of its kind", flow.New("Pool", flow.Operations[*pool]{
		Key: (*pool).Name, Get: func(context.Context, *request) (o flow.Observation, err error) { return o, nil },
		Apply: func(context.Context, *request) (flow.Progress, error) { return flow.Done(), nil },
	}, fine).String(), r.String())
}

// A runner passes requests to operations, and their results back.
func TestRunnerPassesEverything(t *testing.T) {
	c := &cloud{}
	fresh := &pool{name: "fresh"}
	ops := flow.Operations[Resource]{
		Key: func(t Resource) string { return t.Name() },
		Owner: func(context.Context, Resource) (checks.Object, error) {
			return checks.Object{Ref: fleet, Value: owned}, nil
		},
		Generation: func(t Resource) int64 { return t.(*pool).generation },
		Get: func(_ context.Context, req *flow.Request[Resource]) (flow.Observation, error) {
			c.add("get %s %s of %s, %s", req.Kind, req.Resource.Name(), req.Owner.Ref, req.APIVersion)
			req.Resource, req.Owner.Ref.Namespace = fresh, "read"
			return flow.Observation{Presence: checks.Present}, nil
		},
		Apply: func(_ context.Context, req *flow.Request[Resource]) (flow.Progress, error) {
			c.add("apply %s %s, %s, token %q", req.Resource.Name(), req.Owner.Ref, req.Presence, req.Token)
			return flow.InProgress("t", 0), nil
		},
		Token: func(t Resource) (string, int64) { return t.(*pool).token, t.(*pool).tokenOf },
		SetToken: func(_ context.Context, t Resource, token string, generation int64) error {
			c.add("store %q for %d with %s", token, generation, t.Name())
			t.(*pool).token, t.(*pool).tokenOf = token, generation
			return nil
		},
	}
	var registry flow.Registry[Resource]
	flow.Register(&registry, "Pool", flow.Extensions[*pool]{
		PreCheck: chain.New(checks.ResourceIs("fine", func(p *pool) string {
			c.add("check %s", p.name)
			return ""
		})),
		Apply: linkOn("copies", func(ctx context.Context, req *request, next nextOp) (flow.Progress, error) {
			inner := *req
			inner.Owner.Ref.Name = "south"
			return next(ctx, &inner)
		}),
	})
	r := must(registry.For("Pool", ops, flow.WithAPIVersion("2026-01-01"), flow.WithExplanations(1)))
	fresh.generation = 3
	out := r.Reconcile(t.Context(), &pool{name: "stale", generation: 3})
	mustEqual(t, "the operation is under way", flow.StateInProgress, out.State())
	mustEqual(t, "later links see the resource that an operation returned", calls{
		"get Pool stale of Fleet north, 2026-01-01", "check fresh", `apply fresh Fleet read/south, present, token ""`, `store "t" for 3 with fresh`,
	}, c.calls)
	c.calls = nil
	r.Reconcile(t.Context(), fresh)
	mustEqual(t, "the next pass polls with the token", calls{`apply fresh Fleet south, unknown, token "t"`}, c.calls)
}

// A resource of the wrong type fails the pass, and so does a Get that replaces
// the resource with one. The error is explained, observed and classified.
func TestWrongType(t *testing.T) {
	var registry flow.Registry[Resource]
	flow.Register(&registry, "Pool", flow.Extensions[*pool]{
		Classify: classify.Table{{Name: "wrong type", Message: classify.Contains("is not of the type"), Retry: classify.VerySlow}}.Chain(),
	})
	c := &cloud{}
	swapped := c.things()
	swapped.Get = func(_ context.Context, req *flow.Request[Resource]) (flow.Observation, error) {
		req.Resource = diskNamed("d")
		return flow.Observation{}, nil
	}
	cases := map[string]struct {
		reason   string
		ops      flow.Operations[Resource]
		resource Resource
		point    string
	}{
		"Another": {"the engine passes another type", c.things(), diskNamed("d"), "Pass"},
		"Swapped": {"an operation replaces the resource with another type", swapped, &pool{name: "p"}, "Get"},
	}
	want := checks.ConversionError{Kind: "Pool", From: "*flow_test.disk", To: "*flow_test.pool", Err: flow.ErrWrongType}
	const text = "Pool: cannot convert *flow_test.disk to *flow_test.pool: the resource is not of the type that the extensions of its kind are registered for"
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := &recorder{}
			r := must(registry.For("Pool", tc.ops, flow.WithExplanations(4), flow.WithObserver(o)))
			out := r.Reconcile(t.Context(), tc.resource)
			mustEqual(t, tc.reason, place{flow.StateFailed, tc.point, ""}, placeOf(out))
			mustEqual(t, tc.reason, []any{"wrong type", classify.VerySlow}, []any{out.Rule(), out.Retry()})
			mustBe(t, tc.reason, flow.ErrWrongType, out.Err())
			var got *checks.ConversionError
			if !errors.As(out.Err(), &got) {
				t.Fatalf("%s: %T is no ConversionError", tc.reason, out.Err())
			}
			mustEqual(t, tc.reason, want, *got, cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) }))
			mustEqual(t, tc.reason, text, out.Err().Error())
			mustEqual(t, "an observer sees the failure", "< pass Pool: error WrongType", o.calls[len(o.calls)-1])
			e, ok := r.Explain(tc.resource.Name())
			mustEqual(t, "Explain has the failure", []any{true, "failed", tc.point}, []any{ok, e.State, e.Point})
		})
	}
}

func TestRegisterPanics(t *testing.T) {
	var registry flow.Registry[Resource]
	flow.Register(&registry, "Pool", flow.Extensions[*pool]{})
	var concrete flow.Registry[*pool]
	c := &cloud{}
	mustPanic(t, map[string]panicCase{
		"Twice": {"the second registration would replace the first", func() { flow.Register(&registry, "Pool", flow.Extensions[*disk]{}) },
			"flow: Register: Pool: there are extensions for this kind already, for *flow_test.pool: join both with Extend"},
		"Concrete": {"an engine of one type has no resource of another", func() { flow.Register(&concrete, "Disk", flow.Extensions[*disk]{}) },
			"flow: Register: Disk: the extensions are for *flow_test.disk, but the registry is for *flow_test.pool, which cannot have that type"},
		"Pointer": {"the pointer was forgotten", func() { flow.Register(&registry, "Disk", flow.Extensions[disk]{}) },
			"flow: Register: Disk: the extensions are for flow_test.disk, but the registry is for flow_test.Resource, which cannot have that type"},
		"Blank": {"a kind has a name", func() { flow.Register(&registry, " ", flow.Extensions[*pool]{}) },
			"flow: Register: the kind of the extensions for *flow_test.pool is empty"},
		"Space": {"no engine would look up this kind", func() { flow.Register(&registry, "Disk ", flow.Extensions[*disk]{}) },
			`flow: Register: there is white space around the kind "Disk ", so no engine would find it: remove the white space`},
		"NoRegistry": {"the registry is nil", func() { flow.Register[Resource](nil, "Pool", flow.Extensions[*pool]{}) },
			"flow: Register: Pool: the registry is nil"},
		"Case": {"two kinds would differ only by case", func() { flow.Register(&registry, "pool", flow.Extensions[*pool]{}) },
			`flow: Register: the kind "pool" differs from "Pool", which is registered, only by case or white space: write it in one way`},
	})
	flow.Register(&concrete, "Pool", flow.Extensions[*pool]{})
	flow.Register(&concrete, "Thing", flow.Extensions[Resource]{}) // the types fit
	flow.Register(&registry, "Failure", flow.Extensions[error]{})  // a type may implement both interfaces
	mustEqual(t, "a kind whose registration panicked is not registered", []string{"Failure", "Pool"}, registry.Kinds())
	var none *flow.Registry[Resource]
	if out := must(none.For("Pool", c.things())).Reconcile(t.Context(), &pool{name: "p"}); out.State() != flow.StateReady || none.Kinds() != nil {
		t.Errorf("a nil registry has no kinds: %s", out)
	}
}

// For returns an error for a misspelt kind, and where New panics, because it
// runs while the engine runs.
func TestForRefuses(t *testing.T) {
	var loose, strict flow.Registry[Resource]
	strict.Strict = true
	for _, r := range []*flow.Registry[Resource]{&loose, &strict} {
		flow.Register(r, "Pool", flow.Extensions[*pool]{})
		flow.Register(r, "Agent Pool", flow.Extensions[*pool]{})
		flow.Register(r, "Owned", flow.Extensions[Resource]{OwnerCheck: chain.New(checks.OwnerReady())})
	}
	sound := (&cloud{}).things()
	similar := func(kind, known string) string {
		return fmt.Sprintf("flow: For: unknown kind: %q is not registered, but %q is, and differs only by case or white space: write it in one way", kind, known)
	}
	cases := map[string]struct {
		reason   string
		registry *flow.Registry[Resource]
		kind     string
		ops      flow.Operations[Resource]
		opts     []flow.Option
		want     string // empty: there is a runner
	}{
		"Registered":    {"a registered kind has a runner", &loose, "Pool", sound, nil, ""},
		"Unknown":       {"an unknown kind has a runner without extensions", &loose, "Disk", sound, nil, ""},
		"UnknownStrict": {"a strict registry refuses an unknown kind", &strict, "Disk", sound, nil, `flow: For: unknown kind: "Disk" is not registered, and the registry is strict: register it, with the zero Extensions if it needs none`},
		"Nil":           {"a nil registry has no kinds", nil, "pool", sound, nil, ""},
		"Case":          {"it would run without links", &loose, "pool", sound, nil, similar("pool", "Pool")},
		"Inside":        {"it would run without links", &loose, "AgentPool", sound, nil, similar("AgentPool", "Agent Pool")},
		"Unseen":        {"it would run without links", &loose, "Po\u200bol", sound, nil, similar("Po\u200bol", "Pool")},
		"CaseStrict":    {"the error names the similar kind", &strict, "POOL", sound, nil, similar("POOL", "Pool")},
		"Blank":         {"a kind has a name", &loose, " ", sound, nil, "flow: For: unknown kind: the kind is empty"},
		"NoApply":       {"operations are checked as in New", &loose, "Pool", flow.Operations[Resource]{Key: Resource.Name}, nil, "flow: New: Pool: Operations.Apply is nil: give the function that creates and updates the resource"},
		"NoOwner":       {"the operations that the extensions need are checked", &loose, "Owned", sound, nil, "flow: New: Owned: there are owner checks (OwnerReady) and Operations.Owner is nil: give the function that finds the owner"},
		"NilOption":     {"options are checked", &loose, "Disk", sound, []flow.Option{nil}, "flow: New: Disk: option 1 is nil"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			runner, err := tc.registry.For(tc.kind, tc.ops, tc.opts...)
			mustEqual(t, tc.reason, tc.want == "", runner != nil)
			text := ""
			if err != nil {
				text = err.Error()
			}
			mustEqual(t, tc.reason, tc.want, text)
			mustEqual(t, "errors.Is finds ErrUnknownKind: "+tc.reason, strings.Contains(tc.want, "unknown kind"), errors.Is(err, flow.ErrUnknownKind))
		})
	}
	t.Run("PanickingOption", func(t *testing.T) {
		defer func() { mustEqual(t, "a panic of a user's option is not recovered", any("mine"), recover()) }()
		_, _ = loose.For("Pool", sound, flow.WithObserver(&binds{}))
	})
}

// binds is an observer that panics at set-up.
type binds struct{ recorder }

func (*binds) Bind(*chain.Link) chain.Observer { panic("mine") }

// must returns v.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// Several goroutines may register, look up and use kinds at once.
func TestRegistryConcurrently(t *testing.T) {
	var registry flow.Registry[Resource]
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			flow.Register(&registry, fmt.Sprintf("Kind%d", i), fiveChecks())
			for j := range 8 {
				if out := must(registry.For(fmt.Sprintf("Kind%d", j), owningThings())).Reconcile(context.Background(), &pool{name: "p"}); out.State() != flow.StateReady {
					t.Error(out)
				}
				registry.Kinds()
			}
		})
	}
	wg.Wait()
	mustEqual(t, "every kind is registered", 8, len(registry.Kinds()))
}

// An operation that replaces the resource with one of the wrong type stays
// under way. SetToken gets the resource that Apply got, also if a link replaces
// it.
func TestWrongTypeAndTokens(t *testing.T) {
	var registry flow.Registry[Resource]
	flow.Register(&registry, "Pool", ext{})
	var pools flow.Registry[*pool]
	flow.Register(&pools, "Pool", flow.Extensions[Resource]{Apply: chain.New(link("swap", func(ctx context.Context, req *flow.Request[Resource], next flow.Handler[Resource]) (flow.Progress, error) {
		p, err := next(ctx, req)
		req.Resource = diskNamed("d")
		return p, err
	}))})
	c := &cloud{answers: []answer{{progress: flow.InProgress("a", 0)}, {progress: flow.Done()}}}
	swapped, apply := c.things(), c.things().Apply
	swapped.Get = nil
	swapped.Apply = func(ctx context.Context, req *flow.Request[Resource]) (flow.Progress, error) {
		p, err := apply(ctx, req)
		req.Resource = nil
		return p, err
	}
	r := must(registry.For("Pool", swapped))
	for range 2 {
		mustBe(t, "the wrong type fails the pass", flow.ErrWrongType, r.Reconcile(t.Context(), &pool{name: "p"}).Err())
	}
	mustEqual(t, "the operation is polled, not started again", []string{"apply p", "apply p a"}, c.take())

	c.answers = []answer{{progress: flow.InProgress("a", 0)}, {progress: flow.Done()}}
	stores := c.storing()
	stores.Owner, stores.Get = nil, nil
	p, typed := &pool{name: "p"}, must(pools.For("Pool", stores))
	for range 2 {
		typed.Reconcile(t.Context(), p)
	}
	mustEqual(t, "the operation is polled, not started again", []string{"apply", `store "a" for 0`, "apply a", `store "" for 0`}, c.take())
}

// owningThings are the operations of owning for things.
func owningThings() flow.Operations[Resource] {
	o := owning()
	return flow.Operations[Resource]{
		Key:   Resource.Name,
		Owner: func(ctx context.Context, r Resource) (checks.Object, error) { return o.Owner(ctx, r.(*pool)) },
		Get: func(context.Context, *flow.Request[Resource]) (flow.Observation, error) {
			return flow.Observation{Presence: checks.Present}, nil
		},
		Apply: func(context.Context, *flow.Request[Resource]) (flow.Progress, error) { return flow.Done(), nil },
	}
}

// The extensions of a kind are found with their registered type only.
func TestExtensionsOf(t *testing.T) {
	var registry flow.Registry[Resource]
	flow.Register(&registry, "Pool", flow.Extensions[*pool]{PreCheck: chain.New(checks.Paused(func(*pool) bool { return true }))})
	flow.Register(&registry, "Thing", flow.Extensions[Resource]{})
	got, err := flow.ExtensionsOf[*pool](&registry, "Pool")
	mustBe(t, "it is registered", nil, err)
	mustEqual(t, "the registered extensions", 1, got.PreCheck.Len())

	_, unknown := flow.ExtensionsOf[*pool](&registry, "Disk")
	_, another := flow.ExtensionsOf[*disk](&registry, "Pool")
	_, loose := flow.ExtensionsOf[*pool](&registry, "Thing")
	cases := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"Unknown": {"the kind is not registered", unknown,
			`flow: kind "Disk" is not registered: call flow.Register, with the zero Extensions if the kind needs none`},
		"OtherType": {"the extensions are for another type", another,
			`flow: kind "Pool" is registered for *flow_test.pool, and is used for *flow_test.disk: register it for *flow_test.disk`},
		"Interface": {"extensions for an interface are not extensions for a type that implements it", loose,
			`flow: kind "Thing" is registered for flow_test.Resource, and is used for *flow_test.pool: register it for *flow_test.pool`},
	}
	for name, tc := range cases {
		mustEqual(t, name+": "+tc.reason, tc.want, fmt.Sprint(tc.err))
	}
}

// A link that replaces the resource with a type that the engine does not handle
// fails the pass.
func TestRunnerRefusesOtherTypes(t *testing.T) {
	for from, made := range map[string]Resource{"*flow_test.disk": diskNamed("d"), "nothing": nil} {
		var registry flow.Registry[*pool]
		flow.Register(&registry, "Pool", flow.Extensions[Resource]{
			Get: chain.New(link("swap", func(ctx context.Context, req *flow.Request[Resource], next flow.GetHandler[Resource]) (flow.Observation, error) {
				req.Resource = made
				return next(ctx, req)
			})),
		})
		out := must(registry.For("Pool", (&cloud{}).operations())).Reconcile(t.Context(), &pool{})
		mustBe(t, from, flow.ErrWrongType, out.Err())
		mustEqual(t, from, "Pool: cannot convert "+from+" to *flow_test.pool: "+flow.ErrWrongType.Error(), out.Err().Error())
		mustEqual(t, from, place{flow.StateFailed, "Get", ""}, placeOf(out))
	}
}
