package classify

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/windlass-go/windlass/chain"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// respErr is an error as a client gives it, with its body not read yet. The body may be empty.
func respErr(code string, status int, body string, header ...string) *azcore.ResponseError {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	resp := &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
	return &azcore.ResponseError{ErrorCode: code, StatusCode: status, RawResponse: resp}
}

// classifyBy classifies f by the links and the default.
func classifyBy(t testing.TB, f *Failure, links ...Middleware) Classification {
	t.Helper()
	return classifyIn(t, context.Background(), f, links...)
}

func classifyIn(t testing.TB, ctx context.Context, f *Failure, links ...Middleware) Classification {
	t.Helper()
	c, err := Compose(chain.New(links...))(ctx, f)
	if err != nil {
		t.Fatalf("a composed handler gave an error: %v", err)
	}
	if c.IsZero() {
		t.Fatal("a composed handler gave the zero Classification")
	}
	return c
}

// panicText is the text of fn's panic, or empty.
func panicText(fn func()) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = v.(string)
		}
	}()
	fn()
	return ""
}

// facts is what tests compare of a Classification.
type facts struct {
	Retry         Retry
	After         time.Duration
	Code, Message string
	Rule          string
	Canceled      bool
}

func factsOf(c Classification) facts {
	return facts{c.Retry(), c.After(), c.Code(), c.Message(), c.Rule(), c.Canceled()}
}

type ctx = context.Context

// observer is told of each link that is left.
type observer func(*chain.Link, chain.Exit)

func (observer) Enabled(context.Context) bool                                { return true }
func (observer) Enter(ctx context.Context, _ *chain.Link) context.Context    { return ctx }
func (o observer) Exit(_ context.Context, link *chain.Link, exit chain.Exit) { o(link, exit) }
