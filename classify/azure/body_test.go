package azure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/reason"
	"github.com/windlass-go/windlass/internal/testing/reader"
)

type codeMessage struct{ Code, Message string }

// shown returns the text of a body that messages show.
func shown(b body) string { return b.message + b.raw }

func TestReadBody(t *testing.T) {
	cases := map[string]struct {
		reason string
		body   string
		want   codeMessage
	}{
		"error object":        {"Azure Resource Manager sends an error object", `{"error":{"code":"Conflict","message":"busy","details":[{"code":"Inner","message":"no"}]}}`, codeMessage{"Conflict", "busy"}},
		"details first":       {"a nested error is not the error itself", `{"error":{"details":[{"code":"Inner","message":"no"}],"innererror":{"code":"X"},"code":"Conflict","message":"busy"}}`, codeMessage{"Conflict", "busy"}},
		"operation":           {"the status of a failed operation has an error object, too", `{"id":"/x","status":"Failed","error":{"code":"Conflict","message":"busy"}}`, codeMessage{"Conflict", "busy"}},
		"both":                {"the error object wins in any order", `{"code":"Outer","message":"no","error":{"code":"Conflict","message":"busy"}}`, codeMessage{"Conflict", "busy"}},
		"empty error":         {"an error object wins even if it is empty, as in azcore", `{"error":{},"code":"X"}`, codeMessage{"", `{"error":{},"code":"X"}`}},
		"error list":          {"an error that is a list is ignored", `{"error":[{"code":"A"}],"code":"Conflict","message":"busy"}`, codeMessage{"Conflict", "busy"}},
		"odata":               {"the table service uses the form of OData", `{"odata.error":{"code":"TableNotFound","message":{"lang":"en-US","value":"no such table"}}}`, codeMessage{"TableNotFound", "no such table"}},
		"nested value":        {"a text has one level of values", `{"error":{"code":{"value":{"value":"X"}},"message":"m"}}`, codeMessage{"", "m"}},
		"oauth":               {"token endpoints use the form of OAuth", `{"error":"invalid_client","error_description":"secret expired"}`, codeMessage{"invalid_client", "secret expired"}},
		"case":                {"the case of keys is ignored", `{"Error":{"Code":"Conflict","Message":"busy"}}`, codeMessage{"Conflict", "busy"}},
		"number":              {"a number is no code of Azure", `{"error":{"code":404,"message":"gone"}}`, codeMessage{"", "gone"}},
		"odd types":           {"a value that is not a text is ignored", `{"error":{"code":{"a":[1]},"message":[true]}}`, codeMessage{"", `{"error":{"code":{"a":[1]},"message":[true]}}`}},
		"bools and null":      {"true, false and null are no texts", `{"error":{"code":true,"message":false},"odata.error":null}`, codeMessage{"", `{"error":{"code":true,"message":false},"odata.error":null}`}},
		"null code":           {"null is no text", `{"code":null,"message":"busy"}`, codeMessage{"", "busy"}},
		"only a code":         {"an error at the top level may have only a code", `{"code":"Conflict","error":"invalid"}`, codeMessage{"Conflict", ""}},
		"no message":          {"an error may have only a code", `{"error":{"code":"Conflict"}}`, codeMessage{"Conflict", ""}},
		"byte order mark":     {"a byte order mark is removed", "\xef\xbb\xbf {\"code\":\"Conflict\",\"message\":\"busy\"}", codeMessage{"Conflict", "busy"}},
		"empty":               {"an empty body sets no field", "", codeMessage{}},
		"text":                {"a text is shown", " Bad gateway\n", codeMessage{"", "Bad gateway"}},
		"other JSON":          {"JSON without an error is shown", `{"status":"Failed"}`, codeMessage{"", `{"status":"Failed"}`}},
		"cut":                 {"a truncated error is shown as it is", `{"error":{"code":"Conflict","message":"bu`, codeMessage{"", `{"error":{"code":"Conflict","message":"bu`}},
		"not UTF-8":           {"invalid bytes are replaced", "bad \xff byte", codeMessage{"", "bad \uFFFD byte"}},
		"whole text":          {"a text of 1 KiB is not cut", strings.Repeat("x", 1024), codeMessage{"", strings.Repeat("x", 1024)}},
		"one byte more":       {"it is cut", strings.Repeat("x", 1025), codeMessage{"", strings.Repeat("x", 1024)}},
		"long text, binary":   {"at most the bytes of a character are cut", strings.Repeat("x", 1020) + strings.Repeat("\x80", 100), codeMessage{"", strings.Repeat("x", 1020)}},
		"long text, two-byte": {"no character is cut", "x" + strings.Repeat("é", 5000), codeMessage{"", "x" + strings.Repeat("é", 511)}},
		"beyond the limit":    {"the start of a body of more than 1 MiB is shown", `{"code":"Conflict","message":"` + strings.Repeat("x", 2*maxBody) + `"}`, codeMessage{"", `{"code":"Conflict","message":"` + strings.Repeat("x", 1024-30)}},
		"deep":                {"JSON that is nested too deep is shown as it is", strings.Repeat(`{"a":`, 100_000), codeMessage{"", strings.Repeat(`{"a":`, 205)[:1024]}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			body := &closer{Reader: strings.NewReader(c.body)}
			resp := &http.Response{Body: body}
			for range 2 {
				got := readBody(resp)
				if diff := cmp.Diff(c.want, codeMessage{got.code, shown(got)}); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.reason, diff)
				}
			}
			if left, err := io.ReadAll(iotest.OneByteReader(resp.Body)); string(left) != c.body || err != nil {
				t.Errorf("the body must remain readable: got %d bytes and error %v, want %d bytes", len(left), err, len(c.body))
			}
			early := body.closed
			if err := resp.Body.Close(); early || !body.closed || err != errClosed {
				t.Errorf("only Close closes the body: closed before it: %t, after it: %t, error %v", early, body.closed, err)
			}
		})
	}
}

// closer is a body that records Close.
type closer struct {
	io.Reader
	closed bool
}

func (c *closer) Close() error { c.closed = true; return errClosed }

var errClosed = errors.New("closed")

func TestReadBodyInner(t *testing.T) {
	type inner = []classify.InnerError
	deep := func(n int) string {
		return `{"error":{"code":"Top","message":"top"` + strings.Repeat(`,"innererror":{"code":"In"`, n) + strings.Repeat("}", n+2)
	}
	text := func(n int, body string) string { // as the text of a detail, n times
		for range n {
			body = fmt.Sprintf(`{"error":{"details":[{"message":%q}]}}`, body)
		}
		return body
	}
	cases := map[string]struct {
		reason string
		body   string
		want   inner
	}{
		"details":        {"details are nested errors", `{"error":{"code":"DeploymentFailed","message":"see details","details":[{"code":"QuotaExceeded","message":"no cores","target":"x"},{"code":"Conflict","message":"busy"}]}}`, inner{{Code: "QuotaExceeded", Message: "no cores"}, {Code: "Conflict", Message: "busy"}}},
		"nested details": {"details of details come after them", `{"error":{"code":"A","message":"a","details":[{"code":"B","message":"b","details":[{"code":"C"}]},{"code":"D"}]}}`, inner{{Code: "B", Message: "b"}, {Code: "C"}, {Code: "D"}}},
		"children first": {"the outer error comes first in any order", `{"error":{"innererror":{"innererror":{"code":"C"},"code":"B"},"code":"A","message":"a"}}`, inner{{Code: "B"}, {Code: "C"}}},
		"top level's":    {"details of the top level do not belong to an error object", `{"details":[{"code":"X"}],"error":{"code":"A","message":"a","details":[{"code":"B"}]}}`, inner{{Code: "B"}}},
		"one object":     {"details may be one object", `{"error":{"code":"A","details":{"code":"B","message":"b"}}}`, inner{{Code: "B", Message: "b"}}},
		"text of JSON":   {"a detail may have the JSON of another service as text", `{"error":{"code":"DeploymentFailed","message":"see details","details":[{"code":"Conflict","message":"{\r\n  \"status\": \"Failed\",\r\n  \"error\": {\r\n    \"code\": \"ResourceDeploymentFailure\",\r\n    \"message\": \"failed\", \"details\": [{\"code\": \"NoCores\"}]}\r\n}"}]}}`, inner{{Code: "Conflict"}, {Code: "ResourceDeploymentFailure", Message: "failed"}, {Code: "NoCores"}}},
		"only a message": {"the JSON may have only a message", `{"error":{"code":"A","details":[{"code":"B","message":"{\"message\":\"m\"}"}]}}`, inner{{Code: "B"}, {Message: "m"}}},
		"only a code":    {"the JSON may have only a code", `{"error":{"code":"A","details":[{"code":"B","message":"{\"code\":\"C\"}"}]}}`, inner{{Code: "B"}, {Code: "C"}}},
		"eight texts":    {"a nested error in eight texts is read", text(8, `{"code":"C"}`), inner{{Code: "C"}}},
		"nine texts":     {"a nested error in nine texts is text", text(9, `{"code":"C"}`), inner{{Message: text(1, `{"code":"C"}`)}}},
		"only details":   {"the JSON may have only details", `{"error":{"code":"A","details":[{"code":"B","message":"{\"details\":[{\"code\":\"C\"}]}"}]}}`, inner{{Code: "B"}, {Code: "C"}}},
		"eight of both":  {"eight nested errors of both lists are read", `{"error":{"code":"A","details":[` + strings.Repeat(`{"code":"B"},`, 7) + `{"code":"B"}],"innererror":{"code":"C"}}}`, slices.Repeat(inner{{Code: "B"}}, 8)},
		"text like JSON": {"any other text is unchanged", `{"error":{"code":"A","details":[{"code":"B","message":"{not JSON"}]}}`, inner{{Code: "B", Message: "{not JSON"}}},
		"odd types":      {"values that are not objects are ignored", `{"error":{"code":"A","message":"a","details":["x",1,null,[{"code":"no"}],{"code":["no"]},{"code":"B"}],"innererror":"x"}}`, inner{{Code: "B"}}},
		"null":           {"null is ignored", `{"error":{"code":"A","message":"a","details":null,"innererror":null}}`, nil},
		"eight":          {"eight nested errors are read", `{"error":{"code":"A","message":"a","details":[` + strings.Repeat(`{"code":"B"},`, 20) + `{"code":"C"}]}}`, slices.Repeat(inner{{Code: "B"}}, 8)},
		"eight deep":     {"a nested error at depth eight is read", `{"error":{"code":"A","message":"a"` + strings.Repeat(`,"innererror":{"x":1`, 7) + `,"innererror":{"code":"B"` + strings.Repeat("}", 10), inner{{Code: "B"}}},
		"nine deep":      {"a nested error at depth nine is ignored", `{"error":{"code":"A","message":"a"` + strings.Repeat(`,"innererror":{"x":1`, 8) + `,"innererror":{"code":"B"` + strings.Repeat("}", 11), nil},
		"very deep":      {"deep nesting costs little", deep(9_000), slices.Repeat(inner{{Code: "In"}}, 8)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := readBody(&http.Response{Body: io.NopCloser(strings.NewReader(c.body))})
			if diff := cmp.Diff(c.want, got.inner); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestReadBodyOfNone(t *testing.T) {
	for name, body := range map[string]io.ReadCloser{"nil": nil, "http.NoBody": http.NoBody} {
		if got := readBody(&http.Response{Body: body}); !reflect.ValueOf(got).IsZero() {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// stalled is a body that returns its start, and then no byte and no error.
type stalled struct {
	start string
	reads int
}

func (s *stalled) Read(b []byte) (int, error) {
	if s.reads++; s.reads == 1 {
		return copy(b, s.start), nil
	}
	return 0, nil
}

// trickle is an endless body that returns one byte per read. It cancels the
// context of the request at a given read.
type trickle struct {
	reads, cancelAt int
	cancel          func()
}

func (r *trickle) Read(b []byte) (int, error) {
	if r.reads++; r.reads == r.cancelAt {
		r.cancel()
	}
	return copy(b[:1], " "), nil
}

// Reading an endless body takes a bounded number of reads, and stops when the
// pass ends.
func TestReadBodyWithoutEnd(t *testing.T) {
	t.Run("Stalled", func(t *testing.T) {
		for start, reads := range map[string]int{"": maxIdle, `{"code":"Conflict","mess`: 1 + maxIdle} {
			body := &stalled{start: start}
			got := readBody(&http.Response{Body: io.NopCloser(body)})
			if got.raw != start || body.reads != reads {
				t.Errorf("the start of a stalled body must be read: got %q after %d reads", got.raw, body.reads)
			}
		}
	})
	t.Run("Slow", func(t *testing.T) {
		body := &trickle{}
		readBody(&http.Response{Body: io.NopCloser(body)})
		if body.reads != maxBody {
			t.Errorf("a slow body must be read up to the limit: got %d reads, want %d", body.reads, maxBody)
		}
	})
	for name, at := range map[string]int{"CanceledBefore": 0, "Canceled": 20} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			body := &trickle{cancelAt: at, cancel: cancel}
			if at == 0 {
				cancel()
			}
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com", nil)
			readBody(&http.Response{Body: io.NopCloser(body), Request: req})
			if want := max(at, 1); body.reads != want {
				t.Errorf("reading must end with the context of the request: got %d reads, want %d", body.reads, want)
			}
		})
	}
	t.Run("InMemory", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com", nil)
		got := readBody(&http.Response{Body: io.NopCloser(strings.NewReader(`{"code":"Conflict","message":"busy"}`)), Request: req})
		if got.message != "busy" {
			t.Errorf("a body in memory must be read after the pass has ended: got message %q", got.message)
		}
	})
}

// The limit is exact: the last byte of 1 MiB is read, and the next one is not.
// The last byte ends the JSON.
func TestReadBodyAtTheLimit(t *testing.T) {
	const start, end = `{"x":"`, `","code":"Conflict","message":"busy"}`
	for extra, want := range []codeMessage{{"Conflict", "busy"}, {}} {
		text := start + strings.Repeat("x", maxBody-len(start)-len(end)+extra) + end
		cached := &http.Response{Body: io.NopCloser(strings.NewReader(text))}
		if _, err := runtime.Payload(cached); err != nil {
			t.Fatal(err)
		}
		for name, resp := range map[string]*http.Response{"read": {Body: io.NopCloser(strings.NewReader(text))}, "cached": cached} {
			got := readBody(resp)
			if diff := cmp.Diff(want, codeMessage{got.code, got.message}); diff != "" {
				t.Errorf("%s, %d bytes too many (-want +got):\n%s", name, extra, diff)
			}
		}
	}
}

func TestReadBodyThatBreaks(t *testing.T) {
	// The body returns a time-out once, and io.EOF from then on.
	resp := &http.Response{Body: io.NopCloser(iotest.TimeoutReader(strings.NewReader(`{"code":"Conflict","mess`)))}
	if got := readBody(resp); got.raw != `{"code":"Conflict","mess` {
		t.Errorf("the start before the error must be read: got %q", got.raw)
	}
	if left, err := io.ReadAll(resp.Body); string(left) != `{"code":"Conflict","mess` || !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("other readers must get the body and its error unchanged: got %q, error %v", left, err)
	}
}

// The corpus is in testdata/fuzz. Each byte of wraps wraps the error once more
// (see wrapped), from the inside out.
func FuzzErrorBody(f *testing.F) {
	f.Fuzz(func(t *testing.T, body []byte, code string, status int, wraps string) {
		bare := respErr(code, status, string(body))
		want := reader.Classify(t, Errors(), bare).Retry()
		response := respErr(code, status, string(body))
		err := error(response)
		for _, w := range []byte(wraps[:min(len(wraps), 32)]) {
			want, err = wrapped(w, want, err)
		}
		c := reader.Classify(t, Errors(), err)
		if c.Retry() != want {
			t.Errorf("wrapped by %q the Retry is %s, want %s", wraps, c.Retry(), want)
		}
		if c.Retry() == classify.OnChange && !listed(c.Code(), classify.OnChange) {
			t.Errorf("code %q is OnChange but not in the table", c.Code())
		}
		if c.Canceled() || c.Fault() != nil {
			t.Errorf("canceled is %t, and the fault is %v", c.Canceled(), c.Fault())
		}
		if !reason.Valid(c.Reason()) {
			t.Errorf("%q is not a valid reason of a condition", c.Reason())
		}
		if c.Message() == "" {
			t.Error("the message is empty")
		}
		for _, r := range []*http.Response{bare.RawResponse, response.RawResponse} {
			if left, err := io.ReadAll(r.Body); !bytes.Equal(left, body) || err != nil {
				t.Errorf("the body changed from %q to %q, error %v", body, left, err)
			}
		}
	})
}

// wrapped wraps an error in one of the usual ways, and returns the Retry of the
// whole.
func wrapped(how byte, r classify.Retry, err error) (classify.Retry, error) {
	switch how {
	case 'w':
		return r, fmt.Errorf("wrapped: %w", err)
	case 'j': // with an unknown error
		return max(r, classify.Slow), errors.Join(errors.New("boom"), err)
	case 'm':
		return max(r, classify.Slow), fmt.Errorf("%w after %w", err, io.ErrUnexpectedEOF)
	case 'n':
		return r, errors.Join(nil, err, nil)
	case 'd': // wraps the error and the deadline; the deadline is not a cause
		return r, &chain.DeadlineError{Link: "slow", After: time.Second, Err: err}
	case 'p': // a panic hides its value
		return classify.Slow, &chain.PanicError{Value: err}
	}
	return r, err
}

// listed reports whether Codes has the code with this Retry.
func listed(code string, r classify.Retry) bool {
	return slices.ContainsFunc(Codes(), func(rule classify.Rule) bool { return rule.Code == code && rule.Retry == r })
}
