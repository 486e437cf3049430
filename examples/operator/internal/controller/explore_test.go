package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"pgregory.net/rapid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/windlass-go/windlass/ctrlx/ctrltest"
	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/examples/operator/internal/controller"
	"github.com/windlass-go/windlass/examples/operator/internal/kusto"
	_ "github.com/windlass-go/windlass/internal/testing/draws"
)

// TestExplore: the operator keeps the rules of ctrltest, whatever users do and
// whichever requests fail.
func TestExplore(t *testing.T) {
	var cloud *kusto.Cloud
	var faulty atomic.Bool // a request met a fault of the cloud
	kind := func(name string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: name}
	}
	ctrltest.Explore(t, ctrltest.Operator{
		CRDs: []string{"../../config/crd"},
		World: []client.Object{
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "admin"}, StringData: map[string]string{"password": "change-me"}},
			&v1.Cluster{TypeMeta: kind("Cluster"), ObjectMeta: metav1.ObjectMeta{Name: "demo"}, Spec: v1.ClusterSpec{Size: 3}},
			&v1.Database{TypeMeta: kind("Database"), ObjectMeta: metav1.ObjectMeta{Name: "orders"}, Spec: v1.DatabaseSpec{Cluster: "demo", PasswordSecret: "admin", RetentionDays: 30}},
		},
		Edit: func(t *rapid.T, o client.Object) {
			switch o := o.(type) {
			case *corev1.Secret:
				o.StringData = map[string]string{"password": rapid.SampledFrom([]string{"one", "two"}).Draw(t, "password")}
			case *v1.Cluster:
				o.Spec.Size, o.Spec.Stopped = rapid.Int32Range(2, 4).Draw(t, "size"), rapid.Bool().Draw(t, "stopped")
			case *v1.Database:
				o.Spec.RetentionDays = rapid.SampledFrom([]int32{30, 60, kusto.LongestRetention + 1}).Draw(t, "retention")
			}
		},
		Ready: func(o *unstructured.Unstructured) (ready bool, why string) {
			if ready, why = ctrltest.ReadyCondition(o); strings.Contains(why, `in state "Stopped"`) {
				why = "users stopped the cluster" // it is Ready, so it must not be named as the cause
			}
			return ready, why
		},
		Rules: map[string]func(*ctrltest.State) error{
			// A Ready database does not follow its cluster (databaseExtensions). If the
			// cluster is stopped or deleted, it stays Ready until its next resync or a
			// restart.
			ctrltest.RuleRestart: nil,
			"password":           passwordReached,
		},
		Cloud: func(c *ctrltest.Cloud) {
			cloud = kusto.New(time.Now)
			cloud.Began, cloud.Ended = c.Begin, c.End
			cloud.Do = func(name string, request func() error) error {
				err := c.Do(name, request)
				if errors.Is(err, ctrltest.ErrCloud) {
					faulty.Store(true)
				}
				return err
			}
		},
		Start: func(ctx context.Context, config *rest.Config) error {
			skip := true
			operator, err := controller.NewOperator(config, cloud, ctrl.Options{
				Metrics: metricsserver.Options{BindAddress: "0"}, Controller: ctrlconfig.Controller{SkipNameValidation: &skip},
			})
			if err != nil {
				return err
			}
			return operator.Start(ctx)
		},
	})
	if !faulty.Load() {
		t.Error("the operator met no fault of the cloud")
	}
}

// passwordReached requires that a Ready database has the password of its Secret.
func passwordReached(s *ctrltest.State) error {
	version := ""
	for _, o := range s.Objects {
		if o.GetKind() == "Secret" && o.GetDeletionTimestamp() == nil {
			version = o.GetResourceVersion()
		}
	}
	for _, o := range s.Objects {
		has, _, _ := unstructured.NestedString(o.Object, "status", "passwordVersion")
		if ready, _ := ctrltest.ReadyCondition(o); ready && o.GetKind() == "Database" && version != "" && has != version {
			return fmt.Errorf("Database %s is Ready with version %s of its Secret, whose version is %s", o.GetName(), has, version)
		}
	}
	return nil
}
