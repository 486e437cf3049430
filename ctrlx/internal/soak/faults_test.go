package soak_test

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// faults make requests fail on their way.
type faults struct {
	mu    sync.Mutex
	rand  *rand.Rand
	share float64 // share of the requests that fail; a quarter of it is the share of watch reads that are delayed
	slow  time.Duration
	count map[string]int
	off   bool
}

// draw returns the fault of a request, or "" for none.
func (f *faults) draw(share float64, of ...string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.off || f.rand.Float64() >= share {
		return ""
	}
	what := of[f.rand.IntN(len(of))]
	f.count[what]++
	return what
}

func (f *faults) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.off = true
}

func (f *faults) send(what string, req *http.Request, next http.RoundTripper) (*http.Response, error) {
	switch {
	case f == nil || strings.HasSuffix(what, "discovery"):
		return next.RoundTrip(req)
	case strings.HasPrefix(what, "WATCH"):
		resp, err := next.RoundTrip(req)
		if err == nil {
			resp.Body = &slowly{resp.Body, f, req.Context()}
		}
		return resp, err
	}
	kinds := []string{"429", "500", "503", "reset before", "reset after", "time-out", "answer lost"}
	if req.Method == http.MethodPatch {
		kinds = append(kinds, "409")
	}
	switch fault := f.draw(f.share, kinds...); fault {
	case "409":
		return refused(req, http.StatusConflict, metav1.StatusReasonConflict)
	case "429":
		return refused(req, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests)
	case "500":
		return refused(req, http.StatusInternalServerError, metav1.StatusReasonInternalError)
	case "503":
		return refused(req, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)
	case "reset before":
		return nil, syscall.ECONNRESET
	case "reset after", "time-out", "answer lost": // the API server has executed the request
		resp, err := next.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		if fault == "answer lost" {
			resp.Body = &cut{resp.Body}
			return resp, nil
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if fault == "time-out" {
			return nil, context.DeadlineExceeded
		}
		return nil, syscall.ECONNRESET
	}
	return next.RoundTrip(req)
}

// refused returns an error response in place of the API server's response.
func refused(req *http.Request, code int, reason metav1.StatusReason) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "refused by the test",
	})
	header := http.Header{"Content-Type": {"application/json"}}
	if code == http.StatusTooManyRequests {
		header.Set("Retry-After", "1")
	}
	return &http.Response{
		StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req, Header: header,
		Body: io.NopCloser(strings.NewReader(string(body))), ContentLength: int64(len(body)),
	}, err
}

// cut is a body that ends too early.
type cut struct{ io.ReadCloser }

func (c *cut) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// slowly is the body of a watch that is delayed, so that a cache is stale. Both
// its objects and its events are old. The watch also ends at some time.
type slowly struct {
	io.ReadCloser
	f   *faults
	ctx context.Context
}

func (s *slowly) Read(b []byte) (int, error) {
	n, err := s.ReadCloser.Read(b)
	if err != nil {
		return n, err
	}
	if s.f.draw(s.f.share/500, "end") != "" { // seldom, because client-go restarts a watch that ends often only after a minute
		return 0, io.ErrUnexpectedEOF
	}
	if s.f.draw(s.f.share/4, "lag") != "" {
		s.f.mu.Lock()
		lag := between(s.f.rand, s.f.slow/20, s.f.slow)
		s.f.mu.Unlock()
		select {
		case <-time.After(lag):
		case <-s.ctx.Done():
		}
	}
	return n, err
}

// TestFaults verifies that every resource is made, and each only once.
// Meanwhile requests are refused or lost, answers are lost, and caches are
// stale.
func TestFaults(t *testing.T) {
	r := random(t)
	c := newCloud(t, r, 10*time.Millisecond, 200*time.Millisecond)
	ns := namespace(t)
	watchOver(t, c, ns)
	f := &faults{rand: rand.New(rand.NewPCG(r.Uint64(), 5)), share: 0.2, slow: time.Second, count: map[string]int{}}
	start(t, setup{Process: "one", Namespace: ns, Get: true, Delete: true, Defers: true, Workers: 4}, c,
		func(o *operator) { o.wire.faults = f })
	l := newLoad(t, r, ns, size(20, 60), 4)
	l.pace = time.Second
	ctx, cancel := context.WithTimeout(t.Context(), size(5*time.Second, time.Minute))
	defer cancel()
	there := l.run(ctx)
	f.stop()
	begun := time.Now()
	l.settle(t, c, there)
	got := c.counts()
	t.Logf("%d actions, %d recreations, faults %v; settled %s after the last fault; the cloud: %+v",
		l.did.Load(), l.anew.Load(), f.count, time.Since(begun).Round(time.Millisecond), got)
	if got.Doubled+got.Refused+got.DoubledDeletes > 0 {
		t.Errorf("a request was repeated, despite a GET before each PUT and a single process: %+v", got)
	}
}
