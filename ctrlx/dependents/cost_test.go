package dependents_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/internal/testing/ratio"
)

// many are the objects of an owner, half of them Deployments, as a program makes
// them in each pass.
func many(n int) []client.Object {
	objects := make([]client.Object, n)
	for i := range objects {
		if i%2 == 0 {
			objects[i] = deployment("nginx", new(int32(2)))
		} else {
			objects[i] = configMap(nil, []string{"a", "1", "b", "2"})
		}
		objects[i].SetName(fmt.Sprint("object-", i))
		objects[i].SetNamespace("default")
		objects[i].SetLabels(map[string]string{"app": "shop", "tier": "web"})
	}
	return objects
}

// shop is an owner with dependents in sync, and a fake client.
type shop struct {
	owner   *testv1.Cluster
	client  client.Client
	web     *dependents.Dependents
	objects []client.Object
}

func newShop(tb testing.TB, n int) *shop {
	tb.Helper()
	s := &shop{owner: &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop", UID: "1"}}, objects: many(n)}
	s.client = fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(scheme)).WithReturnManagedFields().Build()
	c := identified{s.client}
	s.web = dependents.New(name, cluster{c, c}, ready)
	for range 2 {
		if p, err := s.web.Apply(tb.Context(), s.owner, s.objects...); err != nil || !p.IsDone() {
			tb.Fatal(p.Message(), err)
		}
	}
	return s
}

// pass applies all objects.
func (s *shop) pass(tb testing.TB) {
	if p, err := s.web.Apply(tb.Context(), s.owner, s.objects...); err != nil || !p.IsDone() {
		tb.Fatal(p.Message(), err)
	}
}

// byHand reads each object with the same client, and makes a digest of its
// manifest.
func (s *shop) byHand(tb testing.TB) {
	for _, obj := range s.objects {
		var live client.Object = &corev1.ConfigMap{}
		if _, ok := obj.(*appsv1.Deployment); ok {
			live = &appsv1.Deployment{}
		}
		if err := s.client.Get(tb.Context(), client.ObjectKeyFromObject(obj), live); err != nil {
			tb.Fatal(err)
		}
		text, err := json.Marshal(obj)
		if err != nil {
			tb.Fatal(err)
		}
		sum := sha256.Sum256(text)
		if hex.EncodeToString(sum[:]) == live.GetAnnotations()["digest"] {
			tb.Fatal("the digest is that of another program")
		}
	}
}

// BenchmarkInSync compares a pass over 500 objects in sync with code by hand that
// reads each object and makes a digest of its manifest.
func BenchmarkInSync(b *testing.B) {
	s := newShop(b, 500)
	for b.Loop() {
		s.pass(b)
	}
	b.ReportMetric(ratio.Of(func() { s.pass(b) }, func() { s.byHand(b) }, ratio.Options{}), "x-by-hand")
}
