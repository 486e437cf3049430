package main

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/examples/operator/internal/apiserver/apitest"
)

// TestRights: the story runs with the rights of the generated role only. The
// test lists the rights that the story does not use, or not always, with the
// reason.
func TestRights(t *testing.T) {
	apitest.RequireKube(t)
	t.Parallel()
	unused := map[string]string{
		"events.k8s.io patch events":                           "a repeated event increases a counter",
		"apiextensions.k8s.io list customresourcedefinitions":  "notices when a missing kind is installed",
		"apiextensions.k8s.io watch customresourcedefinitions": "notices when a missing kind is installed",
	}
	rare := map[string]string{
		"kusto.example.com get clusters":  "a live read if the cache is stale or after a failed write",
		"kusto.example.com get databases": "a live read if the cache is stale or after a failed write",
	}
	where := apitest.Namespace(t)
	var out bytes.Buffer
	s := NewStory(&out, apitest.API, apitest.Kubeconfig(t), apitest.As(apitest.Account), where)
	err := s.Tell(t.Context())
	if err == nil {
		err = s.Summary(&out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	used := map[string]bool{}
	for _, r := range s.traffic.Requests() {
		if r.Resource != "discovery" {
			used[r.Group+" "+r.Verb+" "+r.Resource] = true
		}
	}
	granted := map[string]bool{}
	var role rbacv1.ClusterRole
	if err := apitest.API.Get(t.Context(), client.ObjectKey{Name: "kusto-operator"}, &role); err != nil {
		t.Fatal(err)
	}
	var idle []string
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				right := rule.APIGroups[0] + " " + verb + " " + resource
				granted[right] = true
				if _, ok := rare[right]; !ok && !used[right] {
					idle = append(idle, right)
				}
			}
		}
	}
	for right := range used {
		if !granted[right] {
			t.Errorf("the operator used a right that it does not have: %s", right)
		}
	}
	var want []string
	for right := range unused {
		want = append(want, right)
	}
	slices.Sort(idle)
	slices.Sort(want)
	if diff := cmp.Diff(want, idle); diff != "" {
		t.Errorf("unused rights: -listed, +found:\n%s", diff)
	}
}
