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

// mistakes are those that reconcilers are known to make, and the tests that fail when one of them comes back.
var mistakes = []struct {
	mistake string
	tests   []string // package.Test
	later   string   // what there is no package for yet
}{
	1:  {"the zero result of a check proceeds", []string{"checks.TestComposeFailsClosed", "flow.TestNothingPassesByMistake"}, ""},
	2:  {"a check that forgets next drops the checks behind it", []string{"checks.TestComposeFailsClosed", "flow.TestNothingPassesByMistake"}, ""},
	3:  {"what was postponed is written as ready", []string{"flow.TestOutcomes", "flow.TestNothingPassesByMistake"}, ""},
	4:  {"an owner's block is dropped, since one caller forgot a case", []string{"flow.TestBlock", "flow.TestProperties"}, ""},
	5:  {"an owner that is a nil pointer panics", []string{"checks.TestOwnerReady", "checks.TestOwnerToLookInto", "flow.TestOwner"}, ""},
	6:  {"a method whose signature drifted counts as not implemented", []string{"flow.TestEachPointHasItsType"}, ""},
	7:  {"class and speed are set apart, so that what is retryable waits an hour", []string{"classify.TestRetry", "flow.TestOutcomes"}, ""},
	8:  {"fatal means stuck for ever", []string{"flow.TestBackoff", "flow.TestOutcomes", "flow.TestErrorsOnDeleteAreNeverOnChange"}, ""},
	9:  {"an owner that was ready for an older spec counts as ready", []string{"checks.TestOwnerReady", "flow.TestOwner"}, ""},
	10: {"an owner that is there and not ready is said not to be found", []string{"checks.TestOwnerReady"}, ""},
	11: {"rejected is reported as pending", []string{"checks.TestApprovalPending"}, ""},
	12: {"a log line says succeeded for a block", []string{"chain.TestVerdict", "flow.TestObserver", "otelx.TestLogs"}, ""},
	13: {"a negative or zero interval loses the requeue or loops", []string{"flow.TestBackoffSettings", "flow.TestOptions", "flow.TestProgress"}, ""},
	14: {"all classes share one failure counter", []string{"flow.TestBackoff"}, ""},
	15: {"the status is written in each pass", []string{"flow.TestConditionsAreStable"}, "the writing itself"},
	16: {"append to a shared slice changes another chain", []string{"chain.TestLaws", "flow.TestExtend"}, ""},
	17: {"nested chains drop links", []string{"chain.TestLaws", "flow.TestExtend"}, ""},
	18: {"the part behind next is left out on a panic", []string{"chain.TestHooks", "chain.TestLaws"}, ""},
	19: {"a span of what panicked has no status", []string{"chain.TestExit", "flow.TestObserverSeesErrors", "otelx.TestPassSpans", "otelx.TestLinkSpans"}, ""},
	20: {"no status counts as ready", []string{"checks.TestOwnerReady", "checks.TestStates"}, ""},
	21: {"a change is lost between reading an owner and waiting for it", nil, "wake-ups"},
	22: {"an unknown error code stops a resource for good", []string{"classify.TestNothingUnknownWaitsForAChange"}, ""},
	23: {"a post check that blocks applies again each time", []string{"flow.TestBlockedPostCheckDoesNotApplyAgain"}, ""},
}

// Each mistake has a test, or waits for a package that is still to come.
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

// Nothing but a check that was asked and passed lets work through, at whatever point.
func TestNothingPassesByMistake(t *testing.T) {
	cases := map[string]struct {
		reason string
		res    checks.Result
		err    error
		panics bool
		state  flow.State
	}{
		"Zero":      {"the zero result is no decision", checks.Result{}, nil, false, flow.StateFailed},
		"Forgets":   {"who forgets next has not asked those behind it", checks.Proceed(), nil, false, flow.StateFailed},
		"Block":     {"not yet is not ready", checks.Block("NotYet", ""), nil, false, flow.StateBlocked},
		"Error":     {"not known is not ready", checks.Result{}, errBoom, false, flow.StateFailed},
		"ErrorAnd":  {"whatever stands beside the error", checks.Proceed(), errBoom, false, flow.StateFailed},
		"ErrorSkip": {"whatever stands beside the error", checks.Skip("why"), errBoom, false, flow.StateFailed},
		"Panic":     {"nor is a panic a yes", checks.Result{}, nil, true, flow.StateFailed},
	}
	for name, tc := range cases {
		owners := chain.New(link("careless", func(context.Context, *checks.OwnerRequest, checks.OwnerHandler) (checks.Result, error) {
			if tc.panics {
				panic("careless")
			}
			return tc.res, tc.err
		}), says[*checks.OwnerRequest]("behind", checks.Block("Never", ""), nil))
		resources := chain.New(link("careless", func(context.Context, *checks.Request[*pool], checks.Handler[*pool]) (checks.Result, error) {
			if tc.panics {
				panic("careless")
			}
			return tc.res, tc.err
		}), says[*checks.Request[*pool]]("behind", checks.Block("Never", ""), nil))
		for point, e := range map[string]ext{
			flow.PointOwnerCheck: {OwnerCheck: owners}, flow.PointPreCheck: {PreCheck: resources},
			flow.PointPostCheck: {PostCheck: resources}, flow.PointDeleteCheck: {DeleteCheck: resources},
		} {
			t.Run(name+"/"+point, func(t *testing.T) {
				out := flow.New("Pool", (&cloud{}).operations(), e).Reconcile(t.Context(), &pool{deleting: point == flow.PointDeleteCheck})
				mustEqual(t, tc.reason, place{tc.state, point, "careless"}, placeOf(out))
				mustEqual(t, "so it is not written as ready", "False", out.Conditions()[0].Status)
			})
		}
	}
}

// Nothing is found by looking whether a resource has a method: each operation and each extension is a field with a type of
// its own, so that one of another signature does not compile.
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
	mustEqual(t, "a link fits where it belongs, and nowhere else", map[string]reflect.Type{
		"Pass":       reflect.TypeFor[chain.Middleware[*pool, flow.Outcome]](),
		"OwnerCheck": reflect.TypeFor[checks.OwnerMiddleware](), "Get": reflect.TypeFor[chain.Middleware[*request, flow.Observation]](),
		"EntryCheck": resource, "PreCheck": resource, "PostCheck": resource, "DeleteCheck": resource, "Apply": operation, "Delete": operation,
		"Classify": reflect.TypeFor[classify.Middleware](),
	}, links, sameType)
}

// Two passes that come to the same have the same conditions: whoever writes them need not write again.
func TestConditionsAreStable(t *testing.T) {
	for name, tc := range outcomes {
		mustEqual(t, name, fmt.Sprint(tc.make(t).Conditions()), fmt.Sprint(tc.make(t).Conditions()))
	}
	clk, c := &clock{noon}, &cloud{getErr: response(429, "TooManyRequests", "Retry-After", "30")}
	r := flow.New("Pool", c.operations(), ext{}, flow.WithClock(clk.now), flow.WithExplanations(1), flow.WithBackoff(flow.NewBackoff()))
	first := r.Reconcile(t.Context(), &pool{}).Conditions()
	for range 3 {
		clk.advance(1e9)
		mustEqual(t, "also as time goes by", first, r.Reconcile(t.Context(), &pool{}).Conditions())
	}
}
