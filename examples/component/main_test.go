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

// TestStory runs the story as go run does. The operator has the rights of its
// role only.
func TestStory(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if code := run(t.Context(), nil, &out, &errs); code != exitOK || errs.Len() > 0 {
		t.Fatalf("exit code %d: %s\n%s", code, &errs, &out)
	}
	golden(t, "story.txt", timeless(out.String()))
}

// TestPlan prints the plan of the sample as text and as JSON.
func TestPlan(t *testing.T) {
	t.Parallel()
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

// TestOnACluster runs the program on a cluster without the definition of shops.
// The stories leave nothing there, also after an interrupt.
func TestOnACluster(t *testing.T) {
	t.Parallel()
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
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, cluster.KubeConfig, 0o600); err != nil {
		t.Fatal(err)
	}
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
		{"Story", "it runs after another one", []string{"-install"}, "", exitOK, "Shop        is gone"},
	}
	for _, tc := range cases { // one after the other: each finds what the last one left
		t.Run(tc.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			out := &until{text: tc.until, then: func() { cancel(errInterrupted) }}
			var errs bytes.Buffer
			code := run(ctx, append([]string{"-kubeconfig", kubeconfig}, tc.args...), out, &errs)
			if code != tc.code || !strings.Contains(out.String()+errs.String(), tc.want) {
				t.Errorf("%s: exit code %d: %s\n%s", tc.reason, code, &errs, out)
			}
			nothingLeft(t, api)
		})
	}
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
