package component_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/dependents"
)

// A link that stops the writes of a wave is no problem for a component in sync.
func TestWindow(t *testing.T) {
	t.Parallel()
	open := true
	window := func(next component.WaveHandler) component.WaveHandler {
		return func(ctx context.Context, wave *component.Wave) (component.Result, error) {
			if len(wave.Pending()) > 0 && !open {
				return component.Result{Reason: "WindowClosed", Message: wave.Pending()[0].Ref.Name + " waits", After: time.Hour}, nil
			}
			return next(ctx, wave)
		}
	}
	w := newWorld(t, component.WithWaveChain(func(c component.WaveChain) (component.WaveChain, error) {
		return c.InsertAfter("Look", chain.Named("Window", window))
	}))
	w.want(configMap("a", "1"), configMap("b", "1"))
	w.settle()
	open = false
	if res, err := w.pass(); err != nil || !res.Done {
		t.Errorf("a component in sync is not done: %+v, %v", res, err)
	}
	w.want(configMap("a", "1"), configMap("b", "2"))
	res, err := w.pass()
	want := component.Result{Reason: "WindowClosed", Message: "wave 1 of 1: 1 of 2 objects are ready: b waits", After: time.Hour}
	if diff := cmp.Diff(want, res); diff != "" || err != nil {
		t.Errorf("%v; -want +got:\n%s", err, diff)
	}
	same(t, []string{"a=1", "b=1"}, w.names(), "it was written")
}

// A link that counts writes counts each one once: dry-runs are no writes.
func TestCountedWrites(t *testing.T) {
	t.Parallel()
	var written []string
	count := chain.Named("Count", chain.Before[*dependents.Request, dependents.Result](func(_ context.Context, r *dependents.Request) error {
		if !r.IsDryRun() {
			written = append(written, r.Ref().Name)
		}
		return nil
	}))
	w := newWorld(t, component.WithDependents(dependents.WithApplyChain(func(c dependents.Chain) (dependents.Chain, error) {
		return c.InsertAfter("DryRun", count)
	})))
	w.want(configMap("a", "1"), configMap("b", "1"))
	w.settle()
	w.settle()
	same(t, []string{"a", "b"}, written, "it differs")
}

// TestTelemetry verifies that the observer of a reconciler sees the links of its
// sets, waves and changed dependents, and no link of a dependent in sync.
func TestTelemetry(t *testing.T) {
	l := newLarge(t, 4)
	var seen []string
	log := funcr.New(func(_, args string) {
		var at [3]string
		for i, key := range []string{`"point"="`, `"link"="`, `"verdict"="`} {
			_, text, _ := strings.Cut(args, key)
			at[i], _, _ = strings.Cut(text, `"`)
		}
		if slices.Contains([]string{"Set", "Wave", "Dependent"}, at[0]) && at[2] != "" {
			seen = append(seen, strings.Join(at[:], " "))
		}
	}, funcr.Options{Verbosity: 2})
	pass := func(want ...string) {
		t.Helper()
		seen = nil
		l.passIn(t, logr.NewContext(t.Context(), log))
		slices.Sort(seen)
		same(t, want, slices.Compact(seen), "it differs")
	}
	sets := []string{
		"Set Inventory proceed", "Set Recover proceed", "Set Redundant proceed",
		"Wave Look proceed", "Wave Namespaces proceed", "Wave Preflight proceed", "Wave Recover proceed",
	}
	pass(sets...)
	if err := l.manager.client.Delete(t.Context(), l.objects[1]); err != nil {
		t.Fatal(err)
	}
	pass(append([]string{
		"Dependent Adopt proceed", "Dependent Create proceed", "Dependent DryRun proceed", "Dependent InSync proceed", "Dependent Read proceed",
		"Dependent Ready proceed", "Dependent Recover proceed", "Dependent Terminating proceed",
	}, sets...)...)
}
