package main

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/examples/operator/config"
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

func TestSpecs(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		obj    client.Object
		want   string // a part of the error; empty: accepted
	}{
		"Cluster":      {reason: "all fields have defaults", obj: &v1.Cluster{}},
		"Small":        {reason: "a cluster has at least two machines", obj: &v1.Cluster{Spec: v1.ClusterSpec{Size: 1}}, want: "spec.size"},
		"Large":        {reason: "a cluster has at most 100 machines", obj: &v1.Cluster{Spec: v1.ClusterSpec{Size: 101}}, want: "spec.size"},
		"SKU":          {reason: "an unknown type of machine", obj: &v1.Cluster{Spec: v1.ClusterSpec{SKU: "Huge"}}, want: "spec.sku"},
		"Database":     {reason: "a database names its cluster", obj: &v1.Database{Spec: v1.DatabaseSpec{Cluster: "demo"}}},
		"NoCluster":    {reason: "a database may belong to the only cluster", obj: &v1.Database{}},
		"NoRetention":  {reason: "a retention is positive", obj: &v1.Database{Spec: v1.DatabaseSpec{Cluster: "demo", RetentionDays: -1}}, want: "spec.retentionDays"},
		"LongRetained": {reason: "a retention has a maximum", obj: &v1.Database{Spec: v1.DatabaseSpec{Cluster: "demo", RetentionDays: 36501}}, want: "spec.retentionDays"},
	}
	where := apitest.Namespace(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.obj.SetNamespace(where)
			tc.obj.SetName("x-" + strings.ToLower(name))
			refused(t, tc.reason, apitest.API.Create(t.Context(), tc.obj), tc.want)
			c, _ := tc.obj.(*v1.Cluster)
			d, _ := tc.obj.(*v1.Database)
			if tc.want == "" && (c != nil && c.Spec != (v1.ClusterSpec{SKU: "Standard_E2a_v4", Size: 2}) || d != nil && d.Spec.RetentionDays != 365) {
				t.Errorf("want defaults for missing fields: %+v", tc.obj)
			}
		})
	}
}

// refused fails the test unless err is a 422 for a field, or nil without a
// field.
func refused(t *testing.T, reason string, err error, field string) {
	t.Helper()
	switch {
	case field == "" && err != nil:
		t.Errorf("%s: %v", reason, err)
	case field != "" && (!apierrors.IsInvalid(err) || !strings.Contains(err.Error(), field)):
		t.Errorf("%s: want an error about %s: %v", reason, field, err)
	}
}

func TestDatabasesCannotBeMoved(t *testing.T) {
	t.Parallel()
	d := &v1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: apitest.Namespace(t), Name: "d"}, Spec: v1.DatabaseSpec{Cluster: "here"}}
	if err := apitest.API.Create(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	d.Spec.Cluster = "there"
	refused(t, "the cluster of a database cannot change", apitest.API.Update(t.Context(), d), "a database cannot be moved")
	found := &v1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: "found"}}
	if err := apitest.API.Create(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	found.Status.Cluster = "here"
	if err := apitest.API.Status().Update(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	found.Spec.Cluster = "there"
	refused(t, "nor the cluster that was found", apitest.API.Update(t.Context(), found), "a database cannot be moved")
	found.Spec.Cluster = "here"
	refused(t, "the name of the present cluster may be added", apitest.API.Update(t.Context(), found), "")
}

func TestSamples(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(config.Files, "samples/*.yaml")
	if err != nil || len(files) != 2 {
		t.Fatalf("%v: %v", files, err)
	}
	where := apitest.Namespace(t)
	strict := client.WithFieldValidation(apitest.API, metav1.FieldValidationStrict)
	for _, file := range files {
		objects, err := apitest.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, obj := range objects {
			obj.SetNamespace(where)
			if err := strict.Create(t.Context(), obj); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}
