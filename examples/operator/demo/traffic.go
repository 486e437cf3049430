package main

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// Traffic records the requests of an operator to the API server.
type Traffic struct {
	mu       sync.Mutex
	requests []Request
}

// Request is a request, such as "patch clusters/status".
type Request struct {
	At             time.Time
	Group          string
	Verb, Resource string // as in a role
}

// Of returns a configuration that records its requests.
func (t *Traffic) Of(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			t.note(r)
			return next.RoundTrip(r)
		})
	})
	return config
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (t *Traffic) note(r *http.Request) {
	request := requestOf(r)
	request.At = time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests = append(t.requests, request)
}

// Requests returns the requests so far.
func (t *Traffic) Requests() []Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Request(nil), t.requests...)
}

// Quiet waits until there was no request for a while.
func (t *Traffic) Quiet(ctx context.Context, while time.Duration) error {
	since := time.Now()
	for n := len(t.Requests()); time.Since(since) < while; {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if now := len(t.Requests()); now != n {
			n, since = now, time.Now()
		}
	}
	return nil
}

// requestOf parses a request in the terms of roles:
// /apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE/NAME/SUBRESOURCE.
func requestOf(r *http.Request) Request {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	group := ""
	switch {
	case parts[0] == "apis" && len(parts) > 3:
		group, parts = parts[1], parts[3:]
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	default:
		return Request{Verb: "get", Resource: "discovery"}
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	resource := parts[0]
	if len(parts) > 2 {
		resource += "/" + parts[2]
	}
	verb := map[string]string{"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "GET": "get"}[r.Method]
	if verb == "get" && len(parts) == 1 {
		verb = "list"
		if r.URL.Query().Get("watch") != "" {
			verb = "watch"
		}
	}
	return Request{Group: group, Verb: verb, Resource: resource}
}
