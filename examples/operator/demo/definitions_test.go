package main

import (
	"io/fs"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/examples/operator/config"
	"github.com/windlass-go/windlass/examples/operator/internal/apiserver/apitest"
)

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

func TestDefaults(t *testing.T) {
	t.Parallel()
	where := apitest.Namespace(t)
	c := &v1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: where, Name: "c"}}
	d := &v1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: where, Name: "d"}, Spec: v1.DatabaseSpec{Cluster: "c"}}
	for _, obj := range []client.Object{c, d} {
		if err := apitest.API.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	if c.Spec != (v1.ClusterSpec{SKU: "Standard_E2a_v4", Size: 2}) || d.Spec != (v1.DatabaseSpec{Cluster: "c", RetentionDays: 365}) {
		t.Errorf("want defaults for missing fields: %+v, %+v", c.Spec, d.Spec)
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
