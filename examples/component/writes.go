package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// Writes records the operator's writes of dependents that the API server
// accepted. It leaves out dry-runs.
type Writes struct {
	mu      sync.Mutex
	all     []string
	changed chan struct{} // closed at the next write
}

// NewWrites returns an empty record.
func NewWrites() *Writes { return &Writes{changed: make(chan struct{})} }

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
				w.add(verb + " " + what)
			}
			return response, err
		})
	})
	return config
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (w *Writes) add(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, what)
	close(w.changed)
	w.changed = make(chan struct{})
}

// After returns the writes after the first n, and a channel that is closed at the
// next write.
func (w *Writes) After(n int) (writes []string, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.all[n:]...), w.changed
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
		kind, found := kinds[part]
		switch {
		case !found:
		case i+1 < len(parts):
			return fmt.Sprintf("%s %s", kind, strings.Join(parts[i+1:], "/"))
		default:
			return fmt.Sprintf("%s %s", kind, nameOf(r))
		}
	}
	return ""
}

// nameOf returns the name of the object in the body of a request.
func nameOf(r *http.Request) string {
	if r.GetBody == nil {
		return ""
	}
	body, err := r.GetBody()
	if err != nil {
		return ""
	}
	defer func() { _ = body.Close() }()
	text, err := io.ReadAll(body)
	var object struct{ Metadata struct{ Name string } }
	if err != nil || json.Unmarshal(text, &object) != nil {
		return ""
	}
	return object.Metadata.Name
}
