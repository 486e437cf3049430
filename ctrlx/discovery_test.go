package ctrlx_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

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
	must(o.t, api.Create(o.t.Context(), d))
}
