package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	var errs bytes.Buffer
	ended := make(chan int)
	go func() {
		ended <- run(ctx, []string{"-kubeconfig", apitest.Kubeconfig(t, apitest.Account, "kusto-operator")}, &bytes.Buffer{}, &errs)
	}()
	where := apitest.Namespace(t)
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
	if code := <-ended; code != exitOK {
		t.Errorf("exit code %d: %s", code, &errs)
	}
}

func TestFlags(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		code   int
		want   string // a part of the output
	}{
		"Help":       {reason: "the user asks for help", args: []string{"-h"}, code: exitOK, want: "Usage: operator"},
		"Unknown":    {reason: "an unknown flag", args: []string{"-instal"}, code: exitUsage, want: "-instal"},
		"Argument":   {reason: "a missing dash", args: []string{"run"}, code: exitUsage, want: `unexpected argument "run"`},
		"NoMetrics":  {reason: "an unset variable of the shell", args: []string{"-metrics", ""}, code: exitUsage, want: "is empty"},
		"EmptyFile":  {reason: "an unset variable of the shell", args: []string{"-kubeconfig", ""}, code: exitUsage, want: "is empty"},
		"OutOfAPod":  {reason: "the program runs on a laptop", args: nil, code: exitUsage, want: "must run in a pod, or with -kubeconfig FILE"},
		"NoSuchFile": {reason: "the file does not exist", args: []string{"-kubeconfig", "nowhere"}, code: exitUsage, want: "nowhere"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := run(t.Context(), tc.args, &out, &errs)
			if printed := out.String() + errs.String(); code != tc.code || !strings.Contains(printed, tc.want) {
				t.Errorf("%s: exit code %d: %s", tc.reason, code, printed)
			}
		})
	}
}
