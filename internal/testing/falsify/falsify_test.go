package falsify_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/internal/testing/falsify"
)

func TestFound(t *testing.T) {
	cases := map[string]struct {
		reason   string
		property func(*rapid.T)
		want     bool
	}{
		"Holds":  {"a property that holds is not falsified", func(t *rapid.T) { rapid.Int().Draw(t, "n") }, false},
		"Fails":  {"a property that fails for some inputs is falsified", func(t *rapid.T) { fail(t, rapid.IntRange(0, 9).Draw(t, "n") == 7) }, true},
		"Panics": {"a property that panics is falsified", func(t *rapid.T) { panic("p") }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := falsify.Found(t, 0, tc.property); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
}

func fail(t *rapid.T, wrong bool) {
	if wrong {
		t.Fatal("wrong")
	}
}
