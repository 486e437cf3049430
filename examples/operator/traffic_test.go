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
		"List":    {reason: "all namespaces", method: "GET", path: "/apis/g/v1/things", want: Request{Group: "g", Verb: "list", Resource: "things"}},
		"Watch":   {reason: "a list that goes on", method: "GET", path: "/apis/g/v1/namespaces/n/things?watch=true", want: Request{Group: "g", Verb: "watch", Resource: "things"}},
		"Get":     {reason: "one of them", method: "GET", path: "/apis/g/v1/namespaces/n/things/x", want: Request{Group: "g", Verb: "get", Resource: "things"}},
		"Status":  {reason: "a part of one", method: "PATCH", path: "/apis/g/v1/namespaces/n/things/x/status", want: Request{Group: "g", Verb: "patch", Resource: "things/status"}},
		"Core":    {reason: "a group without a name", method: "POST", path: "/api/v1/namespaces/n/events", want: Request{Verb: "create", Resource: "events"}},
		"Cluster": {reason: "no namespace", method: "GET", path: "/apis/g/v1/things/x", want: Request{Group: "g", Verb: "get", Resource: "things"}},
		"Lease":   {reason: "a replacement", method: "PUT", path: "/apis/g/v1/namespaces/n/leases/x", want: Request{Group: "g", Verb: "update", Resource: "leases"}},
		"Groups":  {reason: "what there is", method: "GET", path: "/apis", want: Request{Verb: "get", Resource: "discovery"}},
		"Kinds":   {reason: "what there is", method: "GET", path: "/apis/g/v1", want: Request{Verb: "get", Resource: "discovery"}},
		"Old":     {reason: "what there is", method: "GET", path: "/api/v1", want: Request{Verb: "get", Resource: "discovery"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := requestOf(httptest.NewRequest(tc.method, tc.path, nil)); got != tc.want {
				t.Errorf("%s: %+v, not %+v", tc.reason, got, tc.want)
			}
		})
	}
}
