package dependents_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
)

// stopped is a manager that does not run, with the clients of a world.
type stopped struct {
	ctrl.Manager
	of cluster
}

func (s *stopped) GetClient() client.Client    { return s.of.client }
func (s *stopped) GetAPIReader() client.Reader { return s.of.live }

// TestReadInPass reads an object from the cache of a pass. It reads past the cache if
// the kind is not watched, or is cached in another form.
func TestReadInPass(t *testing.T) {
	t.Parallel()
	missing := func(*world) (any, error) { return nil, nil }
	fails := func(err error) func(*world) (any, error) { return func(*world) (any, error) { return nil, err } }
	cached := func(w *world) (any, error) { return w.read(), nil }
	forbidden := fails(apierrors.NewForbidden(corev1.Resource("configmaps"), "", errors.New("no rights")))
	zoo := func(version string) func(*world) (any, error) {
		return func(w *world) (any, error) {
			u := object("zoo.example.com/"+version, "Zoo", "a", nil)
			return u, api.Get(w.t.Context(), client.ObjectKey{Namespace: w.ns, Name: "a"}, u)
		}
	}
	text := configMap(nil, []string{"k", "1"})
	cases := map[string]struct {
		reason string
		object client.Object
		find   func(*world) (any, error) // nil: a pass of another manager
		look   bool                      // ReadOnly
		want   string                    // the outcome, the error and the calls
		logged int                       // lines
	}{
		"Cached":      {"the pass has it", text, cached, false, "in sync <nil> []", 0},
		"Absent":      {"a pass may be faster than the cache", text, missing, false, "in sync <nil> [live get ConfigMap a]", 0},
		"AbsentLook":  {"a look trusts the cache", text, missing, true, "waiting <nil> []", 0},
		"Forbidden":   {"it may not watch the kind", text, forbidden, false, "in sync <nil> [live get ConfigMap a]", 1},
		"Unwatchable": {"the API has no watch", text, fails(apierrors.NewMethodNotSupported(corev1.Resource("configmaps"), "list")), false, "in sync <nil> [live get ConfigMap a]", 1},
		"Error":       {"the cache does not answer", text, fails(errors.New("it is slow")), false, " ConfigMap NS/a: it is slow []", 0},
		"Untyped":     {"another form", text, func(w *world) (any, error) { return object("v1", "ConfigMap", "a", nil), nil }, false, "in sync <nil> [live get ConfigMap a]", 0},
		"OtherPass":   {"the client of another manager", text, nil, false, "in sync <nil> [get ConfigMap a]", 0},
		"NoType":      {"a kind that the scheme lacks", object("zoo.example.com/v1", "Zoo", "a", nil), zoo("v1"), false, "in sync <nil> []", 0},
		"Version":     {"another version", object("zoo.example.com/v1", "Zoo", "a", nil), func(*world) (any, error) { return object("zoo.example.com/v2", "Zoo", "a", nil), nil }, false, "in sync <nil> [live get Zoo a]", 0},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, ready)
			w.apply(tc.object)
			mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
			must(t, err)
			running := &stopped{mgr, w.cluster}
			d := dependents.New(name, running, dependents.WithClock(w.clock), ready)
			in := &engine.InPass{Find: func(ctx context.Context, ref checks.Ref) (checks.Object, error) {
				if !engine.IsDependent(ctx) {
					t.Errorf("%s: the dependent is an input", tc.reason)
				}
				value, err := tc.find(w)
				return checks.Object{Ref: ref, Value: value}, err
			}}
			if tc.find != nil {
				in.Engine, err = engine.Of(running)
				must(t, err)
			}
			if tc.look {
				d = d.ReadOnly()
			}
			lines := 0
			ctx := log.IntoContext(t.Context(), funcr.New(func(_, args string) {
				if lines++; !strings.Contains(args, `"kind"="ConfigMap" "error"="`) {
					t.Errorf("%s: the log has %s", tc.reason, args)
				}
			}, funcr.Options{}))
			for range 2 {
				w.calls = nil
				res, err := d.ApplyObject(context.WithValue(ctx, engine.PassKey{}, in), w.owner, tc.object)
				same(t, strings.ReplaceAll(tc.want, "NS", w.ns), fmt.Sprint(res.Outcome, " ", err, " ", w.calls), "%s", tc.reason)
			}
			if lines != tc.logged {
				t.Errorf("%s: %d lines of the log, want %d", tc.reason, lines, tc.logged)
			}
		})
	}
}

// TestDeletionWatches allows the manager to watch a kind that the process has only
// deleted, as after a restart. The owner waits for the event.
func TestDeletionWatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ready)
	d := w.apply(deployment("nginx", nil)).Object
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	must(t, err)
	running := &stopped{mgr, w.cluster}
	restarted := dependents.New(name, running)
	e, err := engine.Of(running)
	must(t, err)
	refused := func() bool {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		ref := checks.Ref{Group: "apps", Kind: "Deployment", Namespace: w.ns, Name: "a"}
		pass := e.Begin(ref, 0)
		_, _, err := pass.Read(ctx, ref)
		_, is := errors.AsType[*engine.KindNotWatchedError](err)
		return is
	}
	before := refused()
	_, err = restarted.DeleteObject(t.Context(), w.owner, d)
	must(t, err)
	if after := refused(); !before || after {
		t.Errorf("the kind is refused before: %t, and after: %t", before, after)
	}
}

func object(apiVersion, kind, name string, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "spec": spec}}
	u.SetName(name)
	return u
}

// definition returns the definition of the kind Mill of a group. Of its versions v1
// and v2, no more than v2 is served.
func definition(group string, served bool) *unstructured.Unstructured {
	version := func(name string, stored bool) any {
		return map[string]any{"name": name, "served": served && stored, "storage": stored, "schema": map[string]any{
			"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
		}}
	}
	return object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "mills."+group, map[string]any{
		"group": group, "scope": "Namespaced", "names": map[string]any{"kind": "Mill", "listKind": "MillList", "plural": "mills", "singular": "mill"},
		"versions": []any{version("v1", false), version("v2", true)},
	})
}

// until waits until the API server serves the kind Mill of a group in v2, or until
// it does not.
func until(t *testing.T, group string, served bool) {
	t.Helper()
	must(t, apiserver.Until(t.Context(), func(ctx context.Context) (bool, error) {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v2", Kind: "MillList"})
		return (started(t, "").List(ctx, list) == nil) == served, nil
	}))
}

// started returns the client of a process that has just started, so that it knows
// no kind. user is its user; empty: an administrator.
func started(t *testing.T, user string) client.Client {
	t.Helper()
	of := rest.CopyConfig(config)
	if user != "" {
		of.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	}
	c, err := client.New(of, client.Options{Scheme: scheme})
	must(t, err)
	return c
}

// mapped is a client whose kinds are found by another function, which gets the answer
// of the API server.
type mapped struct {
	client.Client
	find func(schema.GroupKind, *meta.RESTMapping) (*meta.RESTMapping, error)
}

func (m mapped) RESTMapper() meta.RESTMapper { return mapper{m.Client.RESTMapper(), m} }

type mapper struct {
	meta.RESTMapper
	of mapped
}

func (m mapper) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	found, err := m.RESTMapper.RESTMapping(gk, versions...)
	if err != nil {
		return nil, err
	}
	return m.of.find(gk, found)
}

// lacking returns a client with the kinds of a cluster that lacks the kind Mill.
func lacking(c client.Client) client.Client {
	return mapped{c, func(gk schema.GroupKind, found *meta.RESTMapping) (*meta.RESTMapping, error) {
		if gk.Kind == "Mill" {
			return nil, &meta.NoKindMatchError{GroupKind: gk}
		}
		return found, nil
	}}
}

// deletes deletes an object, and compares the outcome or the error.
func (w *world) deletes(reason string, kinds, live client.Client, obj client.Object, want string) {
	w.t.Helper()
	res, err := dependents.New(name, cluster{kinds, live}).DeleteObject(w.t.Context(), w.owner, obj)
	got := string(res.Outcome)
	if err != nil {
		got = err.Error()
	}
	if !strings.Contains(got, want) || want == "gone" && res.Message != "" {
		w.t.Errorf("%s: got %s, want %q", reason, got, want)
	}
}

// TestHidden deletes an object of a kind that the API server does not serve in its
// version. The object is gone only if the kind has no definition.
func TestHidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.ns + ".example.com"
	mill := object(group+"/v1", "Mill", "a", nil)
	w.deletes("no definition exists", api, api, mill, "gone")

	must(t, api.Create(t.Context(), definition(group, true)))
	until(t, group, true)
	installer := started(t, "")
	w.Dependents = dependents.New(name, cluster{installer, installer})
	w.settle(object(group+"/v2", "Mill", "a", nil))
	must(t, api.Patch(t.Context(), definition(group, false), client.Merge))
	until(t, group, false)
	restarted, user := started(t, ""), started(t, "guest")
	for range 2 {
		w.deletes("no version is served", restarted, restarted, mill, "CustomResourceDefinition mills."+group+": it serves no version: serve one again")
	}
	w.deletes("the definition cannot be read", user, user, mill, "the rights to get and list customresourcedefinitions.apiextensions.k8s.io and apiservices.apiregistration.k8s.io")

	must(t, api.Patch(t.Context(), definition(group, true), client.Merge))
	until(t, group, true)
	restarted = started(t, "")
	w.deletes("only the other cluster has the kind", lacking(restarted), restarted, mill, "terminating")
	w.deletes("the object was deleted", lacking(restarted), restarted, mill, "gone")
	must(t, api.Delete(t.Context(), definition(group, true)))
	until(t, group, false)
	w.deletes("the definition was deleted", restarted, restarted, mill, "gone")
}

// TestScopeChanged deletes an object whose kind was defined again, with another scope.
// Such an object is gone. The client would find a namesake, which stays.
func TestScopeChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.ns + ".example.com"
	old := object(group+"/v2", "Mill", "a", nil)
	old.SetNamespace(w.ns)
	must(t, api.Create(t.Context(), definition(group, true)))
	until(t, group, true)
	c := &struct{ client.Client }{started(t, "")}
	running := dependents.New(name, cluster{c, c})
	w.Dependents = running
	w.settle(old)
	without := mapped{c, func(_ schema.GroupKind, found *meta.RESTMapping) (*meta.RESTMapping, error) { // knows no namespaces
		other := *found
		other.Scope = meta.RESTScopeRoot
		return &other, nil
	}}
	_, err := dependents.New(name, cluster{without, c}).DeleteObject(t.Context(), w.owner, old)
	if err == nil || !strings.Contains(err.Error(), "restart the operator") {
		t.Errorf("a process that knows an earlier scope, and the object exists: got %v", err)
	}
	must(t, api.Delete(t.Context(), definition(group, true)))
	until(t, group, false)
	crd := definition(group, true)
	must(t, unstructured.SetNestedField(crd.Object, "Cluster", "spec", "scope"))
	must(t, api.Create(t.Context(), crd))
	until(t, group, true)
	if _, err := running.ApplyObject(t.Context(), w.owner, old); err == nil || !strings.Contains(err.Error(), "restart the operator if the kind has another scope now") {
		t.Errorf("a process that knows an earlier scope creates an object: got %v", err)
	}
	restarted := started(t, "")
	namesake := object(group+"/v2", "Mill", "a", nil)
	w.Dependents = dependents.New(name, cluster{restarted, restarted})
	w.settle(namesake)
	w.deletes("the kind has no namespaces any more", restarted, restarted, old, "gone")
	c.Client = restarted // its kinds are up to date
	if res, err := running.DeleteObject(t.Context(), w.owner, old); err != nil || res.Outcome != dependents.Gone {
		t.Errorf("a process that knew the kind: got %s, %v", res.Outcome, err)
	}
	if res := w.apply(namesake); res.Outcome != dependents.InSync {
		t.Errorf("a namesake without a namespace is %s", res.Outcome)
	}
	p, err := dependents.New(name, cluster{lacking(restarted), restarted}).Delete(t.Context(), w.owner, namesake)
	must(t, err)
	same(t, []checks.Ref{{Group: group, Kind: "Mill", Name: "a"}}, p.WaitingFor(), "a process that does not know the kind waits")
	w.settle(namesake)
	w.deletes("the kind has no namespaces", restarted, restarted, namesake, "terminating")
	w.owner.Namespace = ""
	w.deletes("the kind has namespaces, and the owner has none", restarted, restarted, configMap(nil, nil), "gone")
}
