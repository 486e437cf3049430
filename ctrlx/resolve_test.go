package ctrlx

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// An owner reference that cannot be parsed is an error: it is neither an owner of the core
// group nor no owner.
func TestOwnerNotUnderstood(t *testing.T) {
	yes := true
	d := &testv1.Database{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "a/b/c", Kind: "Cluster", Name: "prod", Controller: &yes},
	}}}
	r := New("Database", flow.Operations[*testv1.Database]{Apply: func(context.Context, *flow.Request[*testv1.Database]) (flow.Progress, error) { return flow.Done(), nil }}, flow.Extensions[*testv1.Database]{})
	o, err := r.ops.Owner(context.WithValue(t.Context(), passKey{}, &pass{}), d)
	if err == nil || !strings.HasPrefix(err.Error(), "ctrlx: the controlling owner reference to Cluster prod: ") {
		t.Errorf("the owner is %+v, the error %v", o, err)
	}
	if _, err := r.ops.Owner(t.Context(), d); err != errNoPass {
		t.Errorf("outside of a pass: %v", err)
	}
	if _, err := resolve(t.Context(), checks.Ref{Kind: "Cluster", Name: "prod"}); err != errNoPass {
		t.Errorf("outside of a pass: %v", err)
	}
}
