package checkstest_test

import (
	"strings"
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
)

type state string

// Each kind of state is drawn: nil, settled, other, in odd case, padded, blank
// and unknown.
func TestProvisioningStates(t *testing.T) {
	g := checkstest.ProvisioningStates[state]()
	seen := map[string]bool{}
	for seed := range 200 {
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
