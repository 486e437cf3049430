package main

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// Writes records the operator's writes of dependents that the API server
// accepted. It leaves out dry-runs.
type Writes struct {
	mu  sync.Mutex
	all []string
}

// Of returns a configuration that records its writes.
func (w *Writes) Of(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			what := describe(r)
			response, err := next.RoundTrip(r)
			if what != "" && err == nil && response.StatusCode < http.StatusMultipleChoices {
				verb := verbs[r.Method]
				if response.StatusCode == http.StatusCreated { // an apply creates, too
					verb = "creates"
				}
				w.mu.Lock()
				w.all = append(w.all, verb+" "+what)
				w.mu.Unlock()
			}
			return response, err
		})
	})
	return config
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// After returns the writes after the first n.
func (w *Writes) After(n int) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.all[n:])
}

// kinds holds the kinds of dependents by their names in the paths of requests.
var kinds = map[string]string{
	"configmaps": "ConfigMap", "coupons": "Coupon", "customresourcedefinitions": "CustomResourceDefinition", "deployments": "Deployment",
}

// verbs holds the words for the methods of requests that write.
var verbs = map[string]string{"POST": "creates", "PUT": "updates", "PATCH": "updates", "DELETE": "deletes"}

// describe returns a text such as "ConfigMap corner-settings"; empty: the request
// is no write of a dependent.
func describe(r *http.Request) string {
	if verbs[r.Method] == "" || r.URL.Query().Get("dryRun") != "" {
		return ""
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	for i, part := range parts {
		if kind, found := kinds[part]; found {
			return kind + " " + strings.Join(parts[i+1:], "/")
		}
	}
	return ""
}
