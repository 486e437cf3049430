package controller

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/windlass-go/windlass/checks"
	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/examples/operator/internal/kusto"
	"github.com/windlass-go/windlass/flow"
)

// TestPassword changes the Secret of a database between passes.
func TestPassword(t *testing.T) {
	cases := map[string]struct {
		reason   string
		data     map[string][]byte // the new data; nil: the Secret is deleted
		days     int32             // the new retention
		want     flow.State
		why      string
		password string // in the cloud at the end
	}{
		"Same":    {"an annotation changes no password, and the cloud is asked once more", map[string][]byte{"password": []byte("old")}, 3, flow.StateReady, "Succeeded", "old"},
		"Rotated": {"the cloud gets the new password", map[string][]byte{"password": []byte("new")}, 3, flow.StateReady, "Succeeded", "new"},
		"Failed":  {"a failed operation leaves the old password, which is no success", map[string][]byte{"password": []byte("new")}, kusto.LongestRetention + 1, flow.StateFailed, "RetentionTooLong", "old"},
		"NoKey":   {"an empty password reaches no cloud", map[string][]byte{"pasword": []byte("new")}, 3, flow.StateFailed, "Unknown", "old"},
		"Deleted": {"the database waits for a new Secret", nil, 3, flow.StateBlocked, checks.ReasonReferenceNotFound, "old"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cloud, clock := newTestCloud(t, v1.StateRunning)
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "here", Name: "admin"}, Data: map[string][]byte{"password": []byte("old")}}
			api := fake.NewClientBuilder().WithObjects(secret).Build()
			ops := databaseOperations(cloud, api)
			ops.Key, ops.Delete = func(d *v1.Database) string { return d.Name }, nil
			r := flow.New("Database", ops, flow.Extensions[*v1.Database]{PreCheck: databaseExtensions().PreCheck, Classify: databaseErrors.Chain()},
				flow.WithResolver(func(ctx context.Context, ref checks.Ref) (checks.Object, error) {
					m := &metav1.PartialObjectMetadata{}
					m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(ref.Kind))
					if err := api.Get(ctx, client.ObjectKey{Namespace: "here", Name: ref.Name}, m); err != nil {
						return checks.Object{Ref: ref}, client.IgnoreNotFound(err)
					}
					return checks.Object{Ref: ref, Value: m, Readiness: checks.Readiness{State: checks.Ready}}, nil
				}))
			d := &v1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "here", Name: "y"}, Spec: v1.DatabaseSpec{Cluster: "x", PasswordSecret: "admin", RetentionDays: 3}}
			passes := func() (out flow.Outcome) {
				for range 5 {
					if out = r.Reconcile(t.Context(), d); out.State() != flow.StateInProgress {
						break
					}
					clock.after(kusto.DatabaseTakes)
				}
				return out
			}
			if out := passes(); out.State() != flow.StateReady || cloud.Password(databaseY) != "old" {
				t.Fatalf("the database is created: %s: %s; the password is %q", out.State(), out.Message(), cloud.Password(databaseY))
			}
			if tc.data == nil {
				must(t, api.Delete(t.Context(), secret))
			} else {
				secret.Data, secret.Annotations = tc.data, map[string]string{"changed": "yes"}
				must(t, api.Update(t.Context(), secret))
			}
			d.Spec.RetentionDays = tc.days
			if out := passes(); out.State() != tc.want || out.Reason() != tc.why || cloud.Password(databaseY) != tc.password {
				t.Errorf("%s: got %s, reason %s: %s; the password is %q", tc.reason, out.State(), out.Reason(), out.Message(), cloud.Password(databaseY))
			}
			if tc.want == flow.StateReady && d.Status.PasswordVersion != secret.ResourceVersion {
				t.Errorf("%s: the version of the password is %q, want %q", tc.reason, d.Status.PasswordVersion, secret.ResourceVersion)
			}
		})
	}
}
