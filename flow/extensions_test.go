package flow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// each makes extensions with a link of this name at each point.
func each(name string) ext {
	return (&cloud{}).each(func(string) string { return name })
}

// alone makes, for each point, extensions with one link at that point only.
func alone(name string) map[string]ext {
	e := each(name)
	return map[string]ext{
		"Pass": {Pass: e.Pass}, "EntryCheck": {EntryCheck: e.EntryCheck}, "OwnerCheck": {OwnerCheck: e.OwnerCheck}, "Get": {Get: e.Get},
		"GetCheck": {GetCheck: e.GetCheck}, "PreCheck": {PreCheck: e.PreCheck}, "Apply": {Apply: e.Apply}, "PostCheck": {PostCheck: e.PostCheck},
		"DeleteCheck": {DeleteCheck: e.DeleteCheck}, "Delete": {Delete: e.Delete}, "Classify": {Classify: e.Classify},
	}
}

func printed(e ext) map[string]string {
	return map[string]string{
		"Pass": e.Pass.String(), "EntryCheck": e.EntryCheck.String(), "OwnerCheck": e.OwnerCheck.String(), "GetCheck": e.GetCheck.String(), "Get": e.Get.String(), "PreCheck": e.PreCheck.String(), "Apply": e.Apply.String(),
		"PostCheck": e.PostCheck.String(), "DeleteCheck": e.DeleteCheck.String(), "Delete": e.Delete.String(), "Classify": e.Classify.String(),
	}
}

func all(text string) map[string]string {
	m := map[string]string{}
	for point := range printed(ext{}) {
		m[point] = text
	}
	return m
}

func TestExtend(t *testing.T) {
	base := each("Base")
	a, b := base.Extend(each("A")), base.Extend(each("B"), each("C"))
	mustEqual(t, "the links of a kind are inside the links of the base", all("noteBase -> noteA"), printed(a))
	mustEqual(t, "one kind changes neither another kind nor the base", all("noteBase -> noteB -> noteC"), printed(b))
	mustEqual(t, "the base stays as it was", all("noteBase"), printed(base))
	mustEqual(t, "empty extensions add no link", all("noteBase"), printed(ext{}.Extend(base, ext{})))
	mustEqual(t, "Extend without others adds no link", all("noteBase"), printed(base.Extend()))
}

// Each link of a Reconciler's extensions has its point.
func TestExtensionsOfReconciler(t *testing.T) {
	c := &cloud{}
	r := flow.New("Pool", c.operations(), each("X"))
	mustEqual(t, "Name returns the name given to New", "Pool", r.Name())
	e := r.Extensions()
	got := map[string]string{
		e.Pass.Links()[0].Point: "Pass", e.EntryCheck.Links()[0].Point: "EntryCheck", e.OwnerCheck.Links()[0].Point: "OwnerCheck", e.GetCheck.Links()[0].Point: "GetCheck", e.Get.Links()[0].Point: "Get", e.PreCheck.Links()[0].Point: "PreCheck",
		e.Apply.Links()[0].Point: "Apply", e.PostCheck.Links()[0].Point: "PostCheck", e.DeleteCheck.Links()[0].Point: "DeleteCheck",
		e.Delete.Links()[0].Point: "Delete", e.Classify.Links()[0].Point: "Classify",
	}
	want := map[string]string{}
	for point := range printed(ext{}) {
		want[point] = point
	}
	mustEqual(t, "each link has its point", want, got)
}

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

func TestConvertPanics(t *testing.T) {
	c := &cloud{}
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
			{&e.EntryCheck, &observed.EntryCheck}, {&e.GetCheck, &observed.GetCheck}, {&e.PreCheck, &observed.PreCheck}, {&e.PostCheck, &observed.PostCheck}, {&e.DeleteCheck, &observed.DeleteCheck},
		} {
			if c.from.Len() > 0 {
				*c.to = c.from.Observe(&recorder{})
			}
		}
		cases["Observed"+point] = panicCase{"the observers of every point would be lost", func() { flow.Convert(observed, (*pool2).older) },
			"flow: Convert: the chain at " + point + " (noteX) has observers, which would be lost: put them around the result, or use WithObserver"}
	}
	for _, point := range []string{"Pass", "Get", "Apply", "Delete"} {
		cases[point] = panicCase{"the changes of such a link to the resource would be lost", func() { flow.Convert(alone("X")[point], (*pool2).older) },
			"flow: Convert: links on " + point + why}
	}
	mustPanic(t, cases)
	mustPanic(t, map[string]panicCase{
		"Nil":    {"Convert needs a function", func() { flow.Convert[*pool2](each("X"), nil) }, "flow: Convert: the function is nil"},
		"Itself": {"every check would run twice", func() { base.Extend(base) }, twice},
		"Others": {"the second of others is checked, too", func() { base.Extend(ext{}, base) }, twice},
		"Made":   {"extensions made of the base share its links", func() { base.Extend(base.Extend(ext{})) }, twice},
		"Named":  {"the extensions of a reconciler share the links of the base", func() { base.Extend(flow.New("Pool", c.operations(), base).Extensions()) }, twice},
		"Decorated": {"a lost observer or decoration might have been a guard", func() { base.Extend(ext{Apply: each("X").Apply.Observe(&recorder{})}) },
			"flow: Extend: the chain at Apply (noteX) has observers, which would be lost: put them around the result, or use WithObserver"},
	})
}
