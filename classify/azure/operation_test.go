package azure

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/reader"
)

// thing is the result of the operations.
type thing struct {
	Name string `json:"name"`
}

// answer is one response of the service. The zero answer is a lost connection.
type answer struct {
	status int
	body   string
	header []string
}

// service is a policy.Transporter that returns its answers in order.
type service struct {
	answers []answer
	asked   []string
}

func (s *service) Do(req *http.Request) (*http.Response, error) {
	s.asked = append(s.asked, req.Method+" "+req.URL.Path)
	if len(s.answers) == 0 {
		return nil, errors.New("one request too many: " + req.Method + " " + req.URL.Path)
	}
	a := s.answers[0]
	s.answers = s.answers[1:]
	if a.status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	body := io.NopCloser(strings.NewReader(a.body))
	return &http.Response{StatusCode: a.status, Header: reader.Header(a.header...), Body: body, Request: req}, nil
}

// begin returns a function that is written as the Begin methods of the SDK are.
func (s *service) begin(token string) func(context.Context) (*runtime.Poller[thing], error) {
	pipeline := runtime.NewPipeline("test", "v1", runtime.PipelineOptions{}, &policy.ClientOptions{
		Transport: s, Retry: policy.RetryOptions{MaxRetries: -1},
	})
	return func(ctx context.Context) (*runtime.Poller[thing], error) {
		if token != "" {
			return runtime.NewPollerFromResumeToken[thing](token, pipeline, nil)
		}
		req, err := runtime.NewRequest(ctx, http.MethodPut, "https://management.azure.com/thing")
		if err != nil {
			return nil, err
		}
		resp, err := pipeline.Do(req)
		if err != nil {
			return nil, err
		}
		if !runtime.HasStatusCode(resp, 200, 201, 202) {
			return nil, runtime.NewResponseError(resp)
		}
		return runtime.NewPoller[thing](resp, pipeline, nil)
	}
}

var (
	operation = []string{"Azure-AsyncOperation", "https://management.azure.com/operations/1"}
	location  = []string{"Location", "https://management.azure.com/results/1"}
)

// tokenOf starts an operation and returns its token.
func tokenOf(t *testing.T, header []string) string {
	t.Helper()
	s := &service{answers: []answer{{202, `{}`, header}}}
	p, err := Advance(t.Context(), "", s.begin(""), nil)
	if err != nil || p.Token() == "" {
		t.Fatalf("got %+v, error %v", p, err)
	}
	return p.Token()
}

func TestAdvance(t *testing.T) {
	type outcome struct {
		Done       bool
		InProgress bool
		After      time.Duration
		Failed     bool   // the operation failed
		Err        string // a part of the text
		Finished   string // the result that finished got
		Asked      []string
	}
	const (
		put  = "PUT /thing"
		poll = "GET /operations/1"
		get  = "GET /thing"
		loc  = "GET /results/1"
	)
	cases := map[string]struct {
		reason  string
		resume  []string // the header of the operation under way; nil: none
		answers []answer
		want    outcome
	}{
		"started":                {"the operation is under way, with the delay of the response", nil, []answer{{201, `{}`, append(operation, "Retry-After", "7")}}, outcome{InProgress: true, After: 7 * time.Second, Asked: []string{put}}},
		"started, milliseconds":  {"the delay may be in Azure's own headers", nil, []answer{{201, `{}`, append(operation, "Retry-After", "7", "Retry-After-Ms", "1500")}}, outcome{InProgress: true, After: 1500 * time.Millisecond, Asked: []string{put}}},
		"done at once":           {"the operation succeeds with the first response", nil, []answer{{200, `{"name":"a"}`, nil}}, outcome{Done: true, Finished: "a", Asked: []string{put}}},
		"done, no function":      {"a caller may not need the result", nil, []answer{{200, `{"name":"a"}`, nil}}, outcome{Done: true, Asked: []string{put}}},
		"refused":                {"a refused request has not started an operation", nil, []answer{{409, `{"error":{"code":"Conflict","message":"busy"}}`, nil}}, outcome{Err: "Conflict", Asked: []string{put}}},
		"under way":              {"the operation is polled once", operation, []answer{{200, `{"status":"InProgress"}`, []string{"Retry-After", "9"}}}, outcome{InProgress: true, After: 9 * time.Second, Asked: []string{poll}}},
		"done":                   {"the last poll is followed by a GET of the result", operation, []answer{{200, `{"status":"Succeeded"}`, nil}, {200, `{"name":"a"}`, nil}}, outcome{Done: true, Finished: "a", Asked: []string{poll, get}}},
		"failed":                 {"the service reports a failed operation with 200", operation, []answer{{200, `{"status":"Failed","error":{"code":"NoCores","message":"full"}}`, nil}}, outcome{Failed: true, Err: "NoCores", Asked: []string{poll}}},
		"canceled":               {"a canceled operation ended without success", operation, []answer{{200, `{"status":"Canceled","error":{"code":"Canceled"}}`, nil}}, outcome{Failed: true, Err: "Canceled", Asked: []string{poll}}},
		"failed without a code":  {"the report may have no error object", operation, []answer{{200, `{"status":"Failed"}`, nil}}, outcome{Failed: true, Err: "Failed", Asked: []string{poll}}},
		"poll throttled":         {"a failed poll does not end the operation", operation, []answer{{429, `{"error":{"code":"TooManyRequests"}}`, nil}}, outcome{Err: "TooManyRequests", Asked: []string{poll}}},
		"poll lost":              {"a lost connection does not end the operation", operation, []answer{{}}, outcome{Err: "unexpected EOF", Asked: []string{poll}}},
		"poll not found":         {"the reader decides whether a 404 ends the operation", operation, []answer{{404, `{"error":{"code":"OperationNotFound"}}`, nil}}, outcome{Err: "OperationNotFound", Asked: []string{poll}}},
		"result lost":            {"a lost result does not mean that the operation failed", operation, []answer{{200, `{"status":"Succeeded"}`, nil}, {}}, outcome{Err: "unexpected EOF", Asked: []string{poll, get}}},
		"result refused":         {"a refused result does not mean that the operation failed", operation, []answer{{200, `{"status":"Succeeded"}`, nil}, {404, `{"error":{"code":"ResourceNotFound"}}`, nil}}, outcome{Err: "ResourceNotFound", Asked: []string{poll, get}}},
		"location, under way":    {"an operation without a status is under way while it answers 202", location, []answer{{202, ``, nil}}, outcome{InProgress: true, After: 30 * time.Second, Asked: []string{loc}}},
		"location, done":         {"a 200 of the location is the result", location, []answer{{200, `{"name":"a"}`, nil}}, outcome{Done: true, Finished: "a", Asked: []string{loc}}},
		"location, failed":       {"an error of the location is the failure", location, []answer{{409, `{"error":{"code":"NoCores"}}`, nil}}, outcome{Failed: true, Err: "NoCores", Asked: []string{loc}}},
		"location, unauthorized": {"a poll without credentials does not end the operation", location, []answer{{401, `{"error":{"code":"ExpiredAuthenticationToken"}}`, nil}}, outcome{Err: "ExpiredAuthenticationToken", Asked: []string{loc}}},
		"location, forbidden":    {"a poll without rights does not end the operation", location, []answer{{403, `{"error":{"code":"AuthorizationFailed"}}`, nil}}, outcome{Err: "AuthorizationFailed", Asked: []string{loc}}},
		"location, proxy":        {"the page of a proxy does not end the operation", location, []answer{{400, `<html>no</html>`, nil}}, outcome{Err: "400", Asked: []string{loc}}},
		"location, Spring":       {"nor does a page that has something like a code", location, []answer{{404, `{"status":404,"error":"Not Found"}`, nil}}, outcome{Err: "404", Asked: []string{loc}}},
		"location, OAuth":        {"whatever its status is", location, []answer{{400, `{"error":"invalid_request","error_description":"x"}`, nil}}, outcome{Err: "400", Asked: []string{loc}}},
		"location, number":       {"or its form", location, []answer{{404, `{"code":404,"message":"no route"}`, nil}}, outcome{Err: "404", Asked: []string{loc}}},
		"location, code in page": {"or the element that the SDK takes for a code", location, []answer{{404, `<html><code>blocked</code></html>`, nil}}, outcome{Err: "404", Asked: []string{loc}}},
		"location, not served":   {"a type that is not served says nothing about the operation", location, []answer{{404, `{"error":{"code":"InvalidResourceType"}}`, nil}}, outcome{Err: "InvalidResourceType", Asked: []string{loc}}},
		"location, empty":        {"a 404 without a text says that the operation does not exist", location, []answer{{404, ``, nil}}, outcome{Failed: true, Err: "404", Asked: []string{loc}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			token := ""
			if c.resume != nil {
				token = tokenOf(t, c.resume)
			}
			s := &service{answers: c.answers}
			var got outcome
			finished := func(r thing) { got.Finished = r.Name }
			if name == "done, no function" {
				finished = nil
			}
			progress, err := Advance(t.Context(), token, s.begin(token), finished)
			got.Done, got.InProgress, got.After, got.Asked = progress.IsDone(), progress.Token() != "", progress.After(), s.asked
			if err != nil {
				_, got.Failed = errors.AsType[*flow.FailedError](err)
				if got.Err = c.want.Err; c.want.Err == "" || !strings.Contains(err.Error(), c.want.Err) || strings.HasPrefix(err.Error(), "azure: ") {
					got.Err = err.Error()
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			// The reader agrees with Advance that the operation is under way.
			if polled := s.asked[0] != put; polled && err != nil && !got.Failed && name != "poll not found" && Errors().Ended(err) {
				t.Error("the reader of errors ends the operation")
			}
		})
	}
}

// An unreadable token neither starts nor ends an operation.
func TestAdvanceWithBrokenTokens(t *testing.T) {
	other := strings.ReplaceAll(tokenOf(t, operation), `"type":"thing"`, `"type":"other"`)
	for name, token := range map[string]string{"text": "op-1", "JSON": `{}`, "other type": other, "other poller": `{"type":"thing","token":{"x":1}}`} {
		s := &service{}
		p, err := Advance(t.Context(), token, s.begin(token), nil)
		want := "its resume token is unreadable"
		if name == "text" {
			want = "its resume token is refused (if no operation is under way, remove the token to start it again): it is no JSON"
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v", name, err)
		}
		if _, failed := errors.AsType[*flow.FailedError](err); failed || p != (flow.Progress{}) || len(s.asked) > 0 || Errors().Ended(err) {
			t.Errorf("%s: got %+v, error %v, requests %q", name, p, err, s.asked)
		}
	}
}

// local is an operation under way that needs no request. Its token holds State.
type local struct{ State any }

func (local) Done() bool                                   { return false }
func (local) Poll(context.Context) (*http.Response, error) { return nil, nil }
func (local) Result(context.Context, *thing) error         { return nil }

func polled(h local) (*runtime.Poller[thing], error) {
	return runtime.NewPoller(&http.Response{}, runtime.Pipeline{}, &runtime.NewPollerOptions[thing]{Handler: h})
}

// The status and the code of a poll decide whether the operation failed.
func TestFailed(t *testing.T) {
	cases := map[string]struct {
		reason, code string
		status       int
		want         bool
	}{
		"Last2xx":  {"2xx reports a failed operation", "", 299, true},
		"Redirect": {"300 does not", "", 300, false},
		"Code":     {"the service has a code", "NoCores", 409, true},
		"Proxy":    {"a proxy wants a password, whatever its page says", "ProxyAuthenticationRequired", 407, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := respErr(c.code, c.status, "")
			if failed(err, err.RawResponse) != c.want || failed(err, nil) {
				t.Errorf("%s: got %t, and %t for another response", c.reason, !c.want, failed(err, nil))
			}
			if err.RawResponse = nil; failed(err, nil) != c.want {
				t.Errorf("%s: a poller of the user has no response: got %t", c.reason, !c.want)
			}
		})
	}
}

func TestAdvanceMisused(t *testing.T) {
	token := tokenOf(t, operation)
	forgetful := &service{answers: []answer{{201, `{}`, operation}}}
	if _, err := Advance(t.Context(), token, forgetful.begin(""), nil); err == nil || !strings.Contains(err.Error(), "pass the token as ResumeToken") {
		t.Errorf("begin without the token: got error %v", err)
	}
	unsaved := func(context.Context) (*runtime.Poller[thing], error) { return polled(local{make(chan int)}) }
	if p, err := Advance(t.Context(), "", unsaved, nil); err == nil || p != (flow.Progress{}) {
		t.Errorf("an operation that cannot be saved: got %+v, error %v", p, err)
	}
	silent := func(context.Context) (*runtime.Poller[thing], error) { return polled(local{}) }
	if p, err := Advance(t.Context(), "", silent, nil); err != nil || p.After() != pollEvery {
		t.Errorf("begin without a request: got %+v, error %v", p, err)
	}
	none := func(context.Context) (*runtime.Poller[thing], error) { return nil, nil }
	if _, err := Advance(t.Context(), "", none, nil); err == nil || !strings.Contains(err.Error(), "begin returned no poller") {
		t.Errorf("no poller: got error %v", err)
	}
}

func TestObserve(t *testing.T) {
	type seen struct {
		Observation flow.Observation
		Asked       bool // whether inSync was called
		Cleared     bool // whether absent was called
		Failed      bool
	}
	down := respErr("ServiceUnavailable", 503, "")
	missing := &azcore.ResponseError{StatusCode: http.StatusNotFound, ErrorCode: "ResourceNotFound"}
	cases := map[string]struct {
		reason string
		err    error
		inSync bool
		want   seen
	}{
		"in sync":          {"the resource exists and matches the spec", nil, true, seen{Observation: flow.Observation{Presence: checks.Present, InSync: true}, Asked: true}},
		"changed":          {"the resource exists and differs from the spec", nil, false, seen{Observation: flow.Observation{Presence: checks.Present}, Asked: true}},
		"not found":        {"a missing resource is not an error", missing, true, seen{Observation: flow.Observation{Presence: checks.Absent}, Cleared: true}},
		"failed":           {"any other error of the GET is returned", errors.New("no network"), true, seen{Failed: true}},
		"missing and down": {"one missing resource of two errors is an error", errors.Join(missing, down), true, seen{Failed: true}},
		"proxy":            {"the page of a proxy does not make the resource absent", respErr("", 404, "<html>no route</html>"), true, seen{Failed: true}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got seen
			o, err := Observe(c.err, func() { got.Cleared = true }, func() bool { got.Asked = true; return c.inSync })
			got.Observation, got.Failed = o, err != nil
			if got != c.want {
				t.Errorf("%s: got %+v, want %+v", c.reason, got, c.want)
			}
		})
	}
	if o, err := Observe(missing, nil, nil); err != nil || o.Presence != checks.Absent {
		t.Errorf("absent may be nil: got %+v, error %v", o, err)
	}
}

func TestEqual(t *testing.T) {
	if one := 1; !Equal(&one, 1) || Equal(&one, 2) || Equal(nil, 0) {
		t.Error("a value must be reported and equal")
	}
}

// The service does not find the result of an operation that has succeeded, as a replica
// that is late. The operation does not begin again.
func TestResultNotFound(t *testing.T) {
	s := &service{answers: []answer{
		{202, `{}`, operation}, {200, `{"status":"Succeeded"}`, nil}, {404, `{"error":{"code":"ResourceNotFound"}}`, nil},
		{200, `{"status":"Succeeded"}`, nil}, {200, `{"name":"a"}`, nil},
	}}
	r := flow.New("Thing", flow.Operations[*thing]{
		Key:        func(t *thing) string { return t.Name },
		Generation: func(*thing) int64 { return 1 },
		Apply: func(ctx context.Context, req *flow.Request[*thing]) (flow.Progress, error) {
			return Advance(ctx, req.Token, s.begin(req.Token), nil)
		},
	}, flow.Extensions[*thing]{}, flow.WithErrors(Errors()))
	var states []flow.State
	for range 3 {
		states = append(states, r.Reconcile(t.Context(), &thing{"a"}).State())
	}
	if diff := cmp.Diff([]flow.State{flow.StateInProgress, flow.StateFailed, flow.StateReady}, states); diff != "" || slices.Index(s.asked[1:], s.asked[0]) >= 0 {
		t.Errorf("the requests are %q; the states: -want, +got:\n%s", s.asked, diff)
	}
}

// respErr returns an error as a client of the SDK returns it. Its body, which
// may be empty, was not read yet.
func respErr(code string, status int, body string, header ...string) *azcore.ResponseError {
	resp := &http.Response{StatusCode: status, Header: reader.Header(header...), Body: io.NopCloser(strings.NewReader(body))}
	return &azcore.ResponseError{ErrorCode: code, StatusCode: status, RawResponse: resp}
}
