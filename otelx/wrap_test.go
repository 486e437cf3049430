package otelx_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/otelfake"
	"github.com/windlass-go/windlass/otelx"
)

// Span and Log name a link and show its verdicts. A panic continues with its
// value.
func TestSpanAndLog(t *testing.T) {
	rec := &recording{}
	ctx := rec.context(t, 9)
	spanned := otelx.Span("quota", around, otelx.WithTracerProvider(&rec.Recorder))
	logged := otelx.Log("audit", around)
	c := chain.New(spanned, logged)
	if got := c.String(); got != "quota -> audit" {
		t.Errorf("the chain lists %s", got)
	}
	h := c.Then(func(_ context.Context, fail bool) (int, error) {
		if fail {
			panic(errSecret)
		}
		return 1, nil
	})
	if n, err := h(ctx, false); n != 1 || err != nil {
		t.Error(n, err)
	}
	func() {
		defer func() {
			if v := recover(); v != error(errSecret) {
				t.Errorf("the panic has the value %v", v)
			}
		}()
		_, _ = h(ctx, true)
	}()
	mustEqual(t, "each call has a span", []string{" > quota: proceed", " > quota: panic, exception"}, tree(t, rec))
	mustEqual(t, "each call has lines", []string{
		"level=2 msg=link started link=audit", "level=2 msg=link ended link=audit verdict=proceed",
		"level=2 msg=link started link=audit", "level=2 msg=link ended link=audit verdict=panic errorType=*errors.errorString",
	}, rec.lines)
	off := chain.New(otelx.Span("quota", around, otelx.WithTracerProvider(nil)))
	if n, err := off.Then(func(context.Context, bool) (int, error) { return 2, errors.ErrUnsupported })(ctx, false); n != 2 || err != errors.ErrUnsupported || off.String() != "quota" {
		t.Errorf("without a provider, Span only names the link: %d, %v, %s", n, err, off)
	}
}

// The span of a panic has the type of the value, and the text if an option
// shows it.
func TestPanicsOfLinks(t *testing.T) {
	cases := map[string]struct {
		reason string
		opts   []otelx.Option
		want   attrs
	}{
		"NoText": {"without the option, there is no text", nil, attrs{"exception.type": "*errors.errorString"}},
		"Text":   {"the option adds the text", []otelx.Option{otelx.WithErrorText(100)}, attrs{"exception.type": "*errors.errorString", "exception.message": "the password is hunter2"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rec := &recording{}
			func() {
				defer func() { _ = recover() }()
				_, _ = otelx.Span("span", around, append(tc.opts, otelx.WithTracerProvider(&rec.Recorder))...)(func(context.Context, bool) (int, error) { panic(errSecret) })(t.Context(), true)
			}()
			mustEqual(t, tc.reason, tc.want, rec.Spans[0].Events[0].Attributes)
		})
	}
	rec := &recording{Recorder: otelfake.Recorder{Drop: func(string) bool { return true }}}
	_, _ = otelx.Span("span", around, otelx.WithTracerProvider(&rec.Recorder))(func(context.Context, bool) (int, error) { return 1, nil })(t.Context(), true)
	mustEqual(t, "a dropped span ends, and gets no attributes or events", []*span{{Name: "span", Ended: 1, Attributes: attrs{"windlass.link": "span"}}}, rec.Spans)
}

// texts counts the calls of its method String.
type texts struct{ n *int }

func (x texts) String() string { *x.n++; return "text" }

// Without WithErrorText, no text is made of the value of a panic.
func TestTextOnRequest(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		opts   []otelx.Option
		want   int
	}{
		"Off": {"the text is not made", nil, 0},
		"On":  {"the text is made once", []otelx.Option{otelx.WithErrorText(9)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			rec, n := &recording{}, 0
			h := otelx.Span("span", around, append(tc.opts, otelx.WithTracerProvider(&rec.Recorder))...)(func(context.Context, bool) (int, error) { panic(texts{&n}) })
			func() {
				defer func() { _ = recover() }()
				_, _ = h(t.Context(), true)
			}()
			mustEqual(t, tc.reason, tc.want, n)
		})
	}
}

// Span and Log keep the tag of the link, so that flow.New refuses a check of
// the owner without Operations.Owner.
func TestWrappedChecksKeepTheirTag(t *testing.T) {
	rec := &recording{}
	ready := checks.OnOwner[*pool](checks.OwnerReady())
	for name, link := range map[string]checks.Middleware[*pool]{
		"Span": otelx.Span("ready", ready, otelx.WithTracerProvider(&rec.Recorder)),
		"Log":  otelx.Log("ready", ready),
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, "Operations.Owner is nil") {
					t.Errorf("flow.New accepts the check: %q", text)
				}
			}()
			flow.New("Pool", flow.Operations[*pool]{
				Key:   func(p *pool) string { return p.name },
				Apply: func(context.Context, *flow.Request[*pool]) (flow.Progress, error) { return flow.Done(), nil },
			}, flow.Extensions[*pool]{PreCheck: chain.New(link)})
		})
	}
}
