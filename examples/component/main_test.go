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
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// TestOnACluster runs the deployed operator until a shop is ready: with the rights
// of its account and leader election. Then it plans another shop.
func TestOnACluster(t *testing.T) {
	needsServer(t)
	p, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.stop() }) // after the context has ended the watches, for which the server waits
	if err := runDeployments(t.Context(), p.api, ""); err != nil {
		t.Fatal(err)
	}
	admin := kubeconfig(t, p, "")
	s := NewStory(&bytes.Buffer{}, p)
	s.ctx = t.Context()
	s.create(s.corner())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int)
	var errs bytes.Buffer
	go func() {
		ended <- run(ctx, []string{"-run", "-kubeconfig", kubeconfig(t, p, p.operator.Impersonate.UserName)}, &bytes.Buffer{}, &errs)
	}()
	if s.until(isReady); s.err != nil {
		t.Error(s.err)
	}
	stop()
	if code := <-ended; code != exitOK {
		t.Errorf("exit code %d: %s", code, &errs)
	}
	for _, tc := range []struct {
		reason, output, errors string
		before                 func()
	}{
		{"the definition of coupons belongs to the first shop", "problem: ", "the plan has problems: 1", func() {}},
		{"a plan needs the definition of shops", "", "the cluster has no definition of shops: kubectl apply", func() {
			shops := &apiextensions.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "shops.shop.example.com"}}
			s.patch(s.corner(), `{"metadata":{"finalizers":null}}`, "person")
			s.delete(shops)
			s.wait("is gone", func() (bool, string, error) {
				err := p.api.Get(s.ctx, client.ObjectKeyFromObject(shops), shops)
				return apierrors.IsNotFound(err), "it exists", client.IgnoreNotFound(err)
			})
		}},
	} {
		if tc.before(); s.err != nil {
			t.Fatal(s.err)
		}
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"-plan", "samples/shop.yaml", "-kubeconfig", admin}, &out, &errs)
		if code != exitWrong || !strings.HasPrefix(out.String(), tc.output) || !strings.Contains(errs.String(), tc.errors) {
			t.Errorf("%s: exit code %d: %s\n%s", tc.reason, code, &errs, &out)
		}
	}
}

// kubeconfig writes a configuration file for the server of p. as is the user;
// empty: an administrator.
func kubeconfig(t *testing.T, p *place, as string) string {
	t.Helper()
	c, err := clientcmd.Load(p.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range c.AuthInfos {
		user.Impersonate = as
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestFlags(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		args   []string
		code   int
		want   string
	}{
		"Help":     {"the text says what the flags do", []string{"-h"}, exitOK, "Usage: component"},
		"Unknown":  {"a flag is misspelt", []string{"-plans"}, exitUsage, "flag provided but not defined: -plans"},
		"Argument": {"a flag has no dash", []string{"plan"}, exitUsage, `the arguments ["plan"] do not fit`},
		"JSON":     {"only a plan has JSON", []string{"-json"}, exitUsage, "with -plan: print JSON"},
		"Both":     {"they exclude each other", []string{"-run", "-plan", "samples/shop.yaml"}, exitUsage, "Usage: component"},
		"Story":    {"the story runs on its own server", []string{"-kubeconfig", "testdata/none"}, exitUsage, "with -plan and -run"},
		"NoFile":   {"the file is missing", []string{"-run", "-kubeconfig", "testdata/none"}, exitWrong, "testdata/none"},
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
