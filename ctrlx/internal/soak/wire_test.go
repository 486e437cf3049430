package soak_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// passes holds the passes of an operator, by the reconcile ID of
// controller-runtime.
type passes struct{ of sync.Map }

// onePass is the record of a pass over an object.
type onePass struct {
	mu       sync.Mutex
	uid      types.UID
	versions []string // versions that the pass has read or written
	live     []string // versions that the pass has read again, live
	blocked  string   // the check that blocked the pass
	busy     bool     // an operation is under way in the cloud
}

// from returns the pass of a context, or nil outside of a pass.
func (p *passes) from(ctx context.Context) *onePass {
	id := controller.ReconcileIDFromContext(ctx)
	if id == "" {
		return nil
	}
	v, _ := p.of.LoadOrStore(id, &onePass{})
	return v.(*onePass)
}

func (p *onePass) blocks(check string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blocked = check
}

// wire connects an operator to the API server, and checks the writes.
type wire struct {
	passes *passes
	says   func(format string, args ...any) // reports an error
	next   http.RoundTripper
}

func (w *wire) wrap(next http.RoundTripper) http.RoundTripper {
	w.next = next
	return w
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	what := describe(req)
	if what == "POST events" {
		return taken(req)
	}
	if what != "PATCH databases" && what != "PATCH databases/status" {
		return w.send(what, req)
	}
	body, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	if err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.Body = io.NopCloser(bytes.NewReader(body))
	p := w.passes.from(req.Context())
	if p == nil {
		w.says("%s outside of a pass", what)
		return w.send(what, req)
	}
	w.look(p, what, body)
	return w.send(what, req)
}

// look checks a write of a pass.
func (w *wire) look(p *onePass, what string, body []byte) {
	var patch testv1.Database
	if err := json.Unmarshal(body, &patch); err != nil {
		w.says("%s: %v: %s", what, err, body)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if what != "PATCH databases/status" {
		return
	}
	for _, c := range patch.Status.Conditions {
		if c.Type == "Ready" && c.Status == metav1.ConditionTrue && p.blocked != "" {
			w.says("a pass that %s has blocked writes Ready=True", p.blocked)
		}
	}
	switch v := patch.ResourceVersion; {
	case v == "":
		w.says("a status is written without the version on which it is based")
	case slices.Contains(p.live, v) && onlyConditions(body):
		// The stored operation is written to the object as it was read again after a conflict.
	case !slices.Contains(p.versions, v):
		w.says("a status is based on version %s, and its pass has read %q", v, p.versions)
	}
}

// onlyConditions reports whether a patch of the status changes nothing but
// conditions.
func onlyConditions(body []byte) bool {
	var patch struct{ Status map[string]json.RawMessage }
	_ = json.Unmarshal(body, &patch)
	delete(patch.Status, "conditions")
	return len(patch.Status) == 0
}

// send sends a request, and notes the version that the pass reads.
func (w *wire) send(what string, req *http.Request) (*http.Response, error) {
	resp, err := w.next.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusOK || !strings.HasPrefix(what, "PATCH databases") && what != "GET databases" {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var got testv1.Database
	if err := json.Unmarshal(body, &got); err != nil {
		return nil, err
	}
	if p := w.passes.from(req.Context()); p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		if what == "GET databases" {
			if got.UID == p.uid {
				p.live = append(p.live, got.ResourceVersion)
			}
			return resp, nil
		}
		if got.UID != p.uid && p.uid != "" {
			w.says("%s of a pass over %s reaches %s", what, p.uid, got.UID)
		}
		p.versions = append(p.versions, got.ResourceVersion)
	}
	return resp, nil
}

// taken answers a request for an event as if the event were stored. An event
// costs the API server as much as a status.
func taken(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusCreated, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {req.Header.Get("Content-Type")}},
		Body:   io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

// describe returns the verb and the resource of a request, without names.
func describe(req *http.Request) string {
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	verb := req.Method
	if req.URL.Query().Get("watch") != "" {
		verb = "WATCH"
	}
	i := 2 // api/v1/...
	if parts[0] == "apis" {
		i = 3
	}
	if len(parts) > i+2 && parts[i] == "namespaces" {
		i += 2
	}
	if len(parts) <= i {
		return verb + " discovery"
	}
	what := parts[i]
	if len(parts) > i+2 {
		what += "/" + parts[i+2]
	}
	return verb + " " + what
}

// until waits until missing returns nil.
func until(t *testing.T, patience time.Duration, missing func() error) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		err := missing()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after %s: %v", patience, err)
		}
	}
}
