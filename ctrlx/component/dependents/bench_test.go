package dependents_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/component/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// still is a client whose cache has one Deployment.
type still struct {
	client.Client
	object *appsv1.Deployment
}

func (s still) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	s.object.DeepCopyInto(into.(*appsv1.Deployment))
	return nil
}

// BenchmarkInSync compares a pass over an object in sync with code by hand that
// reads the object and makes a digest of its manifest.
func BenchmarkInSync(b *testing.B) {
	startServer()
	owner := &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "bench"}}
	d := deployment("nginx", new(int32(1)))
	if _, err := dependents.New(name, cluster{api, api}).ApplyObject(b.Context(), owner, d); err != nil {
		b.Fatal(err)
	}
	live := &appsv1.Deployment{}
	if err := api.Get(b.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, live); err != nil {
		b.Fatal(err)
	}
	cached := still{api, live}
	web := dependents.New(name, cluster{cached, api}, ready)
	b.Run("pass", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if res, err := web.ApplyObject(b.Context(), owner, d); err != nil || res.Outcome != dependents.InSync {
				b.Fatal(res.Outcome, err)
			}
		}
	})
	b.Run("by-hand", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			into := &appsv1.Deployment{}
			_ = cached.Get(b.Context(), client.ObjectKey{}, into)
			text, _ := json.Marshal(d)
			sha256.Sum256(text)
		}
	})
}
