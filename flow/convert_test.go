package flow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// pool2 is a later version of pool.
type pool2 struct {
	title string
	fail  error
}

func (p *pool2) older() (*pool, error) { return &pool{name: p.title}, p.fail }

// world2 is a later version of world.
type world2 struct{ *world }

// Converted checks and rules have the same effect in the flow of a new version
// as in the flow of the old one.
func TestConvertChangesNothing(t *testing.T) {
	converted := func(w *world, counts map[string]int, keep bool) func(context.Context) result {
		ext := flow.Convert(w.extensions(counts), func(w2 *world2) (*world, error) { return w2.world, nil })
		r := flow.New("thing", operationsFor[*world2](w, keep), ext, steady())
		return func(ctx context.Context) result {
			return resultOf(r.Reconcile(ctx, &world2{w}))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		programs, counts, keep := drawRun(t)
		for _, acting := range []string{"Pass", "Get", "Apply", "Delete"} {
			counts[acting] = 0
		}
		if diff := cmp.Diff(run(theFlow(steady()), programs, counts, keep), run(converted, programs, counts, keep), seenComparer); diff != "" {
			t.Fatalf("-old version, +converted:\n%s", diff)
		}
	})
}

func TestConvert(t *testing.T) {
	old := ext{
		EntryCheck: chain.New(checks.Paused(func(p *pool) bool { return p.name == "denied" })),
		OwnerCheck: chain.New(checks.OwnerReady()),
		PreCheck: chain.New(checks.ResourceIs("named", func(p *pool) string {
			if p.name == "" {
				return "the name is missing"
			}
			return ""
		})),
		PostCheck:   chain.New(checks.Paused(func(*pool) bool { return false })),
		DeleteCheck: chain.New(checks.Paused(func(p *pool) bool { return p.name == "kept" })),
		Classify:    classify.Table{{Name: "old", Code: "Busy", APIVersions: "<2026-01-01", Retry: classify.Fast}, {Name: "both", Code: "Busy", Retry: classify.VerySlow}}.Chain(),
	}
	converted := flow.Convert(old, (*pool2).older)
	now := printed(ext{OwnerCheck: converted.OwnerCheck, Classify: converted.Classify})
	now["EntryCheck"], now["PreCheck"] = converted.EntryCheck.String(), converted.PreCheck.String()
	now["PostCheck"], now["DeleteCheck"] = converted.PostCheck.String(), converted.DeleteCheck.String()
	mustEqual(t, "all names stay", printed(old), now)

	deleting := false
	var applied error
	r := flow.New("Pool", flow.Operations[*pool2]{
		Key:      func(p *pool2) string { return p.title },
		Owner:    func(context.Context, *pool2) (checks.Object, error) { return checks.Object{}, nil },
		Apply:    func(context.Context, *flow.Request[*pool2]) (flow.Progress, error) { return flow.Done(), applied },
		Deleting: func(*pool2) bool { return deleting },
	}, converted.Extend(flow.Extensions[*pool2]{PreCheck: chain.New(checks.ResourceIs("short", func(p *pool2) string {
		if len(p.title) > 8 {
			return "the title is too long"
		}
		return ""
	}))}), flow.WithAPIVersion("2026-05-01"))

	cases := map[string]struct {
		reason   string
		p        *pool2
		applied  error
		deleting bool
		want     place
		why      string
		rule     string
	}{
		"Ready":      {reason: "the checks of both versions proceed", p: &pool2{title: "fine"}, want: place{State: flow.StateReady}, why: ""},
		"Entry":      {reason: "the EntryCheck of the old version blocks", p: &pool2{title: "denied"}, want: place{flow.StateBlocked, "EntryCheck", "Paused"}, why: "the resource is paused; resume it to continue"},
		"Old":        {reason: "the PreCheck of the old version blocks", p: &pool2{}, want: place{flow.StateBlocked, "PreCheck", "named"}, why: "the name is missing"},
		"New":        {reason: "the PreCheck of the new version runs inside the old ones", p: &pool2{title: "much too long"}, want: place{flow.StateBlocked, "PreCheck", "short"}, why: "the title is too long"},
		"Delete":     {reason: "the DeleteCheck of the old version blocks", p: &pool2{title: "kept"}, deleting: true, want: place{flow.StateBlocked, "DeleteCheck", "Paused"}, why: "the resource is paused; resume it to continue"},
		"APIVersion": {reason: "a rule for older API versions does not match", p: &pool2{title: "fine"}, applied: response(409, "Busy"), want: place{flow.StateFailed, "Apply", ""}, why: "the service gave no message (HTTP 409 Conflict)", rule: "both"},
		"Fails":      {reason: "the error of a conversion names the kind and both types", p: &pool2{title: "odd", fail: errBoom}, want: place{flow.StateFailed, "EntryCheck", "Paused"}, why: "check Paused failed: Pool: cannot convert *flow_test.pool2 to *flow_test.pool: boom", rule: "Unknown"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			deleting, applied = tc.deleting, tc.applied
			out := r.Reconcile(t.Context(), tc.p)
			mustEqual(t, tc.reason, tc.want, placeOf(out))
			mustEqual(t, tc.reason, []string{tc.why, tc.rule}, []string{out.Message(), out.Rule()})
		})
	}
}

func TestConvertPanics(t *testing.T) {
	c := &cloud{}
	acting := func(point string) func() {
		e, all := ext{}, each("X")
		switch point {
		case "Pass":
			e.Pass = all.Pass
		case "Get":
			e.Get = all.Get
		case "Apply":
			e.Apply = all.Apply
		case "Delete":
			e.Delete = all.Delete
		}
		return func() { flow.Convert(e, (*pool2).older) }
	}
	why := " (noteX) act on the resource and cannot be converted: leave them out, and write them for the new type"
	base := ext{PreCheck: chain.New(noting[*checks.Request[*pool], checks.Result](c, "Base"))}
	twice := "flow: Extend: at PreCheck, links of (noteBase) are in (noteBase) already and would run twice: do not extend extensions by themselves, or by extensions with the same links"
	cases := map[string]panicCase{}
	for point, e := range alone("X") {
		cases["Twice"+point] = panicCase{"the links of every point would run twice", func() { e.Extend(e) },
			"flow: Extend: at " + point + ", links of (noteX) are in (noteX) already and would run twice: do not extend extensions by themselves, or by extensions with the same links"}
		if !strings.HasSuffix(point, "Check") || point == "OwnerCheck" {
			continue
		}
		observed := ext{}
		for _, c := range []struct{ from, to *checks.Chain[*pool] }{
			{&e.EntryCheck, &observed.EntryCheck}, {&e.PreCheck, &observed.PreCheck}, {&e.PostCheck, &observed.PostCheck}, {&e.DeleteCheck, &observed.DeleteCheck},
		} {
			if c.from.Len() > 0 {
				*c.to = c.from.Observe(&silent{})
			}
		}
		cases["Observed"+point] = panicCase{"the observers of every point would be lost", func() { flow.Convert(observed, (*pool2).older) },
			"flow: Convert: the chain at " + point + " (noteX) has decorations or observers, which would be lost: put them around the result, or use WithObserver"}
	}
	mustPanic(t, cases)
	mustPanic(t, map[string]panicCase{
		"Nil":    {"Convert needs a function", func() { flow.Convert[*pool2](each("X"), nil) }, "flow: Convert: the function is nil"},
		"Pass":   {"the changes of such a link to the resource would be lost", acting("Pass"), "flow: Convert: links on Pass" + why},
		"Get":    {"the changes of such a link to the resource would be lost", acting("Get"), "flow: Convert: links on Get" + why},
		"Apply":  {"the changes of such a link to the resource would be lost", acting("Apply"), "flow: Convert: links on Apply" + why},
		"Delete": {"the changes of such a link to the resource would be lost", acting("Delete"), "flow: Convert: links on Delete" + why},
		"Itself": {"every check would run twice", func() { base.Extend(base) }, twice},
		"Others": {"the second of others is checked, too", func() { base.Extend(ext{}, base) }, twice},
		"Made":   {"extensions made of the base share its links", func() { base.Extend(base.Extend(ext{})) }, twice},
		"Named":  {"the extensions of a reconciler share the links of the base", func() { base.Extend(flow.New("Pool", c.operations(), base).Extensions()) }, twice},
		"Decorated": {"a lost observer or decoration might have been a guard", func() { base.Extend(ext{Apply: each("X").Apply.Observe(&silent{})}) },
			"flow: Extend: the chain at Apply (noteX) has decorations or observers, which would be lost: put them around the result, or use WithObserver"},
	})
}
