package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/errtree"
	"github.com/windlass-go/windlass/internal/reason"
)

// hostileTexts holds texts that a service, an owner or a user may send. The
// secret in them is hunter2.
var hostileTexts = map[string]string{
	"Row":       "busy\n> Apply         deploy  proceed\r\n  Apply  proceed",
	"Rows":      "busy\u2028> Apply\u2029> Apply\u0085> Apply\v> Apply\f> Apply",
	"Terminal":  "\x1b[2J\x1b[1;1Hall is well\x07\x9b31m\x00",
	"Bidi":      "abc \u202e\u2066cba\u2069\u200f\u061c",
	"Invisible": "a\u200bb\u00ad\ufeff\u3164\U000e0061",
	"Invalid":   "a\xff\xc3(\xed\xa0\x80",
	"Long":      strings.Repeat("ü quota ", 100_000),
	"LongWord":  strings.Repeat("x", 700_000),
	"Markup":    "\"]\n  evil[\"<script>`#`&lt;%%{init}%% \\n",
	"SAS":       "GET https://a/c?sv=1&sig=hunter2: 403",
	"JSON":      "{\n  \"client_secret\": \"hunter2\"\n}",
	"Header":    "Authorization: Bearer hunter2",
	"Bearer":    "sent Bearer hunter2",
	"URL":       "dial https://user:hunter2@host",
	"Account":   "AccountName=a;AccountKey=hunter2;x=y",
}

// mustBeLine fails unless text is one line that is safe to show.
func mustBeLine(t *testing.T, place, text string, most int) {
	t.Helper()
	if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		t.Errorf("%s has a character that is not visible: %q", place, text[i:min(len(text), i+40)])
	}
	if !utf8.ValidString(text) {
		t.Errorf("%s is not valid UTF-8: %q", place, text[:min(len(text), 100)])
	}
	if len(text) > most {
		t.Errorf("%s has %d bytes", place, len(text))
	}
	if strings.Contains(text, "hunter2") {
		t.Errorf("%s has a secret: %s", place, text[:min(len(text), 200)])
	}
}

// mustBeLines fails unless text has as many lines as sound, each safe to show.
// sound is the same text for harmless names.
func mustBeLines(t *testing.T, place, text, sound string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if want := strings.Count(strings.TrimSuffix(sound, "\n"), "\n") + 1; len(lines) != want {
		t.Errorf("%s has %d lines, want %d:\n%.2000s", place, len(lines), want, text)
	}
	for _, line := range lines {
		mustBeLine(t, place, line, 40_000)
	}
}

// view holds every text that the library shows of passes with a hostile text.
type view struct{ listing, reconciler, drawing, table, explained, failed string }

// show shows passes in which text is the name, the key, the message and the
// error.
func show(t *testing.T, text string) (v view, outcomes []flow.Outcome, explained []flow.Explanation) {
	block := checks.Block("Waits", text, checks.WithWaitingFor(checks.Ref{Kind: text, Namespace: text, Name: text, ID: text}))
	noted := chain.Named(text, checks.Gate("noted", func(ctx context.Context, _ *checks.Request[*pool]) (checks.Result, error) {
		chain.Note(ctx, text)
		return block, nil
	}))
	c := &cloud{owner: checks.Object{Ref: checks.Ref{Kind: "Fleet", Name: text}, Value: &pool{}, Readiness: checks.Readiness{State: checks.NotReady, Reason: text, Message: text}}}
	failing := c.operations()
	failing.Key = func(p *pool) string { return p.name }
	failing.APIVersion = func(*pool) string { return text }
	failing.Apply = func(context.Context, *request) (flow.Progress, error) {
		return flow.Progress{}, errors.Join(errors.New(text), response(409, text))
	}
	panicking := failing
	panicking.Apply = func(context.Context, *request) (flow.Progress, error) { panic(text) }
	polling := failing
	polling.Owner, polling.Get = nil, nil
	polling.Token = func(*pool) (string, int64) { return text, 0 }
	polling.SetToken = func(context.Context, *pool, string, int64) error { return errors.New(text) }
	waiting := failing
	waiting.Apply = func(context.Context, *request) (flow.Progress, error) {
		return flow.InProgress("a", 0).WithMessage(text), nil
	}
	skipping := ext{PreCheck: chain.New(chain.Named(text, checks.Gate("skip", func(context.Context, *checks.Request[*pool]) (checks.Result, error) {
		return checks.Skip(text), nil
	})))}
	for _, run := range []struct {
		o ops
		e ext
	}{
		{failing, ext{}}, {panicking, skipping}, {polling, ext{}}, {waiting, ext{}},
		{failing, ext{PreCheck: chain.New(noted)}},
		{failing, ext{OwnerCheck: chain.New(checks.OwnerReady())}},
		{failing, ext{OwnerCheck: chain.New(returns[*checks.OwnerRequest](text, checks.Result{}, errors.New(text)))}},
	} {
		r := flow.New(text, run.o, run.e, flow.WithExplanations(1))
		out := r.Reconcile(t.Context(), &pool{name: text})
		e, ok := r.Explain(text)
		if !ok {
			t.Error("there is no explanation under the raw key")
		}
		outcomes, explained = append(outcomes, out), append(explained, e)
		v.explained += e.String()
		v.reconciler += r.String()
		v.drawing += r.Mermaid()
	}
	v.listing = chain.New(noted).String()
	v.table = classify.Table{{Name: text, Code: "A", Retry: classify.Slow}}.String()
	v.failed = flow.Explanation{Name: text, Key: text, Message: text, Steps: []flow.Step{{Point: text, Link: text, Verdict: text, Error: text, Notes: []string{text}}}}.String()
	return v, outcomes, explained
}

// The library shows foreign text safely everywhere.
func TestHostileTexts(t *testing.T) {
	sound, _, _ := show(t, "sound")
	for name, text := range hostileTexts {
		t.Run(name, func(t *testing.T) {
			v, outcomes, explained := show(t, text)
			mustBeLines(t, "Chain.String", v.listing, sound.listing)
			mustBeLines(t, "Reconciler.String", v.reconciler, sound.reconciler)
			mustBeLines(t, "Mermaid", v.drawing, sound.drawing)
			for _, line := range strings.Split(strings.TrimSuffix(v.drawing, "\n"), "\n") {
				if !mermaidLine.MatchString(line) {
					t.Errorf("this is no line of a Mermaid flowchart: %s", line)
				}
			}
			mustBeLines(t, "Table.String", v.table, sound.table)
			mustBeLines(t, "Explanation.String", v.explained, sound.explained)
			mustBeLines(t, "Explanation.String of a literal", v.failed, sound.failed)
			for _, e := range explained {
				data, err := json.Marshal(e)
				if err != nil {
					t.Error(err)
				}
				mustBeLine(t, "the JSON of an Explanation", string(data), 200_000)
				var texts any
				if err := json.Unmarshal(data, &texts); err != nil {
					t.Error(err)
				}
				mustBeTexts(t, texts)
			}
			for _, out := range outcomes {
				mustBeLine(t, "Outcome.String", out.String(), 32768)
				mustBeLine(t, "Outcome.Message", out.Message(), 32768)
				mustBeLine(t, "Outcome.Link", out.Link(), 200)
				mustBeLine(t, "Outcome.Rule", out.Rule(), 200)
				for _, c := range out.Conditions() {
					mustBeLine(t, "Outcome.Conditions", c.Message, 32768)
					mustBeLine(t, "Outcome.Conditions", c.Reason, 1024)
					if !reason.Valid(c.Reason) {
						t.Errorf("the reason %q is not valid", c.Reason)
					}
				}
			}
			block := checks.Block("Waits", text, checks.WithWaitingFor(checks.Ref{Kind: "Fleet", Name: text}))
			mustBeLine(t, "Result.String", block.String(), 4000)
			mustBeLine(t, "Result.String of a wrong reason", checks.Block(text, text).String(), 4000)
			mustBeLine(t, "Ref.String", checks.Ref{Kind: text, Name: text}.String(), 1000)
			mustEqual(t, "the message of a result is raw", text, block.Message())
			for _, err := range []error{errors.New(text), response(409, text)} {
				c, _ := classify.Compose(classify.Chain{})(t.Context(), classify.NewFailure(err, "", time.Time{}, classify.Errors{}))
				mustBeLine(t, "Classification.String", c.String(), 2000)
				mustBeLine(t, "Classification.Reason", c.Reason(), 1024)
			}
		})
	}
}

// mustBeTexts fails unless each text of a JSON document is safe to show.
func mustBeTexts(t *testing.T, v any) {
	t.Helper()
	switch v := v.(type) {
	case string:
		mustBeLine(t, "a text of the JSON", v, 32768)
	case []any:
		for _, item := range v {
			mustBeTexts(t, item)
		}
	case map[string]any:
		for _, item := range v {
			mustBeTexts(t, item)
		}
	}
}

// endless unwraps to itself, more often than any reader of errors needs.
type endless struct{ left *int }

func (endless) Error() string { return "endless" }
func (e endless) Unwrap() error {
	if *e.left--; *e.left < 0 {
		panic("a search of the error does not end")
	}
	return e
}

// errors.Is and errors.As of an error that unwraps to itself never end, and
// those of one whose Unwrap panics panic. Observers and engines call them with
// the error of a pass.
func TestUnreadableErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		err    func() error
	}{
		"Endless": {"it unwraps to itself", func() error { return endless{new(20 * errtree.Max)} }},
		"Panics":  {"its Unwrap panics", func() error { return hostile{} }},
	} {
		t.Run(name, func(t *testing.T) {
			o := (&cloud{}).operations()
			o.Apply = func(context.Context, *request) (flow.Progress, error) { return flow.Progress{}, tc.err() }
			out := flow.New("Pool", o, ext{}).Reconcile(t.Context(), &pool{})
			mustEqual(t, tc.reason, flow.StateFailed, out.State())
			if found := (*flow.FailedError)(nil); errors.Is(out.Err(), errBoom) || errors.As(out.Err(), &found) {
				t.Errorf("%s: the error of the pass is %v", tc.reason, out.Err())
			}

			o = (&cloud{}).operations()
			o.Apply = func(context.Context, *request) (flow.Progress, error) { return flow.InProgress("a", 0), nil }
			o.Token = func(*pool) (string, int64) { return "", 0 }
			o.SetToken = func(context.Context, *pool, string, int64) error { return tc.err() }
			out = flow.New("Pool", o, ext{}).Reconcile(t.Context(), &pool{})
			mustEqual(t, tc.reason+", of SetToken", flow.StateFailed, out.State())
			if out.Point() != flow.PointApply {
				t.Errorf("%s: the pass failed at %s: %v", tc.reason, out.Point(), out.Err())
			}
		})
	}
}
