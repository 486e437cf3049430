package main

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
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
			request := requestOf(r)
			request.At = time.Now()
			t.mu.Lock()
			t.requests = append(t.requests, request)
			t.mu.Unlock()
			return next.RoundTrip(r)
		})
	})
	return config
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Requests returns the requests so far.
func (t *Traffic) Requests() []Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.requests)
}

// Quiet waits until there was no request for a while.
func (t *Traffic) Quiet(ctx context.Context, while time.Duration) error {
	since := time.Now()
	for n := len(t.Requests()); time.Since(since) < while; {
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
		if now := len(t.Requests()); now != n {
			n, since = now, time.Now()
		}
	}
	return nil
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

var parser = request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

// requestOf returns a request in the terms of roles.
func requestOf(r *http.Request) Request {
	info, err := parser.NewRequestInfo(r)
	if err != nil || !info.IsResourceRequest {
		return Request{Verb: "get", Resource: "discovery"}
	}
	return Request{Group: info.APIGroup, Verb: info.Verb, Resource: strings.TrimSuffix(info.Resource+"/"+info.Subresource, "/")}
}
