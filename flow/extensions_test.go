package flow_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/flow"
)

// each makes extensions with a link of this name at each point.
func each(name string) ext {
	return (&cloud{}).each(func(string) string { return name })
}

// alone makes, for each point, extensions with one link at that point only.
func alone(name string, observers ...chain.Observer) map[string]ext {
	only := map[string]ext{}
	for point, links := range reflect.ValueOf(each(name)).Fields() {
		for _, o := range observers {
			links = links.MethodByName("Observe").Call([]reflect.Value{reflect.ValueOf(o)})[0]
		}
		var e ext
		reflect.ValueOf(&e).Elem().FieldByIndex(point.Index).Set(links)
		only[point.Name] = e
	}
	return only
}

// mustPrint fails unless the chain of each point prints as text.
func mustPrint(t *testing.T, reason, text string, e ext) {
	t.Helper()
	for point, links := range reflect.ValueOf(e).Fields() {
		mustEqual(t, reason+": "+point.Name, text, fmt.Sprint(links))
	}
}

func TestExtend(t *testing.T) {
	base := each("Base")
	a, b := base.Extend(each("A")), base.Extend(each("B"), each("C"))
	mustPrint(t, "the links of a kind are inside the links of the base", "noteBase -> noteA", a)
	mustPrint(t, "one kind changes neither another kind nor the base", "noteBase -> noteB -> noteC", b)
	mustPrint(t, "the base stays as it was", "noteBase", base)
	mustPrint(t, "empty extensions add no link", "noteBase", ext{}.Extend(base, ext{}))
	mustPrint(t, "Extend without others adds no link", "noteBase", base.Extend())
}

// Each link of a Reconciler's extensions has its point.
func TestExtensionsOfReconciler(t *testing.T) {
	r := flow.New("Pool", (&cloud{}).operations(), each("X"))
	mustEqual(t, "Name returns the name given to New", "Pool", r.Name())
	for point, links := range reflect.ValueOf(r.Extensions()).Fields() {
		got := links.MethodByName("Links").Call(nil)[0].Interface().([]chain.Link)
		mustEqual(t, "each link has its point", point.Name, got[0].Point)
	}
}

// world2 is a later version of world.
type world2 struct{ *world }

// Converted checks and rules have the same effect in the flow of a new version
// as in the flow of the old one.
func TestConvertChangesNothing(t *testing.T) {
	converted := func(w *world, counts map[string]int, keep bool) func(context.Context) result {
		ext := flow.Convert(w.extensions(counts), func(w2 *world2) (*world, error) { return w2.world, nil })
		r := flow.New("thing", operationsFor[*world2](w, keep), ext, flow.WithBackoff(plain()))
		return func(ctx context.Context) result {
			return resultOf(r.Reconcile(ctx, &world2{w}))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		programs, counts, keep := drawRun(t)
		for _, acting := range []string{"Pass", "Get", "Apply", "Delete"} {
			counts[acting] = 0
		}
		mustRunAlike(t, "the new version", theFlow(), converted, programs, counts, keep)
	})
}

func TestExtensionsPanic(t *testing.T) {
	older := func(*disk) (*pool, error) { return nil, nil }
	base, observed := alone("X")["PreCheck"], alone("X", &recorder{})
	twice := func(point string) string {
		return "flow: Extend: at " + point + ", links of (noteX) are in (noteX) already and would run twice: " +
			"do not extend extensions by themselves, or by extensions with the same links"
	}
	lost := func(what, point string) string {
		return "flow: " + what + ": the chain at " + point + " (noteX) has observers, which would be lost: put them around the result, or use WithObserver"
	}
	cases := map[string]panicCase{
		"Nil":    {"Convert needs a function", func() { flow.Convert[*disk](each("X"), nil) }, "flow: Convert: the function is nil"},
		"Others": {"the second of others is checked, too", func() { base.Extend(ext{}, base) }, twice("PreCheck")},
		"Made":   {"extensions made of the base share its links", func() { base.Extend(base.Extend(ext{})) }, twice("PreCheck")},
		"Named": {"the extensions of a reconciler share the links of the base", func() {
			base.Extend(flow.New("Pool", (&cloud{}).operations(), base).Extensions())
		}, twice("PreCheck")},
	}
	for point, e := range alone("X") {
		cases["Twice"+point] = panicCase{"the links of every point would run twice", func() { e.Extend(e) }, twice(point)}
		cases["Extend"+point] = panicCase{"a lost observer might have been a guard", func() { base.Extend(observed[point]) }, lost("Extend", point)}
		switch point {
		case "OwnerCheck", "Classify": // Convert does not change these chains
		case "Pass", "Get", "Apply", "Delete":
			cases["Convert"+point] = panicCase{"the changes of such a link to the resource would be lost", func() { flow.Convert(e, older) },
				"flow: Convert: links on " + point + " (noteX) act on the resource and cannot be converted: leave them out, and write them for the new type"}
		default:
			cases["Convert"+point] = panicCase{"the observers of every point would be lost", func() { flow.Convert(observed[point], older) }, lost("Convert", point)}
		}
	}
	mustPanic(t, cases)
}
