package main

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/examples/operator/internal/apiserver/apitest"
)

func TestMain(m *testing.M) { apitest.Main(m) }

// TestRun runs the deployed operator: with the rights of its account and leader
// election. It reconciles all namespaces, so it must not run in parallel to
// tests with the same API server.
func TestRun(t *testing.T) {
	apitest.RequireKube(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error)
	where := apitest.Namespace(t)
	go func() {
		ended <- serve(ctx, apitest.As(apitest.Account), ctrl.Options{
			LeaderElection: true, LeaderElectionID: "operator.kusto.example.com", LeaderElectionNamespace: "kusto-operator",
			LeaseDuration: new(time.Hour), RenewDeadline: new(30 * time.Minute), // a busy machine renews late
			LeaderElectionReleaseOnCancel: true, Metrics: metricsserver.Options{BindAddress: "0"},
		})
	}()
	c := &v1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: where, Name: "demo"}}
	if err := apitest.API.Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	apitest.Eventually(t, func() (bool, error) {
		err := apitest.API.Get(t.Context(), client.ObjectKeyFromObject(c), c)
		return meta.IsStatusConditionTrue(c.Status.Conditions, "Ready"), err
	})
	// An event reports the leader.
	apitest.Eventually(t, func() (bool, error) {
		var events corev1.EventList
		err := apitest.API.List(t.Context(), &events, client.InNamespace("kusto-operator"))
		return len(events.Items) > 0, err
	})
	if err := apitest.API.Delete(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	apitest.Eventually(t, func() (bool, error) {
		err := apitest.API.Get(t.Context(), client.ObjectKeyFromObject(c), c)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
