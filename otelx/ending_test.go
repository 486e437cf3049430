package otelx_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

// Results and errors of users do not break telemetry: panics are contained, and
// texts are one line of bounded length.
func TestHostileResults(t *testing.T) {
	huge := strings.Repeat("x", 700_000)
	word, text := huge[:176]+"... (699,824 bytes more)", huge[:976]+"... (699,024 bytes more)"
	var refs []checks.Ref
	for i := range 11 {
		refs = append(refs, checks.Ref{Kind: "Quota", Name: fmt.Sprint(i)})
	}
	const ten = `["Quota 0","Quota 1","Quota 2","Quota 3","Quota 4","Quota 5","Quota 6","Quota 7","Quota 8","Quota 9"`
	cases := map[string]struct {
		reason string
		res    any
		err    error
		want   attrs
	}{
		"ErrorPanics":  {"the class of an error that panics is its type", nil, broken{}, attrs{"windlass.verdict": "error", "error.type": "otelx_test.broken"}},
		"LongCode":     {"a code is bounded", nil, coded(strings.Repeat("x", 700_000)), attrs{"windlass.verdict": "error", "error.type": strings.Repeat("x", 100)}},
		"ResultPanics": {"a result that panics is unreadable", broken{}, nil, attrs{"windlass.verdict": "unreadable"}},
		"Lines":        {"a reason is one line", result{verdict: "block", reason: "a\nb\u202e"}, nil, attrs{"windlass.verdict": "block", "windlass.reason": `a; b\u202e`}},
		"LongProceed":  {"the reason of proceed is bounded", result{verdict: "proceed", reason: huge}, nil, attrs{"windlass.verdict": "proceed", "windlass.reason": word}},
		"LongVerdict":  {"a verdict is bounded", result{verdict: huge}, nil, attrs{"windlass.verdict": word}},
		"LongWhy":      {"a message is bounded", result{verdict: "block", why: huge}, nil, attrs{"windlass.verdict": "block", "windlass.message": text}},
		"Ruled":        {"the message of a rule is the text of an error; only a pass has a point and a link", result{verdict: "block", why: "secret", rule: "rule", at: "Apply"}, nil, attrs{"windlass.verdict": "block"}},
		"WaitsForTen": {"ten awaited objects are listed", result{verdict: "block", waits: refs[:10]}, nil,
			attrs{"windlass.verdict": "block", "windlass.waiting_for": ten + "]"}},
		"WaitsFor11": {"after ten, the list has the number of the others", result{verdict: "block", waits: refs}, nil,
			attrs{"windlass.verdict": "block", "windlass.waiting_for": ten + `,"and 1 more"]`}},
		"LongRef": {"the name of an object is bounded", result{verdict: "block", waits: []checks.Ref{{Kind: huge}}}, nil, attrs{"windlass.verdict": "block", "windlass.waiting_for": `["` + text + `"]`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, line := calls(t, tc.res, tc.err)
			tc.want["windlass.link"] = "link"
			mustEqual(t, tc.reason, tc.want, got.Attributes)
			if !strings.Contains(line, "verdict="+tc.want["windlass.verdict"]) || strings.Contains(line, "\n") ||
				strings.Contains(line, "point=") || strings.Count(line, " link=") != 1 || strings.Contains(line, "waitingFor=") != (tc.want["windlass.waiting_for"] != "") {
				t.Errorf("%s: the line is %s", tc.reason, line)
			}
		})
	}
}

// The texts of errors are cut between characters. They are one line of valid
// UTF-8 with at most the given length.
func TestTexts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text, limit := string(rapid.SliceOf(rapid.Byte()).Draw(r, "bytes"))+rapid.String().Draw(r, "text"), rapid.IntRange(1, 30).Draw(r, "limit")
		rec := &recording{}
		ctx, _ := rec.Tracer("").Start(t.Context(), "request")
		_, _ = otelx.Span("span", around, otelx.WithTracerProvider(&rec.Recorder), otelx.WithErrorText(limit))(func(context.Context, bool) (int, error) {
			return 0, errors.New(text)
		})(ctx, true)
		got := rec.Spans[1].Events[0].Attributes["exception.message"]
		if len(got) > limit || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\x1b\u202e") {
			r.Errorf("%q became %q, of %d bytes", text, got, len(got))
		}
	})
	if _, line := calls(t, nil, errors.New("äöü"), otelx.WithErrorText(3)); !strings.HasSuffix(line, "error=ä") {
		t.Errorf("a cut inside a character leaves it out: %s", line)
	}
}

// Only WithErrorText shows the texts of errors, which may contain secrets.
func TestErrorText(t *testing.T) {
	run := func(name string, opts ...otelx.Option) string {
		rec := &recording{}
		flow.New("Pool", operations, extensions, flow.WithObserver(rec.observer(opts...))).Reconcile(rec.context(t, 9), &pool{name})
		var b strings.Builder
		for _, s := range rec.Spans {
			fmt.Fprintln(&b, s.Description, s.Attributes, s.Events)
		}
		return b.String() + strings.Join(rec.lines, "\n")
	}
	for _, name := range []string{"broken", "panicking"} {
		if all := run(name); strings.Contains(all, "hunter2") {
			t.Errorf("%s: telemetry has the secret:\n%s", name, all)
		}
	}
	if all := run("broken", otelx.WithErrorText(1000)); strings.Count(all, "hunter2") < 2 {
		t.Errorf("with the option, the span and the lines have the text:\n%s", all)
	}
	if all := run("panicking", otelx.WithErrorText(35)); !strings.Contains(all, "panic in link Qu... (28 bytes more)") || strings.Contains(all, "hunter2") {
		t.Errorf("the text is cut:\n%s", all)
	}
}

// Lines, events and histograms have the duration.
func TestDurations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recording{}
		var lines []string
		ctx, _ := rec.Tracer("").Start(logr.NewContext(t.Context(), funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{Verbosity: 9})), "request")
		_, _ = chain.New(chain.Named("slow", func(chain.Handler[int, reason]) chain.Handler[int, reason] {
			return func(context.Context, int) (reason, error) { time.Sleep(1500 * time.Millisecond); return "Slow", nil }
		})).Observe(rec.observer()).Then(func(context.Context, int) (reason, error) { return "", nil })(ctx, 1)
		mustEqual(t, "seconds of the event", 1.5, rec.Spans[0].Events[0].Seconds)
		mustEqual(t, "seconds of the histogram", 1.5, rec.Sums["windlass.link.duration s windlass.link=slow"])
		_, _ = otelx.Log("slow", func(next chain.Handler[int, int]) chain.Handler[int, int] { return next })(func(context.Context, int) (int, error) {
			time.Sleep(2500 * time.Millisecond)
			return 1, nil
		})(ctx, 1)
		if !strings.Contains(lines[3], `"duration"=2.5`) {
			t.Errorf("the line of Log has no duration of 2.5 s: %s", lines[3])
		}
		if !strings.Contains(lines[1], `"duration"=1.5`) {
			t.Errorf("the line has no duration of 1.5 s: %s", lines[1])
		}
	})
}
