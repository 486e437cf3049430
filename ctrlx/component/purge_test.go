package component_test

import (
	"errors"
	"strings"
	"testing"
)

// An object with a purge order is deleted once its wave is ready, before the next
// wave begins. It is applied again only if its manifest changes, also after a
// restart. It ignores its delete policy.
func TestPurge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := func(k string) string {
		return configMap("job", k, "apply-order", "-1", "purge-order", "-1", "delete-policy", "Orphan")
	}
	w.want(job("1"), configMap("b", "1"))
	w.settle()
	same(t, []string{"store Shop shop", "write ConfigMap job", "store Shop shop", "delete ConfigMap job", "write ConfigMap b", "store Shop shop"}, w.writes(), "the writes")
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
		"Only":     {"a set without waves", []string{held}},
		"LastWave": {"waves of a lower order", []string{strings.Replace(held, "purge-order: \"0\"", "apply-order: \"1\"\n    shop.example.com/purge-order: \"1\"", 1), configMap("b", "1")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			conflict := errors.New("conflict")
			w.before = func(call string) error {
				if call == "delete ConfigMap job" {
					return conflict
				}
				return nil
			}
			w.want(tc.manifests...)
			for range 2 {
				if res, err := w.pass(); !errors.Is(err, conflict) {
					t.Fatalf("%s: the deletion fails: %+v, %v", tc.reason, res, err)
				}
			}
			w.before = nil
			for range 3 {
				if res, err := w.pass(); err != nil || res.Proceeds() || !strings.Contains(res.Message(), "held by the finalizers example.com/held") {
					t.Fatalf("%s: the job is held by a finalizer: %+v, %v", tc.reason, res, err)
				}
			}
			w.release("job")
			w.settle()
		})
	}
}

// A purged object is applied again only if its manifest changes. An empty status, a
// null and the marks are no part of a manifest, as for all other objects.
func TestPurgeDigest(t *testing.T) {
	t.Parallel()
	job := configMap("job", "1", "purge-order", "0")
	for title, text := range map[string]string{
		"Status": job + "status: {}\n", "CreationTimestamp": strings.Replace(job, "metadata:\n", "metadata:\n  creationTimestamp: null\n", 1),
		"Namespace": strings.Replace(job, "metadata:\n", "metadata:\n  namespace: NAMESPACE\n", 1),
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.want(job)
			w.settle()
			w.writes()
			w.want(text)
			w.settle()
			same(t, []string(nil), w.wrote("write ConfigMap job"), "a purged object runs again")
		})
	}
}

// The API server refuses a new manifest of a purged object. The set goes back to the
// manifest that was applied and purged: it is not applied again.
func TestPurgeReverted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good := configMap("job", "1", "purge-order", "0")
	w.want(good)
	w.settle()
	w.want(strings.Replace(good, "k: \"1\"", "k: \"1\"\n  \"bad key\": x", 1))
	_, err := w.pass()
	if t.Log(err); err == nil {
		t.Fatal("the API server accepts the manifest")
	}
	w.want(good)
	w.writes()
	w.settle()
	same(t, []string(nil), w.wrote("write ConfigMap job"), "a purged object is applied again, and its manifest is the one that was purged")
}
