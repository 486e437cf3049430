package ctrlx_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// Apply is called only for a kind that has the subresource status.
func TestStatusServed(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		answer func(*http.Request) *http.Response
	}{
		"Missing": {reason: "the definition has no status", answer: func(req *http.Request) *http.Response {
			body, _ := json.Marshal(metav1.APIResourceList{
				TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
				GroupVersion: testv1.GroupVersion.String(),
				APIResources: []metav1.APIResource{{Name: "databases", Kind: "Database"}, {Name: "databases/scale", Kind: "Scale"}, {Name: "clusters/status", Kind: "Cluster"}},
			})
			return &http.Response{StatusCode: 200, Request: req, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body))}
		}},
		"Unknown": {reason: "discovery fails", answer: func(req *http.Request) *http.Response { return refusal(req, 500, "InternalError") }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			var asked atomic.Int32
			var mended atomic.Bool
			o.start(ctrlx.New("Database", o.operations(), flow.Extensions[*testv1.Database]{}))
			o.traffic.answers(func(_ string, req *http.Request) *http.Response {
				if !strings.HasSuffix(req.URL.Path, "/apis/"+testv1.GroupVersion.String()) || mended.Load() {
					return nil
				}
				asked.Add(1)
				return tc.answer(req)
			})
			begun := time.Now()
			o.database("db", "")
			o.database("other", "")
			o.eventually("a second time after the first answer", func() bool { return asked.Load() >= 2 })
			if calls := o.asked(); len(calls) > 0 {
				t.Errorf("%s: asked of the cloud: %q", tc.reason, calls)
			}
			mended.Store(true)
			took := time.Since(begun) // one request in each RefusedFor, and one of the manager's mapper
			if n := asked.Load(); n > 2+int32(took/engine.RefusedFor) {
				t.Errorf("%s: %d requests in %s", tc.reason, n, took)
			}
			o.until("db", "True Succeeded")
		})
	}
}

// slowDiscovery is a manager whose API server does not answer before release is
// closed.
type slowDiscovery struct {
	*inMemory
	asked, release chan struct{}
}

func (m *slowDiscovery) APIResources(ctx context.Context) (*metav1.APIResourceList, error) {
	m.asked <- struct{}{}
	<-m.release
	return m.inMemory.APIResources(ctx)
}

// A pass that waits for the discovery of another pass can be canceled, and sends
// no request of its own.
func TestStatusServedCanceled(t *testing.T) {
	m := &slowDiscovery{inMemory: newInMemory(), asked: make(chan struct{}, 2), release: make(chan struct{})}
	r := measured(false)
	if err := r.SetupWithManager(m); err != nil {
		t.Fatal(err)
	}
	first := make(chan error)
	go func() { first <- ctrlx.HasStatus(t.Context(), r) }()
	<-m.asked
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ctrlx.HasStatus(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	close(m.release)
	if err := <-first; err != nil || len(m.asked) > 0 {
		t.Errorf("error %v, and %d more requests", err, len(m.asked))
	}
}
