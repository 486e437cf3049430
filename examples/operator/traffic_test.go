package main

import (
	"net/http/httptest"
	"testing"
)

func TestRequestOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		method string
		path   string
		want   Request
	}{
		"List":    {reason: "a list of all namespaces", method: "GET", path: "/apis/g/v1/things", want: Request{Group: "g", Verb: "list", Resource: "things"}},
		"Watch":   {reason: "a watch", method: "GET", path: "/apis/g/v1/namespaces/n/things?watch=true", want: Request{Group: "g", Verb: "watch", Resource: "things"}},
		"Get":     {reason: "one object", method: "GET", path: "/apis/g/v1/namespaces/n/things/x", want: Request{Group: "g", Verb: "get", Resource: "things"}},
		"Status":  {reason: "a subresource", method: "PATCH", path: "/apis/g/v1/namespaces/n/things/x/status", want: Request{Group: "g", Verb: "patch", Resource: "things/status"}},
		"Core":    {reason: "the core group has no name", method: "POST", path: "/api/v1/namespaces/n/events", want: Request{Verb: "create", Resource: "events"}},
		"Cluster": {reason: "no namespace", method: "GET", path: "/apis/g/v1/things/x", want: Request{Group: "g", Verb: "get", Resource: "things"}},
		"Lease":   {reason: "a replacement", method: "PUT", path: "/apis/g/v1/namespaces/n/leases/x", want: Request{Group: "g", Verb: "update", Resource: "leases"}},
		"Groups":  {reason: "discovery", method: "GET", path: "/apis", want: Request{Verb: "get", Resource: "discovery"}},
		"Kinds":   {reason: "discovery", method: "GET", path: "/apis/g/v1", want: Request{Verb: "get", Resource: "discovery"}},
		"Old":     {reason: "discovery", method: "GET", path: "/api/v1", want: Request{Verb: "get", Resource: "discovery"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := requestOf(httptest.NewRequest(tc.method, tc.path, nil)); got != tc.want {
				t.Errorf("%s: %+v, not %+v", tc.reason, got, tc.want)
			}
		})
	}
}
