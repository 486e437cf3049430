package ctrlx_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/flow"
)

// seen describes the result of ClientFromContext in a word.
func (d *harness) seen(ctx context.Context, target client.Client) string {
	c, err := ctrlx.ClientFromContext(ctx)
	switch {
	case err != nil && strings.Contains(err.Error(), "the client of the deployment target is not known yet"):
		return "error"
	case c == d.manager.GetClient():
		return "manager"
	case c == target:
		return "target"
	}
	return "other"
}

// Who works on the deployment target has a client for it, and who runs before it is known has an error.
func TestClientFromContext(t *testing.T) {
	remote := &struct{ client.Client }{}
	cases := map[string]struct {
		reason string
		opts   []ctrlx.Option
		want   string
	}{
		"None": {"the manager's cluster is the target", nil, "Pass manager, post-read manager, OwnerCheck manager, Get manager, PreCheck manager, pre-reconcile manager, " +
			"Apply manager, Get manager, PostCheck manager, post-reconcile manager"},
		"Target": {"the function returns it", []ctrlx.Option{ctrlx.WithTargetClient(func(_ context.Context, local client.Client, a *App) (client.Client, error) {
			if a.Name != "a" || local == nil {
				t.Errorf("it is called with %v and %v", local, a)
			}
			return remote, nil
		})}, "Pass error, post-read error, OwnerCheck target, Get target, PreCheck target, pre-reconcile target, Apply target, Get target, PostCheck target, post-reconcile target"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			note := func(place string) func(ctx context.Context) {
				return func(ctx context.Context) {
					if in, ok := ctx.Value(engine.PassKey{}).(*engine.InPass); !ok || in.Engine == nil || in.Remote != (len(tc.opts) > 0) {
						t.Errorf("%s: packages of the module see the pass as %+v", place, in)
					}
					d.note("%s %s", place, d.seen(ctx, remote))
				}
			}
			hook := func(place string) ctrlx.HookFunc[*App] {
				return func(ctx context.Context, c client.Client, _ *App) error {
					if c != d.manager.GetClient() {
						t.Errorf("%s: hooks are called with the manager's client, whatever the target is", place)
					}
					note(place)(ctx)
					return nil
				}
			}
			check := func(place string) checks.Chain[*App] {
				return chain.New(checks.Check(place, func(ctx context.Context, _ *checks.Request[*App]) (checks.Result, error) {
					note(place)(ctx)
					return checks.Proceed(), nil
				}))
			}
			d.apply = func(ctx context.Context, _ *flow.Request[*App]) (flow.Progress, error) {
				d.asked = d.asked[:len(d.asked)-1]
				note("Apply")(ctx)
				return flow.Done(), nil
			}
			d.use(d.reconciler(flow.Extensions[*App]{
				Pass: chain.New(chain.Before[*App, flow.Outcome](func(ctx context.Context, _ *App) error { note("Pass")(ctx); return nil })),
				OwnerCheck: chain.New(checks.Check("o", func(ctx context.Context, _ *checks.OwnerRequest) (checks.Result, error) {
					note("OwnerCheck")(ctx)
					return checks.Proceed(), nil
				})),
				Get:      chain.New(chain.Before[*flow.Request[*App], flow.Observation](func(ctx context.Context, _ *flow.Request[*App]) error { note("Get")(ctx); return nil })),
				PreCheck: check("PreCheck"), PostCheck: check("PostCheck"),
			}, tc.opts...).WithPostReadHook(hook("post-read")).WithPreReconcileHook(hook("pre-reconcile")).WithPostReconcileHook(hook("post-reconcile")))
			d.pass()
			if got := d.took(); got != tc.want {
				t.Errorf("%s:\n%s\nnot\n%s", tc.reason, got, tc.want)
			}
		})
	}
}

// Without a client for the target nothing is done.
func TestTargetFails(t *testing.T) {
	for want, err := range map[string]error{
		"the client of the deployment target: no secret":                         errors.New("no secret"),
		"the client of the deployment target is nil: give a client, or an error": nil, // and no panic
	} {
		target := func(context.Context, client.Client, *App) (client.Client, error) { return nil, err }
		d := newHarness(t, anApp(AppSpec{})).with(flow.Extensions[*App]{}, ctrlx.WithTargetClient(target))
		d.pass()
		if got := d.message(); got != want || d.took() != "" {
			t.Errorf("the object says %q, want %q", got, want)
		}
	}
}

// Each identity has its client, which is made once.
func TestIdentities(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	var asked http.Header
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		asked = req.Header
		maps.DeleteFunc(asked, func(name string, _ []string) bool { return !strings.HasPrefix(name, "Impersonate-") })
	}))
	defer server.Close()
	d.manager.config = &rest.Config{Host: server.URL}
	var as rest.ImpersonationConfig
	var got []client.Client
	d.apply = func(ctx context.Context, _ *flow.Request[*App]) (flow.Progress, error) {
		c, err := ctrlx.ClientFromContext(ctx)
		got = append(got, c)
		return flow.Done(), err
	}
	d.use(d.reconciler(flow.Extensions[*App]{}, ctrlx.WithImpersonation(func(*App) rest.ImpersonationConfig { return as })))
	ask := func(identity rest.ImpersonationConfig) client.Client {
		as = identity
		d.pass()
		if len(got) == 0 {
			return nil
		}
		c := got[len(got)-1]
		got = nil
		return c
	}
	jane := rest.ImpersonationConfig{UserName: "jane"}
	first, oneGroup := ask(jane), ask(rest.ImpersonationConfig{UserName: "jane", Groups: []string{"g h"}})
	cases := map[string]struct {
		reason string
		as     rest.ImpersonationConfig
		want   func(client.Client) bool
	}{
		"NoIdentity":  {"that is the manager itself", rest.ImpersonationConfig{}, func(c client.Client) bool { return c == d.api }},
		"Empty":       {"so is this", rest.ImpersonationConfig{Groups: []string{}, Extra: map[string][]string{}}, func(c client.Client) bool { return c == d.api }},
		"Again":       {"it is the same", jane, func(c client.Client) bool { return c == first }},
		"Group":       {"she has more rights", rest.ImpersonationConfig{UserName: "jane", Groups: []string{"g"}}, func(c client.Client) bool { return c != first && c != d.api && c != nil }},
		"Groups":      {"two groups are not one", rest.ImpersonationConfig{UserName: "jane", Groups: []string{"g", "h"}}, func(c client.Client) bool { return c != oneGroup && c != nil }},
		"Extra":       {"she has more rights", rest.ImpersonationConfig{UserName: "jane", Extra: map[string][]string{"a": {"b"}}}, func(c client.Client) bool { return c != first && c != d.api && c != nil }},
		"UID":         {"it is another one", rest.ImpersonationConfig{UserName: "jane", UID: "1"}, func(c client.Client) bool { return c != first && c != d.api && c != nil }},
		"NoUser":      {"the API server knows no such identity", rest.ImpersonationConfig{Groups: []string{"g"}}, func(c client.Client) bool { return c == nil }},
		"NoUserUID":   {"nor this one", rest.ImpersonationConfig{UID: "1"}, func(c client.Client) bool { return c == nil }},
		"NoUserExtra": {"nor this one", rest.ImpersonationConfig{Extra: map[string][]string{"a": {"b"}}}, func(c client.Client) bool { return c == nil }},
	}
	for name, tc := range cases {
		if c := ask(tc.as); !tc.want(c) || strings.HasPrefix(name, "NoUser") && !strings.Contains(d.message(), "give rest.ImpersonationConfig a UserName") {
			t.Errorf("%s: %s: %v", name, tc.reason, c)
		}
	}
	reused := rest.ImpersonationConfig{UserName: "jane", Groups: []string{"g"}, Extra: map[string][]string{"a": {"b"}}}
	c := ask(reused)
	reused.Groups[0], reused.Extra["a"][0], reused.Extra["c"] = "admins", "admins", []string{"admins"} // by the function of the user
	_ = c.Get(t.Context(), named("a"), &App{})
	same(t, "the identity of a client is that of its first pass", http.Header{"Impersonate-User": {"jane"}, "Impersonate-Group": {"g"}, "Impersonate-Extra-A": {"b"}}, asked)
	ask(jane) // the latest of all
	for i := range ctrlx.MaxIdentities {
		ask(rest.ImpersonationConfig{UserName: string(rune('a'+i%26)) + strings.Repeat("x", i)})
	}
	if ask(jane) == first {
		t.Error("clients are remembered of more identities than there is room for")
	}
}

// Many passes ask for clients at once, and get those of their own identities.
func TestIdentitiesAtOnce(t *testing.T) {
	d := newHarness(t)
	d.manager.config = &rest.Config{Host: "https://localhost:1"}
	clients := ctrlx.ClientsOf(d.manager)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 2 * ctrlx.MaxIdentities / 8 {
				if _, err := clients(rest.ImpersonationConfig{UserName: strconv.Itoa(i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	d.manager.config = &rest.Config{TLSClientConfig: rest.TLSClientConfig{CAFile: "missing"}}
	if c, err := clients(rest.ImpersonationConfig{UserName: "another"}); err == nil || !strings.Contains(err.Error(), `impersonating "another": `) {
		t.Errorf("the configuration is not valid, and the client is %v: %v", c, err)
	}
}

// An App is deployed with the rights of the identity that it names. Without these rights,
// the condition shows the refusal; with them, the App becomes ready.
func TestImpersonation(t *testing.T) {
	t.Parallel()
	apiserver.RequireKube(t)
	o := newOperator(t)
	user := o.namespace + "-deployer"
	apply := func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
		c, err := ctrlx.ClientFromContext(ctx)
		if err != nil {
			return flow.Progress{}, err
		}
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "made"}}
		return flow.Done(), client.IgnoreAlreadyExists(c.Create(ctx, cm))
	}
	o.start(o.apps(apply, ctrlx.WithImpersonation(func(a *App) rest.ImpersonationConfig { return rest.ImpersonationConfig{UserName: a.Spec.User} })))
	o.create(AppSpec{User: user})
	a := o.becomes("False Forbidden")
	if c := meta.FindStatusCondition(a.Status.Conditions, "Ready"); !strings.Contains(c.Message, `User "`+user+`" cannot create resource "configmaps"`) {
		t.Errorf("the condition has the server's words: %s", c.Message)
	}
	grant(t, o.namespace, user, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create"}})
	o.becomes("True Succeeded")
}
