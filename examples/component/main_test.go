package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/windlass-go/windlass/ctrlx/component"
)

var update = flag.Bool("update", false, "write the golden files")

// timeless replaces the times in a text.
func timeless(text string) string {
	text = regexp.MustCompile(`\d+ ms`).ReplaceAllString(text, "N ms")
	return regexp.MustCompile(`\b(\d+h)?\d+m\d+s`).ReplaceAllString(text, "DURATION")
}

// golden compares a text with a file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	file = filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-update writes it): -file, +got:\n%s", file, diff)
	}
}

// needsServer skips a test that starts kube-apiserver, except in make verify.
func needsServer(t *testing.T) {
	t.Helper()
	if os.Getenv("WINDLASS_KUBE_APISERVER") != "1" {
		t.Skip("needs kube-apiserver: make verify runs it, with WINDLASS_KUBE_APISERVER=1")
	}
	t.Parallel()
}

// TestStory runs the story as go run does. The operator has the rights of its
// role only.
func TestStory(t *testing.T) {
	needsServer(t)
	var out, errs bytes.Buffer
	if code := run(t.Context(), nil, &out, &errs); code != exitOK || errs.Len() > 0 {
		t.Fatalf("exit code %d: %s\n%s", code, &errs, &out)
	}
	golden(t, "story.txt", timeless(out.String()))
}

// TestPlan prints the plan of the sample as text and as JSON.
func TestPlan(t *testing.T) {
	needsServer(t)
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"-plan", "samples/shop.yaml", "-json"}, &out, &errs); code != exitOK || errs.Len() > 0 {
		t.Fatalf("exit code %d: %s\n%s", code, &errs, &out)
	}
	golden(t, "plan.json", out.String())
	var p component.Plan
	if err := json.Unmarshal(out.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	golden(t, "plan.txt", p.String())
}

// TestOnACluster runs the program on a cluster without the definition of shops. An
// interrupted story leaves nothing there, so that the operator can be installed.
func TestOnACluster(t *testing.T) {
	needsServer(t)
	folder, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	cluster := &envtest.Environment{BinaryAssetsDirectory: folder}
	config, err := cluster.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop() }) // after the context has ended the watches, for which the server waits
	api, err := newClient(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := runDeployments(t.Context(), api, ""); err != nil {
		t.Fatal(err)
	}
	admin := kubeconfig(t, cluster, "")
	cases := []struct {
		name, reason string
		args         []string
		until        string // interrupts the story when it prints this; empty: no interrupt
		code         int
		want         string // in the output or in the errors
	}{
		{"NoDefinition", "the story needs the definition", nil, "", exitUsage, "use -install"},
		{"NoDefinitionForPlan", "a plan needs the definition", []string{"-plan", "samples/shop.yaml"}, "", exitUsage, "use -install"},
		{"Interrupted", "a shop whose deletion is blocked has a finalizer", []string{"-install"}, "DeletionBlocked", exitWrong, "interrupted"},
	}
	for _, tc := range cases { // one after the other: each finds what the last one left
		t.Run(tc.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			out := &until{text: tc.until, then: func() { cancel(errInterrupted) }}
			var errs bytes.Buffer
			code := run(ctx, append([]string{"-kubeconfig", admin}, tc.args...), out, &errs)
			if code != tc.code || !strings.Contains(out.String()+errs.String(), tc.want) {
				t.Errorf("%s: exit code %d: %s\n%s", tc.reason, code, &errs, out)
			}
			nothingLeft(t, api)
		})
	}
	t.Run("Run", func(t *testing.T) { runsDeployed(t, api, kubeconfig(t, cluster, account)) })
	t.Run("PlanWithProblems", func(t *testing.T) { // the definition of coupons belongs to the shop of the last test
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"-plan", "samples/shop.yaml", "-kubeconfig", admin}, &out, &errs)
		if code != exitWrong || !strings.HasPrefix(out.String(), "problem: ") || !strings.Contains(errs.String(), "the plan has problems: 1") {
			t.Errorf("exit code %d: %s\n%s", code, &errs, &out)
		}
	})
}

// runsDeployed runs the deployed operator until a shop is ready: with the rights of
// its account and leader election.
func runsDeployed(t *testing.T, api client.WithWatch, kubeconfig string) {
	p := &place{api: api, namespace: "default"}
	for _, file := range []string{"config/rbac/account.yaml", "config/rbac/role.yaml"} {
		if err := p.create(t.Context(), file); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := install(t.Context(), api); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	s := NewStory(&out, p)
	if err := api.Create(t.Context(), s.corner()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int)
	go func() { ended <- run(ctx, []string{"-run", "-kubeconfig", kubeconfig}, &bytes.Buffer{}, &errs) }()
	if err := s.until(t.Context(), isReady); err != nil {
		t.Error(err)
	}
	stop()
	if code := <-ended; code != exitOK {
		t.Errorf("exit code %d: %s", code, &errs)
	}
}

// kubeconfig writes a configuration file for a cluster, in which the operator has
// its namespace. as is the user; empty: an administrator.
func kubeconfig(t *testing.T, of *envtest.Environment, as string) string {
	t.Helper()
	c, err := clientcmd.Load(of.KubeConfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range c.AuthInfos {
		user.Impersonate = as
	}
	for _, context := range c.Contexts {
		context.Namespace = "shop-operator"
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// nothingLeft fails the test if a program left objects in a cluster. It accepts
// terminating objects, because no controller removes them here.
func nothingLeft(t *testing.T, api client.Client) {
	t.Helper()
	var namespaces corev1.NamespaceList
	var definitions apiextensions.CustomResourceDefinitionList
	if err := api.List(t.Context(), &namespaces); err != nil {
		t.Fatal(err)
	}
	if err := api.List(t.Context(), &definitions); err != nil {
		t.Fatal(err)
	}
	for _, ns := range namespaces.Items {
		if strings.HasPrefix(ns.Name, "windlass-") && ns.DeletionTimestamp.IsZero() {
			t.Errorf("the namespace %s remains", ns.Name)
		}
	}
	for _, d := range definitions.Items {
		if d.DeletionTimestamp.IsZero() {
			t.Errorf("the definition %s remains", d.Name)
		}
	}
}

// until is a buffer that calls a function when it contains a text.
type until struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	text string
	then func()
}

func (u *until) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.buf.Write(p)
	if u.text != "" && strings.Contains(u.buf.String(), u.text) {
		u.then()
	}
	return len(p), nil
}

func (u *until) String() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.buf.String()
}

func TestFlags(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		args   []string
		code   int
		want   string
	}{
		"Help":     {"the text goes to the output", []string{"-h"}, exitOK, "Usage: component"},
		"Unknown":  {"a flag is misspelt", []string{"-plans"}, exitUsage, "-h lists the flags"},
		"Argument": {"a flag has no dash", []string{"plan"}, exitUsage, `unexpected argument "plan"`},
		"Install":  {"the server of the program has the definition", []string{"-install"}, exitUsage, "needs -kubeconfig"},
		"JSON":     {"only a plan has JSON", []string{"-json"}, exitUsage, "needs -plan"},
		"Both":     {"they exclude each other", []string{"-run", "-plan", "samples/shop.yaml"}, exitUsage, "exclude"},
		"Timeout":  {"it would end at once", []string{"-timeout", "0s"}, exitUsage, "too short"},
		"NoFile":   {"the file is missing", []string{"-kubeconfig", "testdata/none"}, exitUsage, "testdata/none"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if code := run(t.Context(), tc.args, &out, &out); code != tc.code || !strings.Contains(out.String(), tc.want) {
				t.Errorf("%s: exit code %d:\n%s", tc.reason, code, &out)
			}
		})
	}
}
