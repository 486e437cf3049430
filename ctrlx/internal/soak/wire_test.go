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

	"k8s.io/apimachinery/pkg/api/meta"
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
	versions map[string]bool // versions that the pass has read or written
	live     map[string]bool // versions that the pass has read again, live
	ready    map[string]bool // those of them in which it is Ready
	blocked  string          // the point whose check blocked the pass
	busy     bool            // an operation is under way in the cloud
}

// from returns the pass of a context.
func (p *passes) from(ctx context.Context) *onePass {
	v, _ := p.of.LoadOrStore(controller.ReconcileIDFromContext(ctx), &onePass{versions: map[string]bool{}, live: map[string]bool{}, ready: map[string]bool{}})
	return v.(*onePass)
}

// saw notes a version that the pass has read or written.
func (p *onePass) saw(d database, in map[string]bool) {
	in[d.ResourceVersion] = true
	p.ready[d.ResourceVersion] = meta.IsStatusConditionTrue(d.Status.Conditions, "Ready")
}

// wire connects an operator to the API server, and checks the writes. A killed process
// sends nothing, and gets no answer.
type wire struct {
	o    *operator
	next http.RoundTripper
}

func (w *wire) wrap(next http.RoundTripper) http.RoundTripper {
	w.next = next
	return w
}

// The requests of passes that the wire checks.
const (
	get          = "GET databases"
	patches      = "PATCH databases"
	statusPatch  = "PATCH databases/status"
	statusUpdate = "PUT databases/status" // of the other controller
)

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if w.o.isDead() {
		return nil, errKilled
	}
	what := describe(req)
	says, p := w.o.guard.c.says, w.o.passes.from(req.Context())
	if what == statusPatch {
		body, err := io.ReadAll(req.Body)
		_ = req.Body.Close()
		if err != nil {
			return nil, err
		}
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(body))
		look(p, body, says)
	}
	resp, err := w.next.RoundTrip(req)
	if w.o.isDead() {
		if err == nil {
			_ = resp.Body.Close()
		}
		return nil, errKilled
	}
	if err != nil || resp.StatusCode != http.StatusOK || !slices.Contains([]string{get, patches, statusPatch, statusUpdate}, what) {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	got := &testv1.Database{}
	if err := json.Unmarshal(body, got); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch what {
	case get:
		if got.UID == p.uid {
			p.saw(got, p.live)
		}
	case statusUpdate:
		w.o.guard.look(got)
	default:
		w.o.guard.c.written()
		if got.UID != p.uid && p.uid != "" {
			says("%s of a pass over %s reaches %s", what, p.uid, got.UID)
		}
		p.saw(got, p.versions)
		w.o.guard.look(got)
	}
	return resp, nil
}

// look checks the write of a status.
func look(p *onePass, body []byte, says func(string, ...any)) {
	var patch testv1.Database
	if err := json.Unmarshal(body, &patch); err != nil {
		says("a status cannot be read: %v: %s", err, body)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	v := patch.ResourceVersion
	if p.blocked != "" && !p.ready[v] && meta.IsStatusConditionTrue(patch.Status.Conditions, "Ready") {
		says("a pass that %s has blocked writes Ready=True", p.blocked)
	}
	switch {
	case v == "":
		says("a status is written without the version on which it is based")
	case p.live[v] && onlyConditions(body):
		// The stored operation is written to the object as it was read again after a conflict.
	case !p.versions[v]:
		says("a status is based on version %s, and its pass has read %v", v, p.versions)
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

// describe returns the verb and the resource of a request, without names; for a request
// that is not for one object, the verb alone.
func describe(req *http.Request) string {
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/") // apis, group, version, namespaces, namespace, resource, name
	if len(parts) < 7 {
		return req.Method
	}
	return strings.Join(append([]string{req.Method + " " + parts[5]}, parts[7:]...), "/")
}
