package existing_test

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

type ctxt = context.Context

var (
	noon      = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	errBroken = errors.New("the cloud is broken")
	errMine   = errors.New("mine")
	scheme    = runtime.NewScheme()

	// anyNamespace allows references into all namespaces.
	anyNamespace = ctrlx.WithForeignReferences(func(string, checks.Ref) bool { return true })
)

func init() {
	utilruntime.Must(corev1.AddToScheme(scheme))
	utilruntime.Must(testv1.AddToScheme(scheme))
}

// aCluster is the Cluster "c", which is ready.
func aCluster() *testv1.Cluster {
	return &testv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c", UID: "cluster", Generation: 1},
		Status:     testv1.ClusterStatus{Conditions: []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Running", ObservedGeneration: 1}}},
	}
}

func databasesOf(q checks.Query) checks.Query {
	q.Group, q.Kind = testv1.GroupVersion.Group, "Database"
	return q
}
