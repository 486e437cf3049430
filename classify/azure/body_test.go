package azure

import (
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

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/classify"
)

type codeMessage struct{ Code, Message string }

// shown is the text that people see of a body.
func shown(b body) string { return b.message + b.raw }

func TestReadBody(t *testing.T) {
	cases := map[string]struct {
		reason string
		body   string
		want   codeMessage
	}{
		"error object":        {"what Azure Resource Manager sends", `{"error":{"code":"Conflict","message":"busy","details":[{"code":"Inner","message":"no"}]}}`, codeMessage{"Conflict", "busy"}},
		"details first":       {"what nests deeper is not the error", `{"error":{"details":[{"code":"Inner","message":"no"}],"innererror":{"code":"X"},"code":"Conflict","message":"busy"}}`, codeMessage{"Conflict", "busy"}},
		"operation":           {"a failed operation's status has an error object, too", `{"id":"/x","status":"Failed","error":{"code":"Conflict","message":"busy"}}`, codeMessage{"Conflict", "busy"}},
		"top level":           {"some services leave the object out", `{"code":"Conflict","message":"busy"}`, codeMessage{"Conflict", "busy"}},
		"both":                {"the error object wins wherever it stands", `{"code":"Outer","message":"no","error":{"code":"Conflict","message":"busy"}}`, codeMessage{"Conflict", "busy"}},
		"empty error":         {"an error object wins even if it is empty, as in azcore", `{"error":{},"code":"X"}`, codeMessage{"", `{"error":{},"code":"X"}`}},
		"cut in error":        {"an error object that is cut off wins only if something was read", `{"code":"Conflict","message":"busy","error":{"co`, codeMessage{"Conflict", "busy"}},
		"null error":          {"an error that is null is none", `{"error":null,"code":"Conflict","message":"busy"}`, codeMessage{"Conflict", "busy"}},
		"error list":          {"an error that is a list is none", `{"error":[{"code":"A"}],"code":"Conflict","message":"busy"}`, codeMessage{"Conflict", "busy"}},
		"odata":               {"the tables' form", `{"odata.error":{"code":"TableNotFound","message":{"lang":"en-US","value":"no such table"}}}`, codeMessage{"TableNotFound", "no such table"}},
		"oauth":               {"the form of token endpoints", `{"error":"invalid_client","error_description":"secret expired"}`, codeMessage{"invalid_client", "secret expired"}},
		"case":                {"some services write keys in upper case", `{"Error":{"Code":"Conflict","Message":"busy"}}`, codeMessage{"Conflict", "busy"}},
		"number":              {"a number is a code, too", `{"error":{"code":404,"message":"gone"}}`, codeMessage{"404", "gone"}},
		"huge number":         {"a number need not fit", `{"error":{"code":1e999,"message":"gone"}}`, codeMessage{"1e999", "gone"}},
		"twice":               {"of several the first counts", `{"error":{"code":"Conflict","Code":"Other","message":{"value":"busy","Value":""}},"error":{"code":"Third","message":"no"}}`, codeMessage{"Conflict", "busy"}},
		"odd types":           {"what is no text is not there", `{"error":{"code":{"a":[1]},"message":[true]}}`, codeMessage{"", `{"error":{"code":{"a":[1]},"message":[true]}}`}},
		"no message":          {"a code alone is enough", `{"error":{"code":"Conflict"}}`, codeMessage{"Conflict", ""}},
		"no code":             {"a message alone is enough", `{"error":{"message":" busy\n"}}`, codeMessage{"", "busy"}},
		"byte order mark":     {"a byte order mark is no part of the text", "\xef\xbb\xbf {\"code\":\"Conflict\",\"message\":\"busy\"}", codeMessage{"Conflict", "busy"}},
		"empty":               {"nothing gives nothing", "", codeMessage{}},
		"blank":               {"nothing gives nothing", " \r\n\t", codeMessage{}},
		"text":                {"what is not JSON is shown", " Bad gateway\n", codeMessage{"", "Bad gateway"}},
		"html":                {"what is not JSON is shown", "<html>502</html>", codeMessage{"", "<html>502</html>"}},
		"other JSON":          {"JSON without an error is shown", `{"status":"Failed"}`, codeMessage{"", `{"status":"Failed"}`}},
		"JSON list":           {"JSON that is no object is shown", `[1,2]`, codeMessage{"", "[1,2]"}},
		"null":                {"JSON that is no object is shown", `null`, codeMessage{"", "null"}},
		"empty texts":         {"empty texts say nothing, so the body is shown", `{"error":{"code":"","message":""}}`, codeMessage{"", `{"error":{"code":"","message":""}}`}},
		"cut in details":      {"what came before the cut counts", `{"error":{"code":"Conflict","message":"busy","details":[{"co`, codeMessage{"Conflict", "busy"}},
		"cut in message":      {"a message that is cut off is shown as it came", `{"error":{"code":"Conflict","message":"bu`, codeMessage{"Conflict", `{"error":{"code":"Conflict","message":"bu`}},
		"broken behind":       {"what came before the fault counts", `{"code":"Conflict","message":"busy",}`, codeMessage{"Conflict", "busy"}},
		"not UTF-8":           {"what is shown is valid text", "bad \xff byte", codeMessage{"", "bad \uFFFD byte"}},
		"long text":           {"of text a KiB is shown", strings.Repeat("x", 5000), codeMessage{"", strings.Repeat("x", 1024)}},
		"long text, two-byte": {"and no character is cut", "x" + strings.Repeat("é", 5000), codeMessage{"", "x" + strings.Repeat("é", 511)}},
		"nesting":             {"however deep it nests", `{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `,"code":"Conflict","message":"busy"}`, codeMessage{"Conflict", "busy"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			resp := &http.Response{Body: io.NopCloser(strings.NewReader(c.body))}
			for range 2 {
				got := readBody(resp)
				if diff := cmp.Diff(c.want, codeMessage{got.code, shown(got)}); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.reason, diff)
				}
			}
			if left, err := io.ReadAll(resp.Body); string(left) != c.body || err != nil {
				t.Errorf("the body must stay readable: got %d bytes and error %v, want %d bytes", len(left), err, len(c.body))
			}
		})
	}
}

func TestReadBodyInner(t *testing.T) {
	type inner = []classify.InnerError
	deep := func(n int) string {
		return `{"error":{"code":"Top","message":"top"` + strings.Repeat(`,"innererror":{"code":"In"`, n) + strings.Repeat("}", n+2)
	}
	cases := map[string]struct {
		reason string
		body   string
		want   inner
	}{
		"details":          {"the errors of the parts of a request", `{"error":{"code":"DeploymentFailed","message":"see details","details":[{"code":"QuotaExceeded","message":"no cores","target":"x"},{"code":"Conflict","message":"busy"}]}}`, inner{{Code: "QuotaExceeded", Message: "no cores"}, {Code: "Conflict", Message: "busy"}}},
		"innererror":       {"the cause of an error", `{"error":{"code":"BadRequest","message":"no","innererror":{"code":"PasswordError","innererror":{"code":"PasswordTooShort","message":"8 at least"}}}}`, inner{{Code: "PasswordError"}, {Code: "PasswordTooShort", Message: "8 at least"}}},
		"nested details":   {"details of details follow them", `{"error":{"code":"A","message":"a","details":[{"code":"B","message":"b","details":[{"code":"C"}]},{"code":"D"}]}}`, inner{{Code: "B", Message: "b"}, {Code: "C"}, {Code: "D"}}},
		"children first":   {"the outer error comes first wherever it stands", `{"error":{"innererror":{"innererror":{"code":"C"},"code":"B"},"code":"A","message":"a"}}`, inner{{Code: "B"}, {Code: "C"}}},
		"top level":        {"errors without an error object have them, too", `{"code":"A","message":"a","details":[{"code":"B"}]}`, inner{{Code: "B"}}},
		"top level's":      {"those of the top level do not belong to an error object", `{"details":[{"code":"X"}],"error":{"code":"A","message":"a","details":[{"code":"B"}]}}`, inner{{Code: "B"}}},
		"case":             {"some services write keys in other letters", `{"Error":{"Code":"A","Message":"a","innerError":{"Code":"B"},"Details":[{"Code":"C"}]}}`, inner{{Code: "B"}, {Code: "C"}}},
		"one object":       {"one detail need not be in a list", `{"error":{"code":"A","details":{"code":"B","message":"b"}}}`, inner{{Code: "B", Message: "b"}}},
		"text of JSON":     {"the answer of another service is a text in a detail", `{"error":{"code":"DeploymentFailed","message":"see details","details":[{"code":"Conflict","message":"{\r\n  \"status\": \"Failed\",\r\n  \"error\": {\r\n    \"code\": \"ResourceDeploymentFailure\",\r\n    \"message\": \"failed\", \"details\": [{\"code\": \"NoCores\"}]}\r\n}"}]}}`, inner{{Code: "Conflict"}, {Code: "ResourceDeploymentFailure", Message: "failed"}, {Code: "NoCores"}}},
		"text like JSON":   {"any other text stays as it is", `{"error":{"code":"A","details":[{"code":"B","message":"{not JSON"}]}}`, inner{{Code: "B", Message: "{not JSON"}}},
		"only inner":       {"an error may have no more than a cause", `{"error":{"innererror":{"code":"B"}}}`, inner{{Code: "B"}}},
		"odd types":        {"other values are no errors", `{"error":{"code":"A","message":"a","details":["x",1,null,[{"code":"no"}],{"code":["no"]},{"code":"B"}],"innererror":"x"}}`, inner{{Code: "B"}}},
		"null":             {"null is no list", `{"error":{"code":"A","message":"a","details":null,"innererror":null}}`, nil},
		"empty":            {"an empty object says nothing", `{"error":{"code":"A","message":"a","details":[{},{"target":"x"}],"innererror":{}}}`, nil},
		"eight":            {"eight are read", `{"error":{"code":"A","message":"a","details":[` + strings.Repeat(`{"code":"B"},`, 20) + `{"code":"C"}]}}`, slices.Repeat(inner{{Code: "B"}}, 8)},
		"eight deep":       {"as deep as eight", `{"error":{"code":"A","message":"a"` + strings.Repeat(`,"innererror":{"x":1`, 7) + `,"innererror":{"code":"B"` + strings.Repeat("}", 10), inner{{Code: "B"}}},
		"nine deep":        {"and no deeper", `{"error":{"code":"A","message":"a"` + strings.Repeat(`,"innererror":{"x":1`, 8) + `,"innererror":{"code":"B"` + strings.Repeat("}", 11), nil},
		"cut in a detail":  {"a part of a detail counts as far as it goes", `{"error":{"code":"A","message":"a","details":[{"code":"B","message":"b"},{"code":"C","mess`, inner{{Code: "B", Message: "b"}, {Code: "C"}}},
		"cut in the depth": {"at any depth", `{"error":{"code":"A","message":"a","innererror":{"code":"B","innererror":{"code":"C","x":[[{`, inner{{Code: "B"}, {Code: "C"}}},
		"very deep":        {"nesting does not use up the stack", deep(100_000), slices.Repeat(inner{{Code: "In"}}, 8)},
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

// counter counts what is read from it, and whether it was closed.
type counter struct {
	io.Reader
	read   int
	closed bool
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.read += n
	return n, err
}

func (c *counter) Close() error { c.closed = true; return nil }

func TestReadBodyOfTenMegabytes(t *testing.T) {
	whole := `{"error":{"code":"Conflict","message":"busy","details":"` + strings.Repeat("x", 10<<20) + `"}}`
	cases := map[string]struct{ body string }{
		"JSON": {whole},
		"text": {strings.Repeat("y", 10<<20)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			body := &counter{Reader: strings.NewReader(c.body)}
			resp := &http.Response{Body: body}
			got := readBody(resp)
			code, message := got.code, shown(got)
			if name == "JSON" && (code != "Conflict" || message != "busy") {
				t.Errorf("code and message come before the cut: got %q, %.100q", code, message)
			}
			if len(message) > maxText {
				t.Errorf("the message has %d bytes", len(message))
			}
			if body.read > maxBody {
				t.Errorf("%d bytes were read, more than %d", body.read, maxBody)
			}
			if left, err := io.ReadAll(resp.Body); string(left) != c.body || err != nil {
				t.Errorf("the body must stay readable: got %d bytes and error %v, want %d bytes", len(left), err, len(c.body))
			}
			if body.closed {
				t.Error("reading the body closed it")
			}
			if err := resp.Body.Close(); err != nil || !body.closed {
				t.Errorf("closing the body must close it: error %v", err)
			}
		})
	}
}

// stalled returns a JSON start, and then no byte and no error for ever.
type stalled struct{ reads int }

func (s *stalled) Read(b []byte) (int, error) {
	if s.reads++; s.reads == 1 {
		return copy(b, `{"code":"Conflict","mess`), nil
	}
	return 0, nil
}

// trickle returns one byte a read, without an end. The context of its request
// ends with the read of this number.
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

// A body that never ends costs a bounded number of reads, and no time after the
// pass has ended.
func TestReadBodyWithoutEnd(t *testing.T) {
	t.Run("Stalled", func(t *testing.T) {
		body := &stalled{}
		got := readBody(&http.Response{Body: io.NopCloser(body)})
		if got.code != "Conflict" || body.reads != 1+maxIdle {
			t.Errorf("the body before it stalls counts: got code %q after %d reads", got.code, body.reads)
		}
	})
	t.Run("Slow", func(t *testing.T) {
		body := &trickle{}
		readBody(&http.Response{Body: io.NopCloser(body)})
		if body.reads != maxBody {
			t.Errorf("a slow body is read up to the limit: got %d reads, want %d", body.reads, maxBody)
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
				t.Errorf("the context of the request ends the reading: got %d reads, want %d", body.reads, want)
			}
		})
	}
	t.Run("InMemory", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com", nil)
		got := readBody(&http.Response{Body: io.NopCloser(strings.NewReader(`{"code":"Conflict","message":"busy"}`)), Request: req})
		if got.message != "busy" {
			t.Errorf("a body in memory is read after the pass has ended: got message %q", got.message)
		}
	})
}

// The limit is exact: the last byte of a MiB counts, and the byte after it does
// not. The last byte ends the message.
func TestReadBodyAtTheLimit(t *testing.T) {
	const start, end = `{"x":"`, `","code":"Conflict","message":"busy"`
	for extra, want := range []codeMessage{{"Conflict", "busy"}, {"Conflict", ""}} {
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

func TestReadBodyThatAzcoreCached(t *testing.T) {
	const body = `{"error":{"code":"Conflict","message":"busy"}}`
	resp := &http.Response{StatusCode: 409, Body: io.NopCloser(strings.NewReader(body)), Request: &http.Request{}}
	if _, err := runtime.Payload(resp); err != nil {
		t.Fatal(err)
	}
	start := make([]byte, 10)
	if _, err := io.ReadFull(resp.Body, start); err != nil {
		t.Fatal(err)
	}
	cached := resp.Body
	if got := readBody(resp); got.message != "busy" {
		t.Errorf("the whole cached body counts, wherever its reader is: got message %q", got.message)
	}
	if resp.Body != cached {
		t.Error("a cached body was replaced")
	}
	if left, _ := io.ReadAll(resp.Body); string(left) != body[len(start):] {
		t.Errorf("the body was moved: what is left is %q", left)
	}
}

func TestReadBodyThatAzcoreCachedLimits(t *testing.T) {
	body := `{"x":"` + strings.Repeat("x", maxBody) + `","code":"Conflict"}`
	resp := &http.Response{Body: io.NopCloser(strings.NewReader(body))}
	if _, err := runtime.Payload(resp); err != nil {
		t.Fatal(err)
	}
	if got := readBody(resp); got.code != "" || len(shown(got)) != maxText {
		t.Errorf("of a cached body, too, a MiB counts: got code %q and a message of %d bytes", got.code, len(shown(got)))
	}
}

func TestReadBodyAgain(t *testing.T) {
	resp := &http.Response{Body: io.NopCloser(strings.NewReader(`{"error":{"code":"Conflict","message":"busy"}}`))}
	readBody(resp)
	if _, err := io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	if got := readBody(resp); got.code != "Conflict" || got.message != "busy" {
		t.Errorf("a body that was read once stays readable: got %q, %q", got.code, got.message)
	}
}

func TestReadBodyThenAzcore(t *testing.T) {
	const body = `{"error":{"code":"Conflict","message":"busy"}}`
	resp := &http.Response{Body: io.NopCloser(strings.NewReader(body))}
	readBody(resp)
	if got, err := runtime.Payload(resp); string(got) != body || err != nil {
		t.Errorf("azcore must find the body as it was: got %q, error %v", got, err)
	}
	if got := readBody(resp); got.message != "busy" {
		t.Errorf("and it can be read again: got message %q", got.message)
	}
}

func TestReadBodyThatBreaks(t *testing.T) {
	// It breaks once, and would give the end of the file from then on.
	resp := &http.Response{Body: io.NopCloser(iotest.TimeoutReader(strings.NewReader(`{"code":"Conflict","mess`)))}
	if got := readBody(resp); got.code != "Conflict" {
		t.Errorf("what came before the break counts: got code %q", got.code)
	}
	if left, err := io.ReadAll(resp.Body); string(left) != `{"code":"Conflict","mess` || !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("others must find the body as it was, its error too: got %q, error %v", left, err)
	}
}

func TestReadBodyOfAnyJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 40, -1)
		code := rapid.StringMatching(`[A-Za-z]{1,20}`).Draw(t, "code")
		message := rapid.StringMatching(`[A-Za-z][ -~]{0,30}[a-z]`).Draw(t, "message")
		noise := func(label string) string {
			return fmt.Sprintf("%q:%s,", "x"+rapid.StringMatching(`[a-z]*`).Draw(t, label+" key"), rapid.SampledFrom([]string{`1`, `null`, `true`, `"code"`, `{"code":"Wrong"}`, `[{"message":"wrong"}]`}).Draw(t, label))
		}
		body := fmt.Sprintf(`{%s"error":{%s"code":%q,%s"message":%q,%s"z":0},"y":%q}`, noise("a"), noise("b"), code, noise("c"), message, noise("d"), strings.Map(printable, text.Draw(t, "tail")))
		got := readBody(&http.Response{Body: io.NopCloser(iotest.OneByteReader(strings.NewReader(body)))})
		if got.code != code || got.message != message {
			t.Fatalf("got %q, %q of %s", got.code, got.message, body)
		}
	})
}

func printable(r rune) rune {
	if r < ' ' || r > '~' || r == '"' || r == '\\' {
		return '.'
	}
	return r
}
