package flow_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// mistakes lists the known mistakes of reconcilers, with the tests that fail
// when one returns.
var mistakes = []struct {
	mistake string
	tests   []string // package.Test
	later   string   // the part that another module tests
}{
	1:  {"the zero result of a check proceeds", []string{"checks.TestComposeFailsClosed", "flow.TestEveryPointFailsClosed"}, ""},
	2:  {"a check that forgets next drops the inner checks", []string{"checks.TestComposeFailsClosed", "flow.TestEveryPointFailsClosed"}, ""},
	3:  {"a postponed resource is written as Ready", []string{"flow.TestOutcomes", "flow.TestEveryPointFailsClosed"}, ""},
	4:  {"an owner's block is dropped, because one caller forgot a case", []string{"flow.TestBlock", "flow.TestProperties"}, ""},
	5:  {"an owner that is a nil pointer panics", []string{"checks.TestOwnerReady", "checks.TestUnusableOwner", "flow.TestOwner"}, ""},
	6:  {"a method whose signature drifted counts as not implemented", []string{"flow.TestEachPointHasItsType"}, ""},
	7:  {"class and speed are set separately, so that a retryable error waits an hour", []string{"classify.TestRetry", "flow.TestOutcomes"}, ""},
	8:  {"fatal means stuck for ever", []string{"flow.TestBackoff", "flow.TestOutcomes", "flow.TestErrorsOnDeleteAreNeverOnChange"}, ""},
	9:  {"an owner that was ready for an older spec counts as ready", []string{"checks.TestOwnerReady", "flow.TestOwner"}, ""},
	10: {"an owner that exists and is not ready is reported as not found", []string{"checks.TestOwnerReady"}, ""},
	11: {"rejected is reported as pending", []string{"checks.TestApprovalPending"}, ""},
	12: {"a log line says succeeded for a block", []string{"chain.TestVerdict", "flow.TestObserver", "otelx.TestLogs"}, ""},
	13: {"a negative or zero interval loses the requeue or loops", []string{"flow.TestBackoffSettings", "flow.TestOptions", "flow.TestProgress"}, ""},
	14: {"all classes share one failure counter", []string{"flow.TestBackoff"}, ""},
	15: {"the status is written in each pass", []string{"flow.TestConditionsAreStable"}, "the engine writes the status"},
	16: {"append to a shared slice changes another chain", []string{"chain.TestLaws", "flow.TestExtend"}, ""},
	17: {"nested chains drop links", []string{"chain.TestLaws", "flow.TestExtend"}, ""},
	18: {"the part after next does not run after a panic", []string{"chain.TestHooks", "chain.TestLaws"}, ""},
	19: {"the span of a panic has no status", []string{"chain.TestExit", "flow.TestObserverSeesErrors", "otelx.TestPassSpans", "otelx.TestLinkSpans"}, ""},
	20: {"no status counts as ready", []string{"checks.TestOwnerReady", "checks.TestStates"}, ""},
	21: {"a change is lost between reading an owner and waiting for it", nil, "the engine wakes resources"},
	22: {"an unknown error code stops a resource for good", []string{"classify.TestNothingUnknownWaitsForAChange"}, ""},
	23: {"a post check that blocks applies again each time", []string{"flow.TestBlockedPostCheckDoesNotApplyAgain"}, ""},
}

// Each mistake has a test in the root module, or another module tests it.
func TestMistakesHaveTests(t *testing.T) {
	for i, m := range mistakes {
		if i == 0 {
			continue
		}
		if m.mistake == "" || len(m.tests) == 0 && m.later == "" {
			t.Errorf("mistake %d, %q, has no test", i, m.mistake)
		}
		for _, test := range m.tests {
			pkg, name, _ := strings.Cut(test, ".")
			files, err := filepath.Glob(filepath.Join("..", pkg, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, f := range files {
				source, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				found = found || strings.Contains(string(source), "func "+name+"(t *testing.T) {")
			}
			if !found {
				t.Errorf("mistake %d, %s: there is no test %s", i, m.mistake, test)
			}
		}
	}
}

// At every point, the pass proceeds only after a check that ran and proceeded.
func TestEveryPointFailsClosed(t *testing.T) {
	cases := map[string]struct {
		reason string
		res    checks.Result
		err    error
		panics bool
		state  flow.State
	}{
		"Zero":      {"the zero result is no decision", checks.Result{}, nil, false, flow.StateFailed},
		"Forgets":   {"a check that forgets next did not run the inner checks", checks.Proceed(), nil, false, flow.StateFailed},
		"Block":     {"a block is not Ready", checks.Block("NotYet", ""), nil, false, flow.StateBlocked},
		"Error":     {"an error is not Ready", checks.Result{}, errBoom, false, flow.StateFailed},
		"ErrorAnd":  {"an error wins over a proceed", checks.Proceed(), errBoom, false, flow.StateFailed},
		"ErrorSkip": {"an error wins over a skip", checks.Skip("why"), errBoom, false, flow.StateFailed},
		"Panic":     {"a panic is no decision", checks.Result{}, nil, true, flow.StateFailed},
	}
	for name, tc := range cases {
		owners := chain.New(link("careless", func(context.Context, *checks.OwnerRequest, checks.OwnerHandler) (checks.Result, error) {
			if tc.panics {
				panic("careless")
			}
			return tc.res, tc.err
		}), returns[*checks.OwnerRequest]("inner", checks.Block("Never", ""), nil))
		resources := chain.New(link("careless", func(context.Context, *checks.Request[*pool], checks.Handler[*pool]) (checks.Result, error) {
			if tc.panics {
				panic("careless")
			}
			return tc.res, tc.err
		}), returns[*checks.Request[*pool]]("inner", checks.Block("Never", ""), nil))
		for point, e := range map[string]ext{
			flow.PointOwnerCheck: {OwnerCheck: owners}, flow.PointPreCheck: {PreCheck: resources},
			flow.PointPostCheck: {PostCheck: resources}, flow.PointDeleteCheck: {DeleteCheck: resources},
		} {
			t.Run(name+"/"+point, func(t *testing.T) {
				out := flow.New("Pool", (&cloud{}).operations(), e).Reconcile(t.Context(), &pool{deleting: point == flow.PointDeleteCheck})
				mustEqual(t, tc.reason, place{tc.state, point, "careless"}, placeOf(out))
				mustEqual(t, "Ready is False", "False", out.Conditions()[0].Status)
			})
		}
	}
}

// Each operation and each extension is a field with its own type, so that a
// function of another signature does not compile.
func TestEachPointHasItsType(t *testing.T) {
	of := reflect.TypeFor[ops]()
	for i := range of.NumField() {
		if f := of.Field(i); f.Type.Kind() != reflect.Func {
			t.Errorf("Operations.%s is a %s, not a function", f.Name, f.Type)
		}
	}
	links := map[string]reflect.Type{}
	exts := reflect.TypeFor[ext]()
	for i := range exts.NumField() {
		f := exts.Field(i)
		add, ok := f.Type.MethodByName("Append")
		if !ok || !strings.HasPrefix(f.Type.String(), "chain.Chain[") {
			t.Errorf("Extensions.%s is a %s, not a chain", f.Name, f.Type)
			continue
		}
		links[f.Name] = add.Type.In(1).Elem()
	}
	resource := reflect.TypeFor[checks.Middleware[*pool]]()
	operation := reflect.TypeFor[chain.Middleware[*request, flow.Progress]]()
	mustEqual(t, "each point accepts one type of link", map[string]reflect.Type{
		"Pass":       reflect.TypeFor[chain.Middleware[*pool, flow.Outcome]](),
		"OwnerCheck": reflect.TypeFor[checks.OwnerMiddleware](), "Get": reflect.TypeFor[chain.Middleware[*request, flow.Observation]](),
		"EntryCheck": resource, "PreCheck": resource, "PostCheck": resource, "DeleteCheck": resource, "Apply": operation, "Delete": operation,
		"Classify": reflect.TypeFor[classify.Middleware](),
	}, links, sameType)
}

// Two passes with the same outcome have the same conditions, so an engine
// writes them once.
func TestConditionsAreStable(t *testing.T) {
	for name, tc := range outcomes {
		mustEqual(t, name, fmt.Sprint(tc.make(t).Conditions()), fmt.Sprint(tc.make(t).Conditions()))
	}
	clk, c := &clock{noon}, &cloud{getErr: response(429, "TooManyRequests", "Retry-After", "30")}
	r := flow.New("Pool", c.operations(), ext{}, flow.WithClock(clk.now), flow.WithExplanations(1), flow.WithBackoff(flow.NewBackoff()))
	first := r.Reconcile(t.Context(), &pool{}).Conditions()
	for range 3 {
		clk.advance(1e9)
		mustEqual(t, "the conditions do not depend on the time", first, r.Reconcile(t.Context(), &pool{}).Conditions())
	}
}
