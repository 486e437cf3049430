package classify

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/reason"
)

type codeMessage struct{ Code, Message string }

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
		"null error":          {"an error that is null is none", `{"error":null,"code":"Conflict","message":"busy"}`, codeMessage{"Conflict", "busy"}},
		"error list":          {"an error that is a list is none", `{"error":[{"code":"A"}],"code":"Conflict","message":"busy"}`, codeMessage{"Conflict", "busy"}},
		"odata":               {"the tables' form", `{"odata.error":{"code":"TableNotFound","message":{"lang":"en-US","value":"no such table"}}}`, codeMessage{"TableNotFound", "no such table"}},
		"oauth":               {"the form of token endpoints", `{"error":"invalid_client","error_description":"secret expired"}`, codeMessage{"invalid_client", "secret expired"}},
		"case":                {"some services write keys in upper case", `{"Error":{"Code":"Conflict","Message":"busy"}}`, codeMessage{"Conflict", "busy"}},
		"number":              {"a number is a code, too", `{"error":{"code":404,"message":"gone"}}`, codeMessage{"404", "gone"}},
		"huge number":         {"a number need not fit", `{"error":{"code":1e999,"message":"gone"}}`, codeMessage{"1e999", "gone"}},
		"twice":               {"of several the first counts", `{"error":{"code":"Conflict","Code":"Other","message":{"value":"busy","Value":""}},"error":{"code":"Third","message":"no"}}`, codeMessage{"Conflict", "busy"}},
		"odd types":           {"what is no text is not there", `{"error":{"code":{"a":[1]},"message":[true]},"code":"Conflict","message":"busy"}`, codeMessage{"Conflict", "busy"}},
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
				code, message := readBody(resp)
				if diff := cmp.Diff(c.want, codeMessage{code, message}); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.reason, diff)
				}
			}
			if left, err := io.ReadAll(resp.Body); string(left) != c.body || err != nil {
				t.Errorf("the body must stay readable: got %d bytes and error %v, want %d bytes", len(left), err, len(c.body))
			}
		})
	}
}

func TestReadBodyOfNone(t *testing.T) {
	for name, body := range map[string]io.ReadCloser{"nil": nil, "http.NoBody": http.NoBody} {
		if code, message := readBody(&http.Response{Body: body}); code != "" || message != "" {
			t.Errorf("%s: got %q, %q", name, code, message)
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
			code, message := readBody(resp)
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
	if _, message := readBody(resp); message != "busy" {
		t.Errorf("the whole cached body counts, wherever its reader is: got message %q", message)
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
	if code, message := readBody(resp); code != "" || len(message) != maxText {
		t.Errorf("of a cached body, too, a MiB counts: got code %q and a message of %d bytes", code, len(message))
	}
}

func TestReadBodyAgain(t *testing.T) {
	resp := &http.Response{Body: io.NopCloser(strings.NewReader(`{"error":{"code":"Conflict","message":"busy"}}`))}
	readBody(resp)
	if _, err := io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	if code, message := readBody(resp); code != "Conflict" || message != "busy" {
		t.Errorf("what was read once stays known, whoever read the body: got %q, %q", code, message)
	}
}

func TestReadBodyThenAzcore(t *testing.T) {
	const body = `{"error":{"code":"Conflict","message":"busy"}}`
	resp := &http.Response{Body: io.NopCloser(strings.NewReader(body))}
	readBody(resp)
	if got, err := runtime.Payload(resp); string(got) != body || err != nil {
		t.Errorf("azcore must find the body as it was: got %q, error %v", got, err)
	}
	if _, message := readBody(resp); message != "busy" {
		t.Errorf("and it can be read again: got message %q", message)
	}
}

func TestReadBodyThatBreaks(t *testing.T) {
	// It breaks once, and would give the end of the file from then on.
	resp := &http.Response{Body: io.NopCloser(iotest.TimeoutReader(strings.NewReader(`{"code":"Conflict","mess`)))}
	if code, _ := readBody(resp); code != "Conflict" {
		t.Errorf("what came before the break counts: got code %q", code)
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
		gotCode, gotMessage := readBody(&http.Response{Body: io.NopCloser(iotest.OneByteReader(strings.NewReader(body)))})
		if gotCode != code || gotMessage != message {
			t.Fatalf("got %q, %q of %s", gotCode, gotMessage, body)
		}
	})
}

func printable(r rune) rune {
	if r < ' ' || r > '~' || r == '"' || r == '\\' {
		return '.'
	}
	return r
}

// The corpus is in testdata/fuzz. wraps says what is put around the error, from the inside out, see wrapped.
func FuzzErrorBody(f *testing.F) {
	f.Fuzz(func(t *testing.T, body []byte, code string, status int, wraps string) {
		bare := respErr(code, status, string(body))
		want := classifyBy(t, NewFailure(bare, "", noon)).Retry()
		response := respErr(code, status, string(body))
		err := error(response)
		for _, w := range []byte(wraps[:min(len(wraps), 32)]) {
			want, err = wrapped(w, want, err)
		}
		c := classifyBy(t, NewFailure(err, "", noon))
		if c.Retry() != want {
			t.Errorf("wrapped by %q it is tried again %s, want %s", wraps, c.Retry(), want)
		}
		if c.Retry() == OnChange && !listed(c.Code(), OnChange) {
			t.Errorf("%q is no code that waits for a change", c.Code())
		}
		if c.Canceled() || c.Fault() != nil {
			t.Errorf("canceled is %t, and what went wrong while classifying %v", c.Canceled(), c.Fault())
		}
		if !reason.Valid(c.Reason()) {
			t.Errorf("%q is no reason of a condition", c.Reason())
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

// wrapped wraps an error in one of the ways in which errors are, and says how soon the whole is to be tried again.
func wrapped(how byte, r Retry, err error) (Retry, error) {
	switch how {
	case 'w':
		return r, fmt.Errorf("wrapped: %w", err)
	case 'j': // with one that is not known
		return max(r, Slow), errors.Join(errors.New("boom"), err)
	case 'm':
		return max(r, Slow), fmt.Errorf("%w after %w", err, io.ErrUnexpectedEOF)
	case 'n':
		return r, errors.Join(nil, err, nil)
	case 'd': // names what it wraps, and joins it with a deadline that is no cause of its own
		return r, &chain.DeadlineError{Link: "slow", After: time.Second, Err: err}
	case 'p': // it is the panic that counts then
		return Slow, &chain.PanicError{Value: err}
	}
	return r, err
}

// listed tells whether a code is one that AzureCodes give a Retry.
func listed(code string, r Retry) bool {
	return slices.ContainsFunc(AzureCodes(), func(rule Rule) bool { return strings.EqualFold(rule.Code, code) && rule.Retry == r })
}
