package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/windlass-go/windlass/ctrlx"

	"github.com/windlass-go/windlass/examples/operator/internal/apiserver/apitest"
)

// readme compares the output of kubectl windlass in the story with the README,
// which has other ages.
func readme(t *testing.T, story string) {
	t.Helper()
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const command = "$ kubectl windlass why database/orders\n"
	_, want, _ := strings.Cut(string(page), command)
	want, _, _ = strings.Cut(want, "```")
	_, got, _ := strings.Cut(story, command)
	got = regexp.MustCompile(`(?m)^ *\d+ ms(?s:.*)`).ReplaceAllString(got, "")
	got = regexp.MustCompile(`(?m)^           `).ReplaceAllString(got, "")
	ages := regexp.MustCompile(`\b(for|in) (\d+[smh])+`)
	if diff := cmp.Diff(ages.ReplaceAllString(want, "$1 AGE"), ages.ReplaceAllString(got, "$1 AGE")); diff != "" {
		t.Errorf("the README differs from the story: -README, +story:\n%s", diff)
	}
}

// The authentication and authorization of the metrics server hold for the
// handler.
func TestWhyRights(t *testing.T) {
	apitest.RequireKube(t)
	t.Parallel()
	space := apitest.Namespace(t)
	skip := true
	mgr, err := ctrl.NewManager(apitest.Config, ctrl.Options{
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: ctrlconfig.Controller{SkipNameValidation: &skip},
	})
	if err != nil {
		t.Fatal(err)
	}
	// The metrics server of a manager does not tell the port that it chose.
	server, err := metricsserver.NewServer(metricsserver.Options{
		BindAddress: "127.0.0.1:0", SecureServing: true, FilterProvider: filters.WithAuthenticationAndAuthorization,
		ExtraHandlers: map[string]http.Handler{ctrlx.WhyPath: ctrlx.Why(mgr)},
	}, mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		t.Fatal(err)
	}
	if err := mgr.Add(server); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	token := func(name string) string {
		t.Helper()
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name}}
		request := &authenticationv1.TokenRequest{}
		for _, err := range []error{apitest.API.Create(t.Context(), account), apitest.API.SubResource("token").Create(t.Context(), account, request)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		return request.Status.Token
	}
	reader, other := token("reader"), token("other")
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "why-" + space},
		Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{ctrlx.WhyPath}, Verbs: []string{"get"}}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: space, Name: "reader"}},
	}
	for _, obj := range []client.Object{role, binding} {
		if err := apitest.API.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	https := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // a certificate of the test's own server
	ask := func(token string) string {
		address := server.(interface{ GetBindAddr() string }).GetBindAddr() // empty until it listens
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+ctrlx.WhyPath, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		answer, err := https.Do(r)
		if err != nil {
			return err.Error()
		}
		defer func() { _ = answer.Body.Close() }()
		body, _ := io.ReadAll(answer.Body)
		return fmt.Sprint(answer.StatusCode, " ", json.Valid(body))
	}
	for _, tc := range map[string]struct{ reason, token, want string }{
		"Reader": {"a role gives the right", reader, "200 true"},
		"Other":  {"an account without a role", other, "403 false"},
		"None":   {"no account", "", "401 false"},
	} {
		got := ""
		apitest.Eventually(t, func() (bool, error) {
			got = ask(tc.token)
			return got == tc.want, nil
		})
		if got != tc.want {
			t.Errorf("%s: the answer is %s, want %s", tc.reason, got, tc.want)
		}
	}
}
