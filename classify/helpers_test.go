package classify

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// reply is the error of a service that these tests invent.
type reply struct {
	code    string
	status  int
	message string
	header  http.Header
	inner   []InnerError
	ended   bool
}

func (r *reply) Error() string { return "reply " + r.code }

// respErr returns an error of the invented service.
func respErr(code string, status int, message string, header ...string) *reply {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &reply{code: code, status: status, message: message, header: h}
}

// readReply is the Reader of the invented service.
func readReply(f *Failure) bool {
	r, ok := errors.AsType[*reply](f.Err)
	if !ok || r == nil {
		return false
	}
	f.Code, f.Status, f.Message, f.Inner, f.Ended = r.code, r.status, r.message, r.inner, r.ended
	f.After = f.RetryAfter(r.header)
	f.ReadStatus()
	return true
}

// serviceCodes are the codes of the invented service.
var serviceCodes = Table{
	{Code: "Conflict", Retry: Slow},
	{Code: "NotFound", Retry: Slow},
	{Code: "BadRequest", Retry: VerySlow},
	{Code: "ScopeLocked", Retry: VerySlow},
	{Code: "InvalidTemplate", Retry: OnChange},
}

// theService knows the errors of the invented service.
var theService = NewErrors("service", readReply, serviceCodes)

// newFailure reads an error of the invented service.
func newFailure(err error, apiVersion string, now time.Time) *Failure {
	return NewFailure(err, apiVersion, now, theService)
}

// ofService is a failure with a code of the invented service.
func ofService(code string) *Failure { return newFailure(respErr(code, 0, ""), "", noon) }

// classifyBy classifies f by the links and the default.
func classifyBy(t testing.TB, f *Failure, links ...Middleware) Classification {
	t.Helper()
	return classifyIn(t, context.Background(), f, links...)
}

func classifyIn(t testing.TB, ctx context.Context, f *Failure, links ...Middleware) Classification {
	t.Helper()
	c, err := Compose(chain.New(links...))(ctx, f)
	if err != nil {
		t.Fatalf("a composed handler returned an error: %v", err)
	}
	if c.IsZero() {
		t.Fatal("a composed handler returned the zero Classification")
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

// observer is called for each link that is left.
type observer func(*chain.Link, chain.Exit)

func (observer) Enabled(context.Context) bool                                { return true }
func (observer) Enter(ctx context.Context, _ *chain.Link) context.Context    { return ctx }
func (o observer) Exit(_ context.Context, link *chain.Link, exit chain.Exit) { o(link, exit) }
