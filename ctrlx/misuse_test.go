package ctrlx_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

// An operation that puts another object into its request has failed, since nothing of that would be written. The
// token of an operation under way is kept.
func TestReplaced(t *testing.T) {
	cases := map[string]struct {
		reason           string
		do               func(*flow.Request[*App]) error
		replaced, broken bool // the errors
	}{
		"InPlace":    {"as it should be", func(req *flow.Request[*App]) error { *req.Resource = App{}; return nil }, false, false},
		"Fails":      {"its error is its own", func(*flow.Request[*App]) error { return errBroken }, false, true},
		"Other":      {"another object", func(req *flow.Request[*App]) error { req.Resource = &App{}; return nil }, true, false},
		"None":       {"no object", func(req *flow.Request[*App]) error { req.Resource = nil; return nil }, true, false},
		"OtherFails": {"both are said", func(req *flow.Request[*App]) error { req.Resource = &App{}; return errBroken }, true, true},
	}
	for name, tc := range cases {
		for _, where := range []string{"get", "apply", "delete"} {
			t.Run(name+"/"+where, func(t *testing.T) {
				d := newHarness(t, anApp(AppSpec{}))
				does := func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
					return flow.InProgress("token", 0), tc.do(req)
				}
				called := false
				check := func(before *App, req *flow.Request[*App], err error) {
					if called = true; errors.Is(err, ctrlx.ErrReplaced) != tc.replaced || errors.Is(err, errBroken) != tc.broken {
						t.Errorf("%s: %v", tc.reason, err)
					}
					if req.Resource != before {
						t.Errorf("%s: the link after it has another object", tc.reason)
					}
				}
				link := chain.New(chain.Named("link", func(next flow.Handler[*App]) flow.Handler[*App] {
					return func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
						before := req.Resource
						p, err := next(ctx, req)
						if check(before, req, err); p.Token() != "token" {
							t.Errorf("%s: the token of the operation under way is %q", tc.reason, p.Token())
						}
						return flow.Progress{}, errBroken
					}
				}))
				ops := flow.Operations[*App]{Apply: does, Delete: does}
				ext := flow.Extensions[*App]{Apply: link, Delete: link}
				switch where {
				case "get":
					ops.Get = func(ctx context.Context, req *flow.Request[*App]) (flow.Observation, error) {
						_, err := does(ctx, req)
						return flow.Observation{}, err
					}
					ext.Get = chain.New(chain.Named("link", func(next flow.GetHandler[*App]) flow.GetHandler[*App] {
						return func(ctx context.Context, req *flow.Request[*App]) (flow.Observation, error) {
							before := req.Resource
							_, err := next(ctx, req)
							check(before, req, err)
							return flow.Observation{}, errBroken
						}
					}))
				case "delete":
					deleted(d)
				}
				d.use(ctrlx.New("App", ops, ext, d.clock()...))
				if _ = d.try(); !called {
					t.Errorf("%s: it was not called", where)
				}
			})
		}
	}
}

// An owner reference that cannot be parsed is an error: it is neither an owner of the core
// group nor no owner.
func TestOwnerNotUnderstood(t *testing.T) {
	yes := true
	a := anApp(AppSpec{})
	a.OwnerReferences = []metav1.OwnerReference{{APIVersion: "a/b/c", Kind: "Cluster", Name: "prod", Controller: &yes}}
	d := newHarness(t, a)
	put := func(context.Context, *flow.Request[*App]) (flow.Progress, error) { return flow.Done(), nil }
	d.use(ctrlx.New("App", flow.Operations[*App]{Apply: put}, flow.Extensions[*App]{}))
	d.pass()
	if m := d.message(); !strings.Contains(m, "ctrlx: the controlling owner reference to Cluster prod: ") {
		t.Errorf("the object says %q: %s", d.says(), m)
	}
}

// What needs a pass says so outside of one.
func TestOutsideOfAPass(t *testing.T) {
	_, target := ctrlx.ClientFromContext(t.Context())
	_, data := ctrlx.Read[*corev1.Secret](t.Context(), theKey)
	d := ctrlx.New("Database", databases{Apply: put}, extensions{})
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"WriteAhead":        {ctrlx.WriteAhead(t.Context(), anApp(AppSpec{}), "note", "1"), "the context is that of no pass: hand on the context that the link was given"},
		"SetFinalizers":     {ctrlx.SetFinalizers(t.Context(), &testv1.Cluster{}, nil), "the context is that of no pass: hand on the context that the link was given"},
		"ClientFromContext": {target, "the context has no pass"},
		"Report":            {ctrlx.Report(t.Context(), &testv1.Database{}, "Installing", ""), "pass"},
		"Read":              {data, "pass"},
		"Owner":             {d.Flow().Reconcile(t.Context(), &testv1.Database{}).Err(), "the resolver was called outside of a pass"},
	} {
		if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) {
			t.Errorf("%s returns %v, want %q", name, tc.err, tc.want)
		}
	}
}

// A link that hands on a context of its own is an error that says so: without the pass, no finalizer could be written.
func TestContextDropped(t *testing.T) {
	drops := map[string]flow.Extensions[*App]{
		"Apply": {Apply: chain.New(chain.Named("drops", func(next flow.Handler[*App]) flow.Handler[*App] {
			return func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
				return next(context.Background(), req)
			}
		}))},
		"Hook": {PreCheck: chain.New(chain.Named("drops", func(next checks.Handler[*App]) checks.Handler[*App] {
			return func(_ context.Context, req *checks.Request[*App]) (checks.Result, error) {
				return next(context.Background(), req)
			}
		}))},
	}
	asks := func(ask func(*checks.Request[*App]) error) flow.Extensions[*App] {
		return checking(flow.PointPreCheck, func(_ context.Context, req *checks.Request[*App]) (checks.Result, error) {
			return checks.Proceed(), ask(req)
		})
	}
	drops["Resolver"] = asks(func(req *checks.Request[*App]) error {
		_, err := req.Resolver(context.Background(), dataOf("d0"))
		return err
	})
	drops["Lister"] = asks(func(req *checks.Request[*App]) error { _, err := req.Lister(context.Background(), inSet); return err })
	for name, ext := range drops {
		d := newHarness(t, freshApp("uid"))
		d.use(d.reconciler(ext).WithPreReconcileHook(func(context.Context, client.Client, *App) error { return nil }))
		if d.pass(); !strings.Contains(d.message(), "outside of a pass: hand on the context") || d.took() != "" {
			t.Errorf("%s: the object says %q with %q", name, d.says(), d.message())
		}
	}
}

// The flow of a reconciler that runs by itself has no pass. Nothing panics, and the flow says so in its line and its span.
func TestFlowByItself(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	var log lines
	rec := &spans{}
	r := d.reconciler(flow.Extensions[*App]{}, ctrlx.WithTelemetry(otelx.WithTracerProvider(rec), otelx.WithMeterProvider(nil)))
	d.use(r)
	out := r.Flow().Reconcile(log.context(t.Context(), 0), d.read())
	if err := out.Err(); err == nil || !strings.Contains(err.Error(), "outside of a pass: hand on the context") || out.State() != flow.StateFailed {
		t.Errorf("the outcome is %v: %v", out, err)
	}
	if got := log.took(); len(got) != 1 || !strings.Contains(got[0], "outside of a pass") {
		t.Errorf("the lines are %q", got)
	}
	if all := rec.passes("default", "a"); len(all) != 1 || all[0] != "error" {
		t.Errorf("the spans are %q", all)
	}
	if r.Observer() == nil || d.reconciler(flow.Extensions[*App]{}, ctrlx.WithoutTelemetry()).Observer() != nil {
		t.Error("Observer does not return the observer of New")
	}

	d.restart()
	goesOn(d)
	d.remove = d.apply
	deleted(d)
	d.with(flow.Extensions[*App]{})
	if err := d.app.Flow().Reconcile(t.Context(), d.read()).Err(); err == nil || !strings.Contains(err.Error(), "outside of a pass") || d.stored() != "" {
		t.Errorf("the deletion returns %v, and stores %q", err, d.stored())
	}
}

// A wrong use of WriteAhead, of Report and of Read is an error that names the fix.
func TestWrongUse(t *testing.T) {
	apply := func(context.Context, *flow.Request[*App]) (flow.Progress, error) { return flow.Done(), nil }
	whole := flow.Operations[*App]{Apply: apply, Delete: apply}
	cases := map[string]struct {
		reason string
		ops    flow.Operations[*App]
		do     func(context.Context, *App) error
		want   string
	}{
		"NoDelete": {"nothing would undo what the link does", flow.Operations[*App]{Apply: apply},
			func(ctx context.Context, a *App) error { return ctrlx.WriteAhead(ctx, a, "note", "1") }, "WriteAhead needs Operations.Delete"},
		"Other": {"another object has another finalizer", whole,
			func(ctx context.Context, _ *App) error { return ctrlx.WriteAhead(ctx, aCluster(), "note", "1") }, "the resource is a *testv1.Cluster: give the resource of the request"},
		"Report": {"another object has another status", whole,
			func(ctx context.Context, _ *App) error { return ctrlx.Report(ctx, aCluster(), "Installing", "") }, "Report: the resource is a *testv1.Cluster: give the resource of the request"},
		"Missing": {"an object that does not exist is awaited", whole, read[*testv1.Cluster]("", "none"), "ctrlx: Cluster.test.windlass-go.github.io default/none: "},
		"NotInScheme": {"the kind of the object is not known", whole,
			func(ctx context.Context, _ *App) error { return ctrlx.SetFinalizers(ctx, &unknownKind{}, nil) }, "ctrlx: SetFinalizers: add the type to the scheme: "},
		"OtherType": {"the type must be that of the scheme", whole, read[*testv1.Database]("", "c"),
			"default/c is a *testv1.Cluster, and not a *testv1.Database: give Read the type that the scheme of the manager has for the kind"},
		"Foreign": {"another namespace needs an option", whole, read[*testv1.Cluster]("kube-system", "c"), "kube-system"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}), aCluster())
			d.use(ctrlx.New("App", tc.ops, checking(flow.PointPreCheck, func(ctx context.Context, req *checks.Request[*App]) (checks.Result, error) {
				return checks.Proceed(), tc.do(ctx, req.Resource)
			}), d.clock()...))
			d.pass()
			if !strings.Contains(d.message(), tc.want) {
				t.Errorf("%s: the object says %q with %q", tc.reason, d.says(), d.message())
			}
		})
	}
}

// read reads a Cluster as an object of a type.
func read[W client.Object](namespace, name string) func(context.Context, *App) error {
	return func(ctx context.Context, _ *App) error {
		_, err := ctrlx.Read[W](ctx, checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Namespace: namespace, Name: name})
		return err
	}
}
