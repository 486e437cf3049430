package component_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/dependents"
)

// Redundant objects are deleted when the others are ready, in the order of their
// deletion waves. An object of another owner stays.
func TestRedundant(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unready)
	w.want(configMap("a", "1", "delete-order", "2"), configMap("b", "1", "delete-order", "-2"), configMap("c", "1"), configMap("d", "1"))
	w.settle()
	w.steal("d")
	w.writes()
	w.want(configMap("c", "wait"))
	if res, err := w.pass(); err != nil || res.Proceeds() {
		t.Fatalf("the wave is not ready: %+v, %v", res, err)
	}
	same(t, []string{"write ConfigMap c"}, w.writes(), "the writes while an object is not ready")
	w.want(configMap("c", "2"))
	w.settle()
	same(t, []string{"write ConfigMap c", "delete ConfigMap b", "delete ConfigMap a", "store Shop shop", "store Shop shop"}, w.writes(), "the writes")
	same(t, []string{"c=2", "d=1"}, w.names(), "the objects")
}

// A namespace and a definition stay while the set needs an object in them, and while
// a policy keeps one. They stay, too, if the component is in them.
func TestNeededInside(t *testing.T) {
	t.Parallel()
	inside := func(k string, annotations ...string) string {
		return strings.Replace(configMap("inside", k, annotations...), "name: inside", "name: inside\n  namespace: NAMESPACE-inner", 1)
	}
	w := newWorld(t)
	crd, kind := w.definition()
	own := "apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE, annotations: {" + name + "/delete-policy: Delete}}\n" // it existed before
	w.want(own, inner, crd, inside("1"), mill(kind, "ours"))
	w.settle()
	w.writes()
	w.want(inside("1"), mill(kind, "ours"))
	for range 2 {
		res := w.passes(1)
		for _, text := range []string{
			"Namespace " + w.ns + ": it would be deleted with ", "Namespace " + w.ns + "-inner: it would be deleted with ConfigMap " + w.ns + "-inner/inside, which stays",
			"mills." + kind.Group + ": it would be deleted with Mill." + kind.Group + " " + w.ns + "/ours, which stays",
		} {
			if res.Proceeds() || res.Reason() != "Processing" || !strings.Contains(res.Message(), text) {
				t.Fatalf("%+v does not have %q", res, text)
			}
		}
	}
	same(t, []string(nil), w.wrote("delete"), "a needed object is lost")
	if p, err := w.plan(); err != nil || len(p.Problems) != 1 || !strings.Contains(p.Problems[0], "objects are kept") {
		t.Errorf("the plan is %s, %v", p, err)
	}
	w.want(inner, inside("1", "delete-policy", "OrphanOnApply"), mill(kind, "ours"))
	w.refused("its delete policy OrphanOnApply keeps it")
}

// A component keeps its own namespace on its deletion: each would wait for the other.
func TestOwnNamespace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want("apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE, annotations: {"+name+"/delete-policy: Delete}}\n", configMap("a", "1"))
	w.settle()
	w.delete()
	w.settle()
	same(t, []any{false, []string(nil)}, []any{w.terminates(w.ns), w.names()}, "the deletion of the namespace, and the objects")
}

// The message of a redundant deletion counts the redundant objects only. A pass reads
// each of them once.
func TestRedundantCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	held := strings.Replace(configMap("held", "1"), "name: held", "name: held\n  finalizers: [example.com/held]", 1)
	w.want(configMap("a", "1"), configMap("b", "1"), held)
	w.settle()
	w.want(configMap("a", "1"))
	for _, want := range []string{"2 objects are left: ", "1 objects are left: ConfigMap held: "} {
		w.calls = nil
		if res, err := w.pass(); err != nil || !strings.HasPrefix(res.Message(), want) {
			t.Errorf("%+v, %v; want %q", res, err, want)
		}
	}
	same(t, []string{"get ConfigMap a", "live get Shop shop", "live get ConfigMap held", "live get ConfigMap b", "store Shop shop"}, w.calls, "the calls")
	w.patch("held", noFinalizers)
	w.settle()
}

// An API service goes before the objects that may be its server, because the guard
// lists its types by that server. A group that cannot be discovered blocks.
func TestDeleteAPIService(t *testing.T) {
	w := newWorld(t)
	group := w.ns + ".example.com"
	service := "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1." + group + "}\n" +
		"spec: {group: " + group + ", version: v1, groupPriorityMinimum: 1000, versionPriority: 15}\n"
	var err error
	w.preferred = func() ([]*metav1.APIResourceList, error) { return nil, err }
	w.restart()
	w.want(configMap("server", "1"), service)
	w.settle()
	w.writes()
	w.delete()
	gv := schema.GroupVersion{Group: group, Version: "v1"}
	err = &discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{gv: errors.New("no answer")}}
	if res, err := w.pass(); err != nil || res.Reason() != "DeletionBlocked" || !strings.Contains(res.Message(), gv.String()) || !strings.Contains(res.Message(), "or delete its APIService") {
		t.Errorf("the server does not answer: %+v, %v", res, err)
	}
	err = nil
	w.settle()
	same(t, []string{"delete APIService v1." + group, "delete ConfigMap server"}, w.wrote("delete"), "the deletions")
}

// A set repairs the server of its own aggregated API, although the group cannot be
// discovered. Without the APIService in the set, an object of the group is an error,
// or waits if the group is an additional type. The message has the error.
func TestAggregatedDown(t *testing.T) {
	w := newWorld(t)
	group := w.ns + ".down.example.com"
	service := "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1." + group + "}\n" +
		"spec: {group: " + group + ", version: v1, groupPriorityMinimum: 1000, versionPriority: 15, service: {namespace: NAMESPACE, name: x}, insecureSkipTLSVerify: true}\n"
	metric := "apiVersion: " + group + "/v1\nkind: Metric\nmetadata: {name: m}\n"
	services := schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}
	defer func() { must(t, client.IgnoreNotFound(api.Delete(t.Context(), w.object(services, "v1."+group)))) }()
	for _, k := range []string{"broken", "repaired"} {
		w.want(configMap("server", k), service, metric)
		for range 3 {
			if res, err := w.pass(); err != nil || res.Proceeds() {
				t.Errorf("%s: the API has no server: %+v, %v", k, res, err)
			}
		}
		same(t, []string{"server=" + k}, w.names(), "the objects")
	}
	w.want(configMap("server", "1"), metric)
	if _, err := w.pass(); err == nil || errors.Is(err, dependents.ErrInvalid) || !strings.Contains(err.Error(), "finding the kind") {
		t.Errorf("a group that cannot be discovered: %v", err)
	}
	w.change(func(s *Shop) { s.Spec.ManagedTypes = []metav1.GroupVersionKind{{Group: group, Kind: "*"}} })
	const want = "or its API server does not answer: failed to get API group resources: "
	if res, err := w.pass(); err != nil || !strings.Contains(res.Message(), want) {
		t.Errorf("an additional type of the group: %+v, %v", res, err)
	}
}

// The policy of the component counts when an object is deleted, whatever it was when the
// object was applied, and although the set became invalid before.
func TestPolicyBeforeDeletion(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason        string
		before, after string
		redundant     bool // the object leaves the set; else the component is deleted
		want          []string
	}{
		"Saved":     {"the user wants to save the objects", "", "Orphan", false, []string{"a=1"}},
		"Later":     {"another policy would delete it with the component", "OrphanOnApply", "Orphan", false, []string{"a=1"}},
		"Redundant": {"another policy would delete it now", "OrphanOnDelete", "Orphan", true, []string{"a=1", "b=1"}},
		"Deleted":   {"no object is kept for ever", "Orphan", "Delete", false, nil},
		"Lost":      {"nothing is deleted, so no lost inventory blocks", "", "Orphan", false, []string{"a=1"}},
		"OnDelete":  {"the same for an object that is redundant", "OrphanOnApply", "OrphanOnDelete", true, []string{"b=1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.change(func(s *Shop) { s.Spec.Delete = tc.before })
			w.want(configMap("a", "1"))
			w.settle()
			if name == "Lost" {
				w.forget()
				w.want()
				w.passes(1)
			}
			w.change(func(s *Shop) { s.Spec.Delete = tc.after })
			if tc.redundant {
				w.want(configMap("b", "1"))
			} else {
				w.want(configMap("a", "1"), "apiVersion: x.example.com/v1\nkind: Unknown\nmetadata: {name: x}\n")
				w.refused("does not serve the kind Unknown")
				w.delete()
			}
			w.settle()
			same(t, tc.want, w.names(), "the objects: %s", tc.reason)
		})
	}
}

// A blocked deletion looks less and less often, because each look costs requests.
func TestBlockedDelay(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		age    time.Duration // of the deletion
		want   time.Duration
	}{
		"First":  {"a person acts at once", 0, 5 * time.Second},
		"Minute": {"as long as it has waited", time.Minute, time.Minute},
		"Day":    {"not for ever", 24 * time.Hour, 5 * time.Minute},
	}
	w := newWorld(t)
	crd, kind := w.definition()
	w.want(crd)
	w.settle()
	w.create(mill(kind, "foreign"))
	w.delete()
	must(t, api.Get(t.Context(), clientKey(w.shop), w.shop))
	for name, tc := range cases {
		began := time.Now()
		w.shop.DeletionTimestamp = &metav1.Time{Time: began.Add(-tc.age)}
		res, err := w.process.Pass(t.Context(), w.shop)
		must(t, err)
		if res.Reason() != "DeletionBlocked" || res.After() < tc.want || res.After() > tc.want+time.Since(began) {
			t.Errorf("%s: %s: got %+v, want %s", name, tc.reason, res, tc.want)
		}
	}
}

// An object with a purge order is deleted once its wave is ready, before the next
// wave begins. A new manifest applies it again, and a restart does not. It ignores its
// delete policy.
func TestPurge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := func(k string) string {
		return configMap("job", k, "apply-order", "-1", "purge-order", "-1", "delete-policy", "Orphan")
	}
	w.want(job("1"), configMap("b", "1"))
	w.settle()
	same(t, []string{"store Shop shop", "write ConfigMap job", "store Shop shop", "delete ConfigMap job", "store Shop shop", "write ConfigMap b"}, w.writes(), "the writes")
	for range 2 {
		w.restart()
		w.settle()
	}
	w.calls = nil
	w.settle()
	same(t, []string{"get ConfigMap b"}, w.calls, "the calls in sync")
	w.want(job("2"), configMap("b", "1"))
	w.settle()
	same(t, []string{"store Shop shop", "write ConfigMap job", "store Shop shop", "delete ConfigMap job", "store Shop shop"}, w.writes(), "the writes of a new manifest")
	same(t, []string{"b=1"}, w.names(), "the objects")
	w.want(strings.Replace(job("3"), "k: \"3\"", "k: \"3\"\n  \"bad key\": x", 1), configMap("b", "1"))
	w.refused("bad key")
	w.want(job("2"), configMap("b", "1")) // the set goes back to the manifest that was purged
	w.settle()
	same(t, []string(nil), w.wrote("write"), "a purged object runs again")
	w.want(job("2"), configMap("b", "1"), configMap("late", "1", "apply-order", "-1", "purge-order", "0"), configMap("c", "1"))
	w.settle()
	same(t, []string{"write ConfigMap late", "write ConfigMap c", "delete ConfigMap late"}, w.wrote(""), "a purge after a later wave")
}

// A purge is tried again until the object is gone: after an error of the deletion,
// and while a finalizer holds the object, also if the set has no other object.
func TestPurgeAgain(t *testing.T) {
	t.Parallel()
	held := strings.Replace(configMap("job", "1", "purge-order", "0"), "name: job", "name: job\n  finalizers: [example.com/held]", 1)
	cases := map[string]struct {
		reason    string
		manifests []string
	}{
		"Only":      {"a set without waves", []string{held}},
		"FirstWave": {"a set without an object of its order", []string{strings.Replace(held, "purge-order: \"0\"", "apply-order: \"-1\"\n    shop.example.com/purge-order: \"-1\"", 1), configMap("b", "1")}},
		"LastWave":  {"waves of a lower order", []string{strings.Replace(held, "purge-order: \"0\"", "apply-order: \"1\"\n    shop.example.com/purge-order: \"1\"", 1), configMap("b", "1")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			conflict := errors.New("conflict")
			w.fail("delete ConfigMap job", conflict)
			w.want(tc.manifests...)
			for range 2 {
				if res, err := w.pass(); !errors.Is(err, conflict) {
					t.Fatalf("%s: the deletion fails: %+v, %v", tc.reason, res, err)
				}
			}
			w.before = nil
			for range 3 {
				if res, err := w.pass(); err != nil || res.Proceeds() || res.After() != 5*time.Second ||
					res.Message() != "waiting for the objects that are purged: ConfigMap job: it is being deleted, held by the finalizers example.com/held" {
					t.Fatalf("%s: the job is held by a finalizer: %+v, %v", tc.reason, res, err)
				}
			}
			if name == "FirstWave" && slices.Contains(w.names(), "b=1") {
				t.Errorf("%s: the next wave began before the job was gone", tc.reason)
			}
			w.patch("job", noFinalizers)
			w.settle()
		})
	}
}

// A purged object is applied again after the changes that its reconcile policy names,
// as one without a purge order. A request for a pass changes nothing of the component: a
// hook of each upgrade must not run again.
func TestPurgePolicy(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason              string
		manifest, component bool // whether its change causes a write
	}{
		"OnObjectChange":            {"the default", true, false},
		"OnObjectOrComponentChange": {"a hook for each upgrade", true, true},
		"Once":                      {"a hook before the installation", false, false},
	}
	for policy, tc := range cases {
		for _, order := range []string{"", "0"} {
			t.Run(policy+order, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				manifests := func(k string) {
					w.want(configMap("job", k, "purge-order", order, "reconcile-policy", policy), configMap("b", "1"))
				}
				manifests("1")
				w.settle()
				w.writes()
				w.change(func(s *Shop) { s.Annotations = map[string]string{"windlass-go.github.io/requestedAt": "now"} })
				w.settle()
				same(t, []string(nil), w.wrote(""), "%s: the writes of a request for a pass", tc.reason)
				w.change(func(s *Shop) { s.Spec.Size = 7 })
				w.settle()
				component := len(w.wrote("write ConfigMap job")) > 0
				manifests("2")
				w.settle()
				got := []bool{len(w.wrote("write ConfigMap job")) > 0, component}
				same(t, []bool{tc.manifest, tc.component}, got, "%s: whether a new manifest and a changed component cause a write", tc.reason)
			})
		}
	}
}
