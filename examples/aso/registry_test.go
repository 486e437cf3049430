package aso_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/examples/aso"
	"github.com/windlass-go/windlass/flow"
)

// TestRegister: each kind has the base, whose owner check comes before any
// request, and its own extensions.
func TestRegister(t *testing.T) {
	var registry flow.Registry[aso.Object]
	aso.Register(&registry, aso.APIs{})
	kinds := registry.Kinds()
	for kind := range aso.Classifiers {
		if !slices.Contains(kinds, kind) {
			t.Errorf("%s has rules but is not registered", kind)
		}
	}
	for _, kind := range kinds {
		r, err := registry.For(kind, flow.Operations[aso.Object]{
			Key:   func(o aso.Object) string { return o.GetName() },
			Owner: func(context.Context, aso.Object) (checks.Object, error) { return checks.Object{}, nil },
			Apply: func(context.Context, *flow.Request[aso.Object]) (flow.Progress, error) { return flow.Done(), nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		flow := r.String()
		if !strings.Contains(flow, "OwnerCheck   OwnerReady") {
			t.Errorf("%s: want the owner check of the base in:\n%s", kind, flow)
		}
		if want := aso.Classifiers[kind] != nil; strings.Contains(flow, "Classify     Table(") != want {
			t.Errorf("%s: want rules of the kind: %t:\n%s", kind, want, flow)
		}
	}
	if len(kinds) != 50 {
		t.Errorf("%d kinds, want 17 with checks and 33 with rules only", len(kinds))
	}
}
