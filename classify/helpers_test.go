package classify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// reply is an error of the test service.
type reply struct {
	code    string
	status  int
	message string
	header  http.Header
	inner   []InnerError
	ended   bool
}

func (r *reply) Error() string { return "reply " + r.code }

// respErr returns an error of the test service, with a header of keys and
// values.
func respErr(code string, status int, message string, header ...string) *reply {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &reply{code: code, status: status, message: message, header: h}
}

// readReply is the reader of the test service.
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

// serviceCodes is the table of the test service.
var serviceCodes = Table{
	{Code: "Conflict", Retry: Slow},
	{Code: "NotFound", Retry: Slow},
	{Code: "BadRequest", Retry: VerySlow},
	{Code: "ScopeLocked", Retry: VerySlow},
	{Code: "InvalidTemplate", Retry: OnChange},
}

// theService is the Errors of the test service.
var theService = NewErrors("service", readReply, serviceCodes)

// newFailure reads an error with the reader of the test service.
func newFailure(err error, apiVersion string, now time.Time) *Failure {
	return NewFailure(err, apiVersion, now, theService)
}

// classifyBy classifies f by the links and the tables after them.
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

// drawTree draws an error whose causes are leaves, wrapped and joined in any way.
func drawTree(t *rapid.T, depth int, leaf *rapid.Generator[error]) (leaves []error, err error) {
	inner := func() error {
		more, err := drawTree(t, depth-1, leaf)
		leaves = append(leaves, more...)
		return err
	}
	kind := 0
	if depth > 0 {
		kind = rapid.IntRange(0, 3).Draw(t, "kind")
	}
	switch kind {
	case 1:
		err = fmt.Errorf("wrap: %w", inner())
	case 2:
		err = fmt.Errorf("both: %w, %w", inner(), inner())
	case 3:
		errs := make(joinOf, rapid.IntRange(1, 4).Draw(t, "branches"))
		for i := range errs {
			if i == 0 || rapid.IntRange(0, 4).Draw(t, "nil") > 0 {
				errs[i] = inner()
			}
		}
		err = errs
	default:
		err = leaf.Draw(t, "leaf")
		leaves = append(leaves, err)
	}
	return leaves, err
}

// panicText returns the text of fn's panic; empty if fn does not panic.
func panicText(fn func()) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = v.(string)
		}
	}()
	fn()
	return ""
}

// facts holds the parts of a Classification that tests compare.
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

// observer is called at the exit of each link.
type observer func(*chain.Link, chain.Exit)

func (observer) Enabled(context.Context) bool                                { return true }
func (observer) Enter(ctx context.Context, _ *chain.Link) context.Context    { return ctx }
func (o observer) Exit(_ context.Context, link *chain.Link, exit chain.Exit) { o(link, exit) }
