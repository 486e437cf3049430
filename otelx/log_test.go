package otelx_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/otelfake"
	"github.com/windlass-go/windlass/otelx"
)

func TestLogs(t *testing.T) {
	changes := func(previous string, changed bool) otelx.Option {
		return otelx.WithChanges(func(ctx context.Context, outcome any) (string, bool) {
			if _, ok := outcome.(flow.Outcome); !ok || logr.FromContextOrDiscard(ctx).GetSink() == nil {
				t.Errorf("the function gets the outcome and the context of the pass: %v", outcome)
			}
			return previous, changed
		})
	}
	cases := map[string]struct {
		reason    string
		verbosity int
		pool      string
		opts      []otelx.Option
		want      []string
	}{
		"Quiet": {"a pass that becomes ready logs nothing at verbosity 0", 0, "fine", nil, nil},
		"Wait":  {"neither does a pass with an operation under way", 0, "started", nil, nil},
		"Block": {"a blocked pass logs one line at verbosity 0, which says where, why and for which objects it waits", 0, "waiting", nil, []string{
			"level=0 msg=pass ended reconciler=Pool key=waiting point=PreCheck link=Quota verdict=block reason=NoQuota retry=slow message=no quota is left waitingFor=[Quota team/cores Quota team/disks]",
		}},
		"Failure": {"a failed pass logs one error, with the class in place of the text", 0, "refused", nil, []string{
			"msg=pass ended error=NameTaken reconciler=Pool key=refused point=Apply verdict=error reason=NameTaken retry=slow errorType=NameTaken",
		}},
		"FailureText": {"WithErrorText adds the text and the message", 0, "refused", []otelx.Option{otelx.WithErrorText(100)}, []string{
			"msg=pass ended error=wrapped: code NameTaken reconciler=Pool key=refused point=Apply verdict=error reason=NameTaken retry=slow message=applying failed: wrapped: code NameTaken errorType=NameTaken",
		}},
		"Passes": {"verbosity 1 adds one line for each pass without a change", 1, "fine", nil, []string{
			"level=1 msg=pass ended reconciler=Pool key=fine verdict=ready reason=Succeeded",
		}},
		"Points": {"verbosity 2 adds the start of each pass, and the start and the end of each point and link", 2, "waiting", nil, []string{
			"level=2 msg=pass started reconciler=Pool key=waiting",
			"level=2 msg=point started reconciler=Pool key=waiting point=EntryCheck",
			"level=2 msg=point ended reconciler=Pool key=waiting point=EntryCheck verdict=proceed",
			"level=2 msg=point started reconciler=Pool key=waiting point=OwnerCheck",
			"level=2 msg=point ended reconciler=Pool key=waiting point=OwnerCheck verdict=proceed",
			"level=2 msg=point started reconciler=Pool key=waiting point=PreCheck",
			"level=2 msg=link started reconciler=Pool key=waiting point=PreCheck link=Valid",
			"level=2 msg=link started reconciler=Pool key=waiting point=PreCheck link=Quota",
			"level=2 msg=link ended reconciler=Pool key=waiting point=PreCheck link=Quota verdict=block reason=NoQuota retry=slow message=no quota is left waitingFor=[Quota team/cores Quota team/disks] notes=[9 of 9 cores are used]",
			"level=2 msg=link ended reconciler=Pool key=waiting point=PreCheck link=Valid verdict=proceed",
			"level=2 msg=point ended reconciler=Pool key=waiting point=PreCheck verdict=block reason=NoQuota retry=slow message=no quota is left waitingFor=[Quota team/cores Quota team/disks]",
			"level=0 msg=pass ended reconciler=Pool key=waiting point=PreCheck link=Quota verdict=block reason=NoQuota retry=slow message=no quota is left waitingFor=[Quota team/cores Quota team/disks]",
		}},
		"Recovered": {"a change to any other verdict is logged, too, with the previous verdict", 0, "fine", []otelx.Option{changes("failed NameTaken", true)}, []string{
			"level=0 msg=pass ended reconciler=Pool key=fine verdict=ready reason=Succeeded previous=failed NameTaken",
		}},
		"ChangesPanic": {"if the function panics, a failed pass is logged as without the option", 0, "refused", []otelx.Option{otelx.WithChanges(func(context.Context, any) (string, bool) { panic("no") })}, []string{
			"msg=pass ended error=NameTaken reconciler=Pool key=refused point=Apply verdict=error reason=NameTaken retry=slow errorType=NameTaken",
		}},
		"Without": {"WithoutLogs turns off all lines", 9, "broken", []otelx.Option{otelx.WithTracerProvider(&otelfake.Recorder{}), otelx.WithoutLogs()}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rec := &recording{}
			opts := append([]otelx.Option{otelx.WithTracerProvider(nil), otelx.WithMeterProvider(nil)}, tc.opts...)
			flow.New("Pool", operations, extensions, flow.WithObserver(otelx.New(opts...))).Reconcile(rec.context(t, tc.verbosity), &pool{tc.pool})
			mustEqual(t, tc.reason, tc.want, rec.lines)
		})
	}
}

// Lines that a link logs have the reconciler and the key. A canceled context
// loses no line.
func TestLoggerOfThePass(t *testing.T) {
	rec := &recording{}
	ctx, cancel := context.WithCancel(rec.context(t, 2))
	e := flow.Extensions[*pool]{Pass: chain.New(chain.Before[*pool, flow.Outcome](func(ctx context.Context, _ *pool) error {
		logr.FromContextOrDiscard(ctx).Info("mine")
		cancel()
		return nil
	}))}
	o := otelx.New(otelx.WithTracerProvider(nil), otelx.WithMeterProvider(nil))
	flow.New("Pool", operations, e, flow.WithObserver(o)).Reconcile(ctx, &pool{"fine"})
	if len(rec.lines) < 4 || rec.lines[2] != "level=0 msg=mine reconciler=Pool key=fine" || !strings.HasPrefix(rec.lines[len(rec.lines)-1], "level=1 msg=pass ended reconciler=Pool key=fine point=Apply verdict=canceled") {
		t.Errorf("the lines are\n%s", strings.Join(rec.lines, "\n"))
	}
}

// The line of a pass is complete when the function of WithNextPass knows the delay.
func TestNextPass(t *testing.T) {
	cases := map[string]struct {
		reason string
		pool   string
		delay  time.Duration
		want   []string
	}{
		"Block":   {"the delay follows the class of the retry", "waiting", 200 * time.Second, []string{"level=0 msg=pass ended reconciler=Pool key=waiting point=PreCheck link=Quota verdict=block reason=NoQuota retry=slow nextPass=in 3m20s message=no quota is left waitingFor=[Quota team/cores Quota team/disks]"}},
		"Failure": {"a failure is an error, later as well", "refused", time.Second, []string{"msg=pass ended error=NameTaken reconciler=Pool key=refused point=Apply verdict=error reason=NameTaken retry=slow nextPass=in 1s errorType=NameTaken"}},
		"None":    {"no pass is planned", "waiting", 0, []string{"level=0 msg=pass ended reconciler=Pool key=waiting point=PreCheck link=Quota verdict=block reason=NoQuota retry=slow message=no quota is left waitingFor=[Quota team/cores Quota team/disks]"}},
		"Quiet":   {"the function gets no line that the logger does not show", "fine", time.Second, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rec := &recording{}
			var lines []func(time.Duration)
			o := otelx.New(otelx.WithTracerProvider(nil), otelx.WithMeterProvider(nil), otelx.WithNextPass(func(ctx context.Context, write func(time.Duration)) {
				if logr.FromContextOrDiscard(ctx).GetSink() == nil {
					t.Error("the function gets the context of the pass")
				}
				lines = append(lines, write)
			}))
			flow.New("Pool", operations, extensions, flow.WithObserver(o)).Reconcile(rec.context(t, 0), &pool{tc.pool})
			mustEqual(t, "lines before the delay is known", []string(nil), rec.lines)
			for _, write := range lines {
				write(tc.delay)
			}
			mustEqual(t, tc.reason, tc.want, rec.lines)
		})
	}
}

// leveled is a log sink with a verbosity that can change.
type leveled struct {
	logr.LogSink
	verbosity *int
}

func (l leveled) Enabled(verbosity int) bool { return verbosity <= *l.verbosity }
func (l leveled) WithValues(values ...any) logr.LogSink {
	return leveled{l.LogSink.WithValues(values...), l.verbosity}
}

// A pass keeps the verbosity of its start, so that each line of an end has a
// line of a start.
func TestVerbosityOfAPass(t *testing.T) {
	rec, verbosity := &recording{}, 0
	raise := chain.Before[*pool, flow.Outcome](func(context.Context, *pool) error { verbosity = 9; return nil })
	ctx := logr.NewContext(t.Context(), logr.New(leveled{rec.logger(9).GetSink(), &verbosity}))
	o := otelx.New(otelx.WithTracerProvider(nil), otelx.WithMeterProvider(nil))
	flow.New("Pool", operations, flow.Extensions[*pool]{Pass: chain.New(raise)}, flow.WithObserver(o)).Reconcile(ctx, &pool{"fine"})
	mustEqual(t, "lines of a pass that began at verbosity 0", []string(nil), rec.lines)
}
