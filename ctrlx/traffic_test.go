package ctrlx_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
)

// traffic counts the requests of a manager to the API server, as "PATCH
// databases/status".
type traffic struct {
	mu     sync.Mutex
	counts map[string]int
	last   time.Time
	// answer may answer in place of the API server; nil goes there.
	answer func(what string, req *http.Request) *http.Response
	// deaf is not nil while watches are broken without an error: their events do not arrive.
	deaf   chan struct{} // closed when they work again
	deafTo string        // the watches that are broken: "WATCH clusters"
}

type wire struct {
	*traffic
	next http.RoundTripper
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	what := describe(req)
	w.mu.Lock()
	if w.counts == nil {
		w.counts = map[string]int{}
	}
	w.counts[what]++
	w.last = time.Now()
	answer := w.answer
	w.mu.Unlock()
	if answer != nil {
		if resp := answer(what, req); resp != nil {
			return resp, nil
		}
	}
	resp, err := w.next.RoundTrip(req)
	if err == nil && (what == "WATCH clusters" || what == "WATCH databases") {
		resp.Body = &deafBody{w.traffic, what, resp.Body}
	}
	return resp, err
}

// deafBody is the stream of events of a watch.
type deafBody struct {
	*traffic
	what string
	io.ReadCloser
}

func (b *deafBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	deaf, deafTo := b.deaf, b.deafTo
	b.mu.Unlock()
	if deaf != nil && deafTo == b.what {
		<-deaf
	}
	return n, err
}

// breakWatches makes the watches of a resource deaf until it is told to mend them.
func (t *traffic) breakWatches(resource string) (mend func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	deaf := make(chan struct{})
	t.deaf, t.deafTo = deaf, "WATCH "+resource
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.deaf = nil
		close(deaf)
	})
}

// describe says what a request asks for, without the names.
func describe(req *http.Request) string {
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	verb := req.Method
	if req.URL.Query().Get("watch") != "" {
		verb = "WATCH"
		if strings.Contains(req.Header.Get("Accept"), "as=PartialObjectMetadata") {
			verb = "WATCH metadata of"
		}
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

// take gives what was asked since the last time, once nothing was asked for a second.
func (t *traffic) take(test *testing.T) map[string]int {
	test.Helper()
	t.quiet(test, time.Second)
	t.mu.Lock()
	defer t.mu.Unlock()
	counts := t.counts
	t.counts = nil
	return counts
}

// quiet waits until nothing was asked for some time.
func (t *traffic) quiet(test *testing.T, pause time.Duration) {
	test.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	end := time.After(patience)
	for {
		select {
		case <-tick.C:
		case <-end:
			t.mu.Lock()
			defer t.mu.Unlock()
			test.Fatalf("the manager does not stop to ask: %v", t.counts)
		}
		t.mu.Lock()
		idle := time.Since(t.last)
		t.mu.Unlock()
		if idle >= pause {
			return
		}
	}
}

func (t *traffic) answers(answer func(what string, req *http.Request) *http.Response) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answer = answer
}

// refusal is the answer of an API server that cannot serve a request.
func refusal(req *http.Request, code int, reason metav1.StatusReason) *http.Response {
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "refused by the test",
	})
	if err != nil {
		panic(err)
	}
	return &http.Response{
		StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   io.NopCloser(strings.NewReader(string(body))), ContentLength: int64(len(body)),
	}
}

// refusing refuses a kind of request n times, or always if n is negative.
func refusing(what string, code int, reason metav1.StatusReason, n int) func(string, *http.Request) *http.Response {
	var left atomic.Int64 // requests come from several goroutines
	left.Store(int64(n))
	return func(asked string, req *http.Request) *http.Response {
		if asked != what || n >= 0 && left.Add(-1) < 0 {
			return nil
		}
		return refusal(req, code, reason)
	}
}
