package main

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The operator may do what the generated role says and nothing else, and the story goes as told. What the role allows and the
// operators did not do is listed here, with the reason; and what they only do at times.
func TestRights(t *testing.T) {
	t.Parallel()
	unused := map[string]string{
		"events.k8s.io patch events":                           "an event that comes again and again is counted in place",
		"apiextensions.k8s.io list customresourcedefinitions":  "kinds that are waited for and not installed yet, which those of others may be",
		"apiextensions.k8s.io watch customresourcedefinitions": "likewise",
	}
	rare := map[string]string{
		"kusto.example.com get clusters":  "read live where the cache does not have yet what was written, or after a write that failed",
		"kusto.example.com get databases": "likewise",
	}
	as := rest.CopyConfig(config)
	as.Impersonate.UserName = account
	var out bytes.Buffer
	s := NewStory(&out, api, as, namespace(t))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	err := s.Tell(ctx)
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
	if err := api.Get(t.Context(), client.ObjectKey{Name: "kusto-operator"}, &role); err != nil {
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
			t.Errorf("the operator asked for something that it has no right to: %s", right)
		}
	}
	var want []string
	for right := range unused {
		want = append(want, right)
	}
	slices.Sort(idle)
	slices.Sort(want)
	if diff := cmp.Diff(want, idle); diff != "" {
		t.Errorf("rights that nobody used (-listed +found):\n%s", diff)
	}
}
