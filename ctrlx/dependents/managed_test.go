package dependents_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
)

// TestUnreadableFields writes no object whose managed fields cannot be read: it is
// unknown who owns them.
func TestUnreadableFields(t *testing.T) {
	t.Parallel()
	without := dependents.WithApplyChain(func(c dependents.Chain) (dependents.Chain, error) { return c.Without("InSync") })
	cases := map[string]struct {
		reason, verb string // whose answer is unreadable
		manager      string // of the unreadable entry
		policy       string
		dryRun       bool
		opts         []dependents.Option
	}{
		"Drift":    {"the fields may have changed", "get", "kubectl-edit", "Replace", false, nil},
		"Foreign":  {"a takeover would lose fields", "get", "kubectl-edit", "Replace", false, []dependents.Option{without}},
		"Own":      {"a takeover would lose fields", "get", name, "Replace", false, []dependents.Option{without}},
		"SsaMerge": {"fields may be ignored", "get", name, "SsaMerge", false, []dependents.Option{without}},
		"Patched":  {"the finalizers of this name must stay", "patch", name, "Replace", false, nil},
		"Tried":    {"the plan would lack a field", "write", name, "Replace", true, nil},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.settle(configMap([]string{"update-policy", tc.policy}, []string{"k", "1"}))
			w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["k"], cm.Data["other"] = "edited", "x" })
			broken := unreadable(tc.verb, tc.manager)
			d := dependents.New(name, cluster{broken, broken}, append(tc.opts, dependents.WithClock(w.clock))...)
			if tc.dryRun {
				d = d.DryRun()
			}
			_, err := d.ApplyObject(t.Context(), w.owner, configMap([]string{"update-policy", tc.policy}, []string{"k", "1"}))
			if want := `ConfigMap ` + w.ns + `/a: reading the managed fields of "` + tc.manager + `": `; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", tc.reason, err, want)
			}
			if got := w.read().Data["k"]; got != "edited" {
				t.Errorf("%s: the object has %q", tc.reason, got)
			}
		})
	}
}

// unreadable returns a client in whose answers to a verb the managed fields of a manager
// have an index that is no number.
func unreadable(verb, manager string) client.Client {
	breaks := func(obj client.Object) {
		fields := obj.GetManagedFields()
		for i := range fields {
			if fields[i].Manager == manager {
				fields[i].FieldsV1 = metav1.NewFieldsV1(`{"i:x":{}}`)
			}
		}
		obj.SetManagedFields(fields)
	}
	if verb == "get" {
		return changing{api, breaks}
	}
	return apiserver.Around(api, func(c apiserver.Call, run func() error) error {
		err := run()
		if obj, ok := c.Object.(client.Object); ok && c.Verb == verb {
			breaks(obj)
		}
		return err
	})
}
