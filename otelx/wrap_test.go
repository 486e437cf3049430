package otelx_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/pass"
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

// texts counts the calls of its method String.
type texts struct{ n *int }

func (x texts) String() string { *x.n++; return "text" }

// The span of a panic has the type of the value, and the text if an option
// shows it. Otherwise no text is made.
func TestPanicsOfLinks(t *testing.T) {
	var made []int // how often the text is made
	for _, opts := range [][]otelx.Option{nil, {otelx.WithErrorText(9)}} {
		rec, n := &recording{}, 0
		func() {
			defer func() { _ = recover() }()
			fails := func(context.Context, bool) (int, error) { panic(texts{&n}) }
			_, _ = otelx.Span("span", around, append(opts, otelx.WithTracerProvider(&rec.Recorder))...)(fails)(t.Context(), true)
		}()
		want := attrs{"exception.type": "otelx_test.texts"}
		if opts != nil {
			want["exception.message"] = "text"
		}
		mustEqual(t, "the exception", want, rec.Spans[0].Events[0].Attributes)
		made = append(made, n)
	}
	mustEqual(t, "texts without and with the option", []int{0, 1}, made)
	rec := &recording{Recorder: otelfake.Recorder{Drop: func(string) bool { return true }}}
	_, _ = otelx.Span("span", around, otelx.WithTracerProvider(&rec.Recorder))(func(context.Context, bool) (int, error) { return 1, nil })(t.Context(), true)
	mustEqual(t, "a dropped span ends, and gets no attributes or events", []*span{{Name: "span", Ended: 1, Attributes: attrs{"windlass.link": "span"}}}, rec.Spans)
}

// Span and Log keep the tag of the link, so that flow.New refuses a check of
// the owner without Operations.Owner.
func TestWrappedChecksKeepTheirTag(t *testing.T) {
	ready := checks.OnOwner[*pool](checks.OwnerReady())
	links := chain.New(ready, otelx.Span("span", ready, otelx.WithTracerProvider(&recording{})), otelx.Log("log", ready)).Links()
	tags := []string{fmt.Sprint(links[0].Tag), fmt.Sprint(links[1].Tag), fmt.Sprint(links[2].Tag)}
	if links[0].Tag == nil || len(slices.Compact(tags)) != 1 {
		t.Errorf("the tags are %q", tags)
	}
}

// The span, the line and the metrics of a pass are right for any engine: keys,
// rules and classes are bounded, and missing facts are left out.
func TestPassOfAnyEngine(t *testing.T) {
	huge := strings.Repeat("x", 5000)
	word, text := huge[:178]+"... (4,822 bytes more)", huge[:978]+"... (4,022 bytes more)"
	failed := errors.New("failed")
	cases := map[string]struct {
		reason string
		key    string
		class  func(error) string
		exit   chain.Exit
		want   attrs
		line   string
		series string
	}{
		"LongKey": {"a key is bounded", huge, nil, chain.Exit{Result: result{verdict: "ready"}},
			attrs{"windlass.key": text, "windlass.verdict": "ready"},
			"reconciler=Pool key=" + text + " verdict=ready", "windlass.reconciler=Pool,windlass.verdict=ready"},
		"Message": {"a result without a stop and awaited objects has its message", "", nil, chain.Exit{Result: message("no quota is left")},
			attrs{"windlass.verdict": "block", "windlass.reason": "Full", "windlass.message": "no quota is left"},
			"reconciler=Pool verdict=block reason=Full message=no quota is left", "windlass.reason=Full,windlass.reconciler=Pool,windlass.verdict=block"},
		"LongRule": {"a rule is bounded, and is the reason of the metrics only", "", nil, chain.Exit{Result: result{verdict: "block", reason: "Full", rule: huge}},
			attrs{"windlass.verdict": "block", "windlass.reason": "Full"},
			"reconciler=Pool verdict=block reason=Full", "windlass.reason=" + strings.ReplaceAll(word, ",", `\,`) + ",windlass.reconciler=Pool,windlass.verdict=block"},
		"NoClass": {"the Errors of the observer classify if the engine does not", "", nil, chain.Exit{Err: failed},
			attrs{"windlass.verdict": "error", "error.type": "mine"},
			"error=mine reconciler=Pool verdict=error errorType=mine", "windlass.reconciler=Pool,windlass.verdict=error"},
		"LongClass": {"the class of the engine is bounded", "", func(error) string { return huge }, chain.Exit{Err: failed},
			attrs{"windlass.verdict": "error", "error.type": word},
			"error=" + word + " reconciler=Pool verdict=error errorType=" + word, "windlass.reconciler=Pool,windlass.verdict=error"},
	}
	mine := classify.NewErrors("mine", func(f *classify.Failure) bool { f.Class = "mine"; return true }, nil)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rec := &recording{}
			link := &chain.Link{Name: "Pool", Tag: pass.Pass}
			o := bind(rec.observer(otelx.WithErrors(mine)), link).(pass.Starter)
			start := pass.Start{Link: link, KeyOf: func(any) string { return tc.key }, ErrorClass: tc.class}
			ctx, enabled := o.Start(rec.context(t, 2), start)
			if enabled != pass.Everything {
				t.Fatal("the observer is off")
			}
			o.Exit(ctx, link, tc.exit)
			tc.want["windlass.reconciler"] = "Pool"
			mustEqual(t, tc.reason, tc.want, rec.Spans[0].Attributes)
			if line := rec.lines[1]; !strings.HasSuffix(line, "msg=pass ended "+tc.line) {
				t.Errorf("%s: the line is %q, want the end %q", tc.reason, line, tc.line)
			}
			if series := "windlass.pass.verdicts {verdict} " + tc.series; rec.Counts[series] != 1 {
				t.Errorf("%s: the series are %v, want %s", tc.reason, rec.Counts, series)
			}
		})
	}
}

// bind returns the observer of link.
func bind(o chain.Observer, link *chain.Link) chain.Observer {
	return o.(interface {
		Bind(*chain.Link) chain.Observer
	}).Bind(link)
}

// Each Exit ends the span of its own link and observer only, although the
// context is that of another link or observer.
func TestExitEndsItsOwnSpan(t *testing.T) {
	rec, other := &recording{}, &recording{}
	rec.Drop = func(name string) bool { return name == "outer" }
	o := rec.observer(otelx.WithLinkSpans(), otelx.WithoutLogs(), otelx.WithMeterProvider(nil))
	p := other.observer(otelx.WithoutLogs())
	first, outer, inner := &chain.Link{Name: "first"}, &chain.Link{Name: "outer"}, &chain.Link{Name: "inner"}
	ctx, _ := rec.Tracer("").Start(t.Context(), "request")

	ctx = o.Enter(p.Enter(ctx, first), outer)
	dropped := rec.Spans[1]
	p.Exit(p.Enter(ctx, outer), outer, chain.Exit{})
	mustEqual(t, "ends of the span after the Exit of the other observer", 0, dropped.Ended)
	o.Exit(o.Enter(ctx, inner), inner, chain.Exit{})
	mustEqual(t, "ends of the span after the Exit of the inner link", 0, dropped.Ended)
	o.Exit(ctx, outer, chain.Exit{})
	mustEqual(t, "ends of the span after its own Exit", 1, dropped.Ended)
	mustEqual(t, "spans of the request and the outer link", 2, len(rec.Spans))
}
