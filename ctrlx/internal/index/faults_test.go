package index_test

import (
	"testing"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/falsify"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/race"
	"pgregory.net/rapid"
)

// A proof that accepts every index proves nothing. Each case is an index with a
// plausible fault. The proof must find that the index loses wake-ups, or wakes
// the wrong waiters.

func TestPlain(t *testing.T) {
	if race.Enabled {
		t.Skip("steps in sequence have no races")
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
		loses []string // the scenarios in which a wake-up is lost
		other func(*rapid.T, maker)
	}{
		"DropsUnknown":       {"a waiter that has registered and not yet read is not woken", faults{dropsUnknown: true}, []string{"One", "Unread"}, nil},
		"ComparesWithOld":    {"a change that a relist has skipped looks like no change", faults{comparesWithOld: true}, []string{"Relist"}, nil},
		"WaitDropsFirst":     {"a change while a pass ends finds no entry", faults{waitDropsFirst: true}, []string{"One"}, nil},
		"IgnoresRunning":     {"only passes that have ended are woken", faults{ignoresRunning: true}, []string{"One"}, nil},
		"IgnoresKept":        {"a pass that never ends disables the entries of the last pass", faults{ignoresKept: true}, []string{"Dies"}, nil},
		"BeginDrops":         {"Begin drops the waits of the last pass", faults{beginDrops: true}, []string{"Dies"}, nil},
		"LateIsSilent":       {"a ref that was read before it was registered may have changed, and Wait does not wake", faults{lateIsSilent: true}, []string{"OutsideAgain"}, nil},
		"LateIsReady":        {"the digest that an earlier pass has seen counts for this pass", faults{lateIsReady: true}, []string{"OutsideAgain"}, nil},
		"LastDigestCounts":   {"of two reads that differ, the last digest counts, and the first has decided", faults{lastDigestCounts: true}, []string{"Twice"}, nil},
		"AnyLookCloses":      {"of two looks at once, one has not seen anything yet, and the other closes it", faults{anyLookCloses: true}, []string{"TwiceAtOnce"}, nil},
		"EarlierCounts":      {"of two passes at once, the earlier one counts", faults{earlierCounts: true}, []string{"AtOnceEnds"}, nil},
		"RegisterSees":       {"Register takes the digest that the last pass has seen for the digest of this pass", faults{registerSees: true}, []string{"TwoRelist"}, nil},
		"ForgetsOthers":      {"the waiters of an object that is gone are dropped with it", faults{forgetsOthers: true}, nil, sameAsPlain},
		"ForgetKeepsRunning": {"a waiter that is gone waits for ever", faults{forgetKeepsRunning: true}, nil, sameAsPlain},
		"FollowsAll":         {"each change of a followed ref wakes, as for a waiter", faults{followsAll: true}, nil, sameAsPlain},
		"WakesAgain":         {"each event after a change of a followed ref wakes, until a pass reads it", faults{wakesAgain: true}, nil, sameAsPlain},
		"WakesTheCause":      {"a member of a set wakes itself by each change", faults{wakesTheCause: true}, nil, sameAsPlain},
		"LosesItsPlace":      {"a woken waiter leaves the list, and the next waiter is skipped", faults{losesItsPlace: true}, nil, callsBack},
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

// TestFaultsDiffer verifies that the model notices every fault that shows
// without an interruption.
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
				t.Error("the model does not notice the fault")
			}
		})
	}
}
