package checkstest_test

import (
	"strings"
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"pgregory.net/rapid"
)

type state string

// Each kind of state is drawn: nil, settled, other, in odd case, padded, blank
// and unknown.
func TestProvisioningStates(t *testing.T) {
	if testing.Short() {
		t.Skip("rapid tries too few cases with -short")
	}
	g := checkstest.ProvisioningStates[state]()
	seen := map[string]bool{}
	for seed := range 1000 {
		s := g.Example(seed)
		switch {
		case s == nil:
			seen["nil"] = true
			continue
		case strings.TrimSpace(string(*s)) == "":
			seen["blank"] = true
			continue
		case strings.TrimSpace(string(*s)) != string(*s):
			seen["padded"] = true
		}
		word := strings.TrimSpace(string(*s))
		switch {
		case word == strings.ToLower(word):
			seen["lower"] = true
		case word == strings.ToUpper(word):
			seen["upper"] = true
		}
		seen[strings.ToLower(word)] = true
	}
	for _, want := range append(checks.Settled(), "nil", "blank", "padded", "lower", "upper", "Creating", "Updating", "Deleting", "Stopped", "Upgrading", "?") {
		if !seen[strings.ToLower(want)] {
			t.Errorf("%q is never drawn", want)
		}
	}
}

// The caller may change each drawn state.
func TestProvisioningStatesAreFresh(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if s := checkstest.ProvisioningStates[string]().Draw(t, "state"); s != nil {
			*s = "mine"
		}
	})
}
