package checks_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

// configurable is every constructor that takes options, under the name that its panics give.
var configurable = map[string]func(...checks.Option){
	"OwnerReady":             func(o ...checks.Option) { checks.OwnerReady(o...) },
	"OwnerFound":             func(o ...checks.Option) { checks.OwnerFound(o...) },
	"OwnerProvisioningState": func(o ...checks.Option) { checks.OwnerProvisioningState(deepState, o...) },
	"fits":                   func(o ...checks.Option) { checks.OwnerIs("fits", func(*Deep) string { return "" }, o...) },
	"suits": func(o ...checks.Option) {
		checks.OwnerFits("suits", func(*Database, *Deep) string { return "" }, o...)
	},
	"ProvisioningState": func(o ...checks.Option) { checks.ProvisioningState(deepState, o...) },
	"LiveState": func(o ...checks.Option) {
		checks.LiveState(func(context.Context, request) (string, error) { return "", nil }, o...)
	},
	"ReferenceReady(network)": func(o ...checks.Option) {
		checks.ReferenceReady("network", func(*Deep) []checks.Ref { return nil }, o...)
	},
	"ReferenceIs(network)": func(o ...checks.Option) {
		checks.ReferenceIs("network", func(*Deep) []checks.Ref { return nil }, func(*Deep, *Deep) string { return "" }, o...)
	},
	"fine": func(o ...checks.Option) { checks.ResourceIs("fine", func(*Deep) string { return "" }, o...) },
	"ApprovalPending": func(o ...checks.Option) {
		checks.ApprovalPending(func(*Deep) []int { return nil }, func(int) checks.Approval { return checks.Approval{} }, o...)
	},
	"Valid":  func(o ...checks.Option) { checks.Valid(func(*Deep) error { return nil }, o...) },
	"Paused": func(o ...checks.Option) { checks.Paused(func(*Deep) bool { return false }, o...) },
	"Cached(a)": func(o ...checks.Option) {
		checks.Cached(time.Hour, func(request) int { return 0 }, says[request]("a", checks.Proceed(), nil), o...)
	},
}

// TestOptionsFit gives each option to each check: an option that does nothing there must not pass unnoticed.
func TestOptionsFit(t *testing.T) {
	var all []string
	for check := range configurable {
		all = append(all, check)
	}
	slices.Sort(all)
	but := func(name string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(c string) bool { return c == name })
	}
	states := []string{"LiveState", "OwnerProvisioningState", "ProvisioningState"}
	cases := map[string]struct {
		reason string
		option checks.Option
		takes  []string
	}{
		"WithAllowed":          {"only checks of states take states", checks.WithAllowed("a"), states},
		"WithDenied":           {"both ways", checks.WithDenied("a"), states},
		"WithExactStates":      {"and how they are compared", checks.WithExactStates(), states},
		"WithUnknownAllowed":   {"what may not be reported", checks.WithUnknownAllowed(), []string{"ApprovalPending", "LiveState", "OwnerProvisioningState", "ProvisioningState", "ReferenceIs(network)", "fits", "suits"}},
		"WithWrongKindAllowed": {"only checks that look into an owner or a reference expect a type", checks.WithWrongKindAllowed(), []string{"OwnerProvisioningState", "ReferenceIs(network)", "fits", "suits"}},
		"WithByIDBlocked":      {"only where being known by ID only passes", checks.WithByIDBlocked(), []string{"OwnerFound", "OwnerReady", "ReferenceReady(network)"}},
		"WithRequiredOwner":    {"only where no owner proceeds", checks.WithRequiredOwner(), []string{"OwnerFound", "OwnerReady"}},
		"WithMinimum":          {"only approvals are counted", checks.WithMinimum(1), []string{"ApprovalPending"}},
		"WithReason":           {"everything that blocks has a reason", checks.WithReason("Other"), but("Cached(a)")},
		"WithRetry":            {"and is looked at again", checks.WithRetry(classify.Fast), but("Cached(a)")},
		"WithAfter":            {"at a time", checks.WithAfter(time.Second), but("Cached(a)")},
		"WithWaitingFor":       {"or when something happens", checks.WithWaitingFor(prod), but("Cached(a)")},
		"WithClock":            {"only Cached looks at the clock", checks.WithClock(time.Now), []string{"Cached(a)"}},
		"WithSize":             {"and remembers", checks.WithSize(1), []string{"Cached(a)"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var takes []string
			for _, check := range all {
				text := panicOf(func() { configurable[check](tc.option) })
				what := "the option " + name
				if _, ok := tc.option.(checks.BlockOption); ok {
					what = "a BlockOption"
				}
				switch {
				case text == "":
					takes = append(takes, check)
				case !strings.HasPrefix(text, "checks: "+check+": "+what+" is not for this check"):
					t.Errorf("the panic of %s is %q", check, text)
				}
			}
			if diff := cmp.Diff(tc.takes, takes); diff != "" {
				t.Errorf("%s: is taken by: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOptionsSetUp(t *testing.T) {
	state := func(opts ...checks.Option) func() {
		return func() { checks.ProvisioningState(deepState, opts...) }
	}
	cached := func(opts ...checks.Option) func() { return func() { configurable["Cached(a)"](opts...) } }
	cases := map[string]setUp{
		"NoStates":   {"WithAllowed without states would block everything", state(checks.WithAllowed[string]()), "checks: ProvisioningState: WithAllowed names no states"},
		"NoDenied":   {"WithDenied without states would let everything pass", state(checks.WithDenied[State]()), "checks: ProvisioningState: WithDenied names no states"},
		"Empty":      {"an empty state is not reported", state(checks.WithAllowed("a", "")), "checks: ProvisioningState: WithAllowed names an empty state: use WithUnknownAllowed to allow a state that is not reported"},
		"Blank":      {"however empty it is", state(checks.WithDenied(" ")), "checks: ProvisioningState: WithDenied names an empty state: use WithUnknownAllowed to allow a state that is not reported"},
		"DenyAllow":  {"WithAllowed and WithDenied contradict each other, in both orders", state(checks.WithDenied("a"), checks.WithAllowed("b")), "checks: ProvisioningState: both WithAllowed and WithDenied are given: give one of them"},
		"BadReason":  {"a reason that Kubernetes would refuse is found while setting up", state(checks.WithReason("not yet")), `checks: ProvisioningState: WithReason("not yet") is not a condition reason: a letter, then letters, digits and _,: only`},
		"NoReason":   {"so is an empty one", state(checks.WithReason("")), `checks: ProvisioningState: WithReason("") is not a condition reason: a letter, then letters, digits and _,: only`},
		"LongReason": {"which is not repeated whole", state(checks.WithReason(strings.Repeat("x", 1025))), `checks: ProvisioningState: WithReason("` + strings.Repeat("x", 78) + `... (947 bytes more)") is not a condition reason: a letter, then letters, digits and _,: only`},
		"NilClock":   {"a clock has to be one", cached(checks.WithClock(nil)), "checks: Cached(a): WithClock: the function is nil"},
		"Size0":      {"to remember nothing is not to use Cached", cached(checks.WithSize(0)), "checks: Cached(a): WithSize(0): give at least 1"},
		"Negative":   {"nor less", cached(checks.WithSize(-1)), "checks: Cached(a): WithSize(-1): give at least 1"},
	}
	for check, with := range configurable {
		cases["Nil/"+check] = setUp{"a nil option is named by its place", func() { with(nil) }, "checks: " + check + ": option 1 is nil"}
	}
	mustPanic(t, cases)
}

// TestOptionsAreReused uses one value for several checks: none may leave something in it.
func TestOptionsAreReused(t *testing.T) {
	allow, waiting := checks.WithAllowed("a"), checks.WithWaitingFor(prod)
	req := &checks.Request[*Deep]{Resource: deep(ptr(State("x"))), Presence: checks.Present}
	for _, more := range [][]checks.Option{{checks.WithAllowed("b")}, {checks.WithAllowed("c")}, {}} {
		wanted := []string{"it must be a", "it must be a or b", "it must be a or c"}
		got, _ := ask(t, checks.ProvisioningState(deepState, append([]checks.Option{allow, waiting}, more...)...), req)
		if i := slices.IndexFunc(wanted, func(s string) bool { return strings.HasSuffix(got.Result.Message(), s) }); i < 0 || (i == 0) != (len(more) == 0) {
			t.Errorf("WithAllowed used several times: %s", got.Result)
		}
		if diff := cmp.Diff([]checks.Ref{prod}, got.Result.WaitingFor()); diff != "" {
			t.Errorf("WithWaitingFor used several times: -want, +got:\n%s", diff)
		}
	}
}

// TestBlockOptionsOfChecks gives those to a check that waits for something by itself.
func TestBlockOptionsOfChecks(t *testing.T) {
	check := checks.OwnerReady(checks.WithAfter(time.Minute), checks.WithRetry(classify.OnChange), checks.WithWaitingFor(lan, prod))
	want := answer{Result: checks.Block("OwnerNotFound", "owner Cluster prod was not found: waiting until it is created",
		checks.WithRetry(classify.OnChange), checks.WithAfter(time.Minute), checks.WithWaitingFor(prod, lan))}
	for range 2 { // the second block is made of the same options
		mustAnswer(t, "what the check waits for comes first, each once", want, check, &checks.OwnerRequest{Owner: checks.Object{Ref: prod}})
	}
}
