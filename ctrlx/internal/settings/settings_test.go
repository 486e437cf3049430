package settings

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"go.opentelemetry.io/otel/trace"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

// says returns the value of the panic of do; empty: it does not panic.
func says(do func()) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprint(v)
		}
	}()
	do()
	return ""
}

// TestTake verifies which options are taken.
func TestTake(t *testing.T) {
	var s Shared
	owner := func(string) checks.Ref { return checks.Ref{Kind: "Cluster"} }
	for n, tc := range []struct {
		reason string
		opt    any
		took   bool
		says   string
	}{
		{"an option of this package", Option(func(s *Shared) { s.Owner = owner }), true, ""},
		{"an option of the flow", flow.WithoutBackoff(), true, ""},
		{"an option of the caller", "other", false, ""},
		{"a nil option", nil, false, `ctrlx: New("App"): option 4 is nil`},
		{"a nil function", Option(nil), false, `ctrlx: New("App"): option 5 is nil`},
	} {
		took := false
		if got := says(func() { took = s.Take(`New("App")`, n, tc.opt) }); got != tc.says || took != tc.took {
			t.Errorf("%s: taken %t, and it says %q, want %q", tc.reason, took, got, tc.says)
		}
	}
	if len(s.Flow) != 1 || s.Owner == nil {
		t.Fatalf("the options are %+v", s)
	}
	if got := Of[func(string) checks.Ref]("New", "WithOwner", s.Owner)(""); got.Kind != "Cluster" {
		t.Errorf("the function finds %s", got)
	}
	if Of[func(string) checks.Ref]("New", "WithOwner", nil) != nil {
		t.Error("no option was given")
	}
	const want = "ctrlx: New: WithOwner was given a func(string) checks.Ref, it takes a func(int) checks.Ref"
	if got := says(func() { Of[func(int) checks.Ref]("New", "WithOwner", s.Owner) }); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestObserver verifies the defaults of the observer of a reconciler, and when there is none.
func TestObserver(t *testing.T) {
	asked := map[string]int{}
	var lines []string
	of := func(tel Telemetry, apply error) (got string) {
		o := tel.Observer(`New("App")`,
			func(context.Context, flow.Outcome) (string, bool) { asked["changed"]++; return "before", true },
			func(context.Context) []trace.Link { return nil },
			func(_ context.Context, write func(time.Duration)) { asked["next"]++; write(time.Minute) })
		if o == nil {
			return "none"
		}
		ctx, stop := context.WithCancel(logging(t.Context(), &lines))
		defer stop()
		flow.New("App", flow.Operations[string]{
			Key: func(string) string { return "a" },
			Apply: func(context.Context, *flow.Request[string]) (flow.Progress, error) {
				if apply == context.Canceled {
					stop()
				}
				return flow.Done(), apply
			},
		}, flow.Extensions[string]{}, flow.WithObserver(o), flow.WithErrors(apierr.OtherObjects)).Reconcile(ctx, "a")
		return "one"
	}
	if got := of(Telemetry{Off: true}, nil); got != "none" {
		t.Errorf("it is off: %s", got)
	}
	if got := says(func() { of(Telemetry{Off: true, Set: true}, nil) }); got != `ctrlx: New("App"): WithTelemetry and WithoutTelemetry are both given: leave one of them out` {
		t.Errorf("both options: %q", got)
	}
	long := fmt.Errorf("%s END", strings.Repeat("x", 2*maxErrorText))
	if got := of(Telemetry{}, long); got != "one" || asked["changed"] != 1 || asked["next"] != 1 {
		t.Errorf("%s; the functions are asked %v times", got, asked)
	}
	all := strings.Join(lines, "\n")
	_, text, _ := strings.Cut(all, `"error"="`)
	text, _, _ = strings.Cut(text, `"`)
	if !strings.HasPrefix(text, strings.Repeat("x", maxErrorText/2)) || len(text) != maxErrorText || !strings.Contains(all, "before") {
		t.Errorf("the text of the error has %d bytes, and the lines are\n%s", len(text), all)
	}
	for _, tc := range []struct {
		reason string
		err    error
		asked  int
	}{
		{"the pass succeeds", nil, 1},
		{"a later pass reads the object again", apierrors.NewConflict(schema.GroupResource{}, "a", nil), 0},
		{"the manager stops", context.Canceled, 0},
	} {
		clear(asked)
		lines = nil
		of(Telemetry{}, tc.err)
		all := strings.Join(lines, "\n")
		if asked["changed"] != tc.asked || strings.Contains(all, `"level"=0`) != (tc.asked > 0) || strings.Contains(all, `"previous"`) != (tc.asked > 0) {
			t.Errorf("%s: it asks for a change %d times, want %d, and the lines are\n%s", tc.reason, asked["changed"], tc.asked, all)
		}
	}
	if of(Telemetry{Set: true, Opts: []otelx.Option{otelx.WithErrorText(3 * maxErrorText)}}, long); !strings.Contains(strings.Join(lines, "\n"), " END") {
		t.Error("an option of the user does not replace the default")
	}
}

// logging returns a context whose logger adds its lines to all.
func logging(ctx context.Context, all *[]string) context.Context {
	return logr.NewContext(ctx, funcr.New(func(prefix, args string) { *all = append(*all, args) }, funcr.Options{Verbosity: 1}))
}
