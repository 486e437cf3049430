package ctrlx_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// discoveryOnly is the way to an API server that answers nothing but discovery.
var discoveryOnly = &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
	list := apidiscovery.APIGroupDiscoveryList{}
	if req.URL.Path == "/apis" {
		v := apidiscovery.APIVersionDiscovery{Version: testv1.GroupVersion.Version}
		for _, kind := range []string{"App", "Cluster", "Database"} {
			v.Resources = append(v.Resources, apidiscovery.APIResourceDiscovery{
				Resource: kind, Scope: apidiscovery.ScopeNamespace, Verbs: []string{"get", "list", "watch"},
				ResponseKind: &metav1.GroupVersionKind{Group: testv1.GroupVersion.Group, Version: testv1.GroupVersion.Version, Kind: kind},
			})
		}
		list.Items = []apidiscovery.APIGroupDiscovery{{
			ObjectMeta: metav1.ObjectMeta{Name: testv1.GroupVersion.Group}, Versions: []apidiscovery.APIVersionDiscovery{v},
		}}
	}
	body, err := json.Marshal(list)
	return &http.Response{
		StatusCode: http.StatusOK, Request: req, Body: io.NopCloser(bytes.NewReader(body)),
		Header: http.Header{"Content-Type": {"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}},
	}, err
})}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

var anyKind = ctrlx.WithWatchedKinds(schema.GroupKind{Group: "*", Kind: "*"})

// ownedBy creates a database whose controlling owner reference a user has written.
func (o *operator) ownedBy(name, apiVersion, kind, owner string) {
	o.t.Helper()
	yes := true
	d := &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: name, OwnerReferences: []metav1.OwnerReference{
		{APIVersion: apiVersion, Kind: kind, Name: owner, UID: "3f8e7c1a-0000-0000-0000-000000000000", Controller: &yes},
	}}}
	if err := api.Create(o.t.Context(), d); err != nil {
		o.t.Fatal(err)
	}
}

// A kind that discovery does not list under exactly its name is missing. An informer for it would never have its first list,
// and would end a manager that gets a controller later.
func TestInexactKind(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		kind   string
	}{
		"LowerCase": {"discovery mappers know each kind in lower case, too", "cluster"},
		"List":      {"discovery mappers guess a kind for lists", "ClusterList"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			mgr := o.start(ctrlx.New("Database", o.operations(), waitsForCluster, anyKind))
			o.cluster("prod", "Running")
			o.ownedBy("db", testv1.GroupVersion.String(), tc.kind, "prod")
			o.until("db", "False OwnerNotFound")
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if !mgr.GetCache().WaitForCacheSync(ctx) {
				t.Errorf("%s: an informer waits for its first list for ever", tc.reason)
			}
		})
	}
}

// Users choose the names of missing kinds. The number of requests does not depend on the number of names.
func TestMissingKinds(t *testing.T) {
	t.Parallel()
	const n = 300
	o := newOperator(t)
	for i := range n {
		o.ownedBy(fmt.Sprintf("db-%d", i), testv1.GroupVersion.String(), fmt.Sprintf("Missing%d", i), "prod")
	}
	o.start(ctrlx.New("Database", o.operations(), waitsForCluster, anyKind))
	for i := range n {
		o.until(fmt.Sprintf("db-%d", i), "False OwnerNotFound")
	}
	got := o.traffic.take(t)
	for _, what := range []string{"GET discovery", "GET customresourcedefinitions"} { // about 14 and 2; a slow machine has more, because time passes
		if requests := got[what]; requests > n/5 {
			t.Errorf("%d kinds are missing, and there are %d of %s: %v", n, requests, what, got)
		}
	}
	t.Logf("requests for %d missing kinds: %v", n, got)
}
