package dependents_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/dependents"
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
		want         string // in the object
	}{
		"Drift":    {"the fields may have changed", "get", "kubectl-edit", "Replace", false, nil, "edited"},
		"Foreign":  {"a takeover would lose fields", "get", "kubectl-edit", "Replace", false, []dependents.Option{without}, "edited"},
		"Own":      {"a takeover would lose fields", "get", name, "Replace", false, []dependents.Option{without}, "edited"},
		"SsaMerge": {"fields may be ignored", "get", name, "SsaMerge", false, []dependents.Option{without}, "edited"},
		"Patched":  {"the finalizers of this name must stay", "patch", name, "Replace", false, nil, "edited"},
		"Tried":    {"the plan would lack a field", "apply", name, "Replace", true, nil, "edited"},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.settle(configMap([]string{"update-policy", tc.policy}, []string{"k", "1"}))
			w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["k"], cm.Data["other"] = "edited", "x" })
			broken := unreadable{api, tc.verb, tc.manager}
			d := dependents.New(name, cluster{broken, broken}, append(tc.opts, dependents.WithClock(w.clock))...)
			if tc.dryRun {
				d = d.DryRun()
			}
			_, err := d.ApplyObject(t.Context(), w.owner, configMap([]string{"update-policy", tc.policy}, []string{"k", "1"}))
			if want := `ConfigMap ` + w.ns + `/a: reading the managed fields of "` + tc.manager + `": `; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", tc.reason, err, want)
			}
			if got := w.read().Data["k"]; got != tc.want {
				t.Errorf("%s: the object has %q", tc.reason, got)
			}
		})
	}
}

// unreadable is a client in whose answers to a verb the managed fields of a manager
// have an index that is no number.
type unreadable struct {
	client.Client
	verb, manager string
}

func (c unreadable) answer(verb string, obj client.Object) {
	fields := obj.GetManagedFields()
	for i := range fields {
		if verb == c.verb && fields[i].Manager == c.manager {
			fields[i].FieldsV1 = metav1.NewFieldsV1(`{"i:x":{}}`)
		}
	}
	obj.SetManagedFields(fields)
}

func (c unreadable) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	err := c.Client.Get(ctx, key, obj, opts...)
	c.answer("get", obj)
	return err
}

func (c unreadable) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	err := c.Client.Patch(ctx, obj, patch, opts...)
	c.answer("patch", obj)
	return err
}

func (c unreadable) Apply(ctx context.Context, config runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	err := c.Client.Apply(ctx, config, opts...)
	c.answer("apply", config.(client.Object))
	return err
}
