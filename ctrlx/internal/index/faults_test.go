package index_test

import (
	"testing"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/falsify"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/race"
	"pgregory.net/rapid"
)

// A proof that finds nothing wrong with anything proves nothing. Each of these is an index with a fault that somebody
// could make, and has to be found to lose wake-ups, or to wake others than it should.

func TestPlain(t *testing.T) {
	if race.Enabled {
		t.Skip("one step after the other has no races")
	}
	for name, tc := range scenarios {
		if lost, _ := tc.loses(makePlain(faults{})); lost != "" {
			t.Errorf("%s: %s", name, lost)
		}
	}
	rapid.Check(t, func(t *rapid.T) { sameAsPlain(t, makePlain(faults{})) })
	rapid.Check(t, func(t *rapid.T) { callsBack(t, makePlain(faults{})) })
}

func TestFaults(t *testing.T) {
	cases := map[string]struct {
		reason string
		faults
		loses []string // the scenarios in which something is lost
		other func(*rapid.T, maker)
	}{
		"DropsUnknown":       {"who has registered and not yet read is not woken", faults{dropsUnknown: true}, []string{"One", "Unread"}, nil},
		"ComparesWithOld":    {"what a relist has skipped looks like no change", faults{comparesWithOld: true}, []string{"Relist"}, nil},
		"WaitDropsFirst":     {"a change while a pass ends finds no entry", faults{waitDropsFirst: true}, []string{"One"}, nil},
		"IgnoresRunning":     {"only what has ended is woken", faults{ignoresRunning: true}, []string{"One"}, nil},
		"IgnoresKept":        {"a pass that comes to nothing has shut off the last one", faults{ignoresKept: true}, []string{"Dies"}, nil},
		"BeginDrops":         {"a pass drops what the last one waits for when it begins", faults{beginDrops: true}, []string{"Dies"}, nil},
		"LateIsSilent":       {"what was read before it was registered has changed since", faults{lateIsSilent: true}, []string{"OutsideAgain"}, nil},
		"LateIsReady":        {"what an earlier pass has seen is taken for what this one has", faults{lateIsReady: true}, []string{"OutsideAgain"}, nil},
		"LastDigestCounts":   {"of two reads that differ the first has decided", faults{lastDigestCounts: true}, []string{"Twice"}, nil},
		"AnyLookCloses":      {"of two looks at once one has not seen anything yet", faults{anyLookCloses: true}, []string{"TwiceAtOnce"}, nil},
		"EarlierCounts":      {"of two passes at once the earlier one has the last word", faults{earlierCounts: true}, []string{"AtOnceEnds"}, nil},
		"RegisterSees":       {"to register is not to have seen what was seen last time", faults{registerSees: true}, []string{"TwoRelist"}, nil},
		"ForgetsOthers":      {"those that wait for what is gone are dropped with it", faults{forgetsOthers: true}, nil, sameAsPlain},
		"ForgetKeepsRunning": {"who is gone waits for ever", faults{forgetKeepsRunning: true}, nil, sameAsPlain},
		"LosesItsPlace":      {"who is woken leaves, and the next one is left out", faults{losesItsPlace: true}, nil, callsBack},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, s := range tc.loses {
				lost, orders := scenarios[s].loses(makePlain(tc.faults))
				if lost == "" {
					t.Errorf("%s, and nothing was lost in %d orders of %s", tc.reason, orders, s)
				}
				t.Log(lost)
			}
			if tc.other != nil && !falsify.Found(t, 2000, func(t *rapid.T) { tc.other(t, makePlain(tc.faults)) }) {
				t.Errorf("%s, and nothing was found", tc.reason)
			}
		})
	}
}

// TestFaultsDiffer: the model notices every fault that shows without being interrupted.
func TestFaultsDiffer(t *testing.T) {
	cases := map[string]faults{
		"DropsUnknown": {dropsUnknown: true}, "ComparesWithOld": {comparesWithOld: true}, "IgnoresRunning": {ignoresRunning: true},
		"IgnoresKept": {ignoresKept: true}, "BeginDrops": {beginDrops: true}, "LateIsSilent": {lateIsSilent: true},
		"LateIsReady": {lateIsReady: true}, "LastDigestCounts": {lastDigestCounts: true}, "AnyLookCloses": {anyLookCloses: true},
		"EarlierCounts": {earlierCounts: true}, "RegisterSees": {registerSees: true},
	}
	for name, f := range cases {
		t.Run(name, func(t *testing.T) {
			if !falsify.Found(t, 3000, func(t *rapid.T) { sameAsPlain(t, makePlain(f)) }) {
				t.Error("the model does not notice it")
			}
		})
	}
}
