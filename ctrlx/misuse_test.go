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
	for name, ext := range drops {
		d := newHarness(t, freshApp("uid"))
		d.use(d.reconciler(ext).WithPreReconcileHook(func(context.Context, client.Client, *App) error { return nil }))
		if d.pass(); !strings.Contains(d.message(), "outside of a pass: hand on the context") || d.took() != "" {
			t.Errorf("%s: the object says %q with %q", name, d.says(), d.message())
		}
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
