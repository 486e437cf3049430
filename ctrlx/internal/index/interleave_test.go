package index_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/internal/testing/race"
)

// The proof of the promise plays every order of the steps of passes, of the
// store and of its events, in sequence. After each order, no waiter may wait on
// a state that is no longer true.

// chooser makes every possible choice, in sequence.
type chooser struct {
	made, of []int
	at       int
}

func (c *chooser) choose(n int) int {
	if n == 1 {
		return 0
	}
	if c.at == len(c.made) {
		c.made, c.of = append(c.made, 0), append(c.of, n)
	}
	c.at++
	return c.made[c.at-1]
}

// next moves to choices that were not made yet. It reports whether there are
// any.
func (c *chooser) next() bool {
	for i, n := range slices.Backward(c.of) {
		if c.made[i]++; c.made[i] < n {
			c.made, c.of = c.made[:i+1], c.of[:i+1]
			return true
		}
	}
	return false
}

// scenario is a set of passes and changes that are played together. The steps
// of a pass are separated by blanks:
//
//	begin, wait, done, end     end is wait or done
//	follow                     the end of a pass that follows the ref
//	unseen                     the same, without the digest
//	keep                       the end of a pass that follows the ref without a look at it
//	register, saw, other       other is registered, seen and named by Wait, too
//	read                       the checks decide on this state
//	peek                       saw and follow report this state instead of the last read
//	count                      the number of the last change of a set, which saw and follow report
//	die?                       the pass may stop here, without an end
//
// After a blocked pass the waiter stays blocked on the states that the pass
// read, until the next pass over it. A follower depends on the tens of the
// state only.
type scenario struct {
	passes  []string // in sequence, each in one goroutine
	beside  []string // the same in another goroutine
	states  []uint64 // of the ref; the first one holds at the start
	relist  bool     // events may be left out, except the last one
	forgets bool     // the waiter is forgotten at some time, and woken then
	set     bool     // the ref is a set: an event tells the state before it, too
	early   bool     // the store changes after the event
	live    bool     // reads see a state before the cache has it; the events compare the states of the cache
	catchUp bool     // the waiters of a set that was read live are woken when the cache has caught up
}

// actor performs its steps in sequence.
type actor struct {
	steps []func()
	at    int
}

func (a *actor) ready() bool { return a.at < len(a.steps) }
func (a *actor) step()       { a.at++; a.steps[a.at-1]() }

// passed is the record of a pass.
type passed struct {
	number, began int
	read          []uint64
	ended, waits  bool
	follows       bool // waits, but only for the tens
	keeps         bool // it did not decide
}

// decided reports whether the pass decided on a state.
func (p *passed) decided(state uint64) bool {
	for _, read := range p.read {
		if read != state && !(p.follows && read/10 == state/10) {
			return false
		}
	}
	return true
}

type world struct {
	c        *chooser
	x        *index.Index
	store    uint64
	events   []uint64
	clock    int
	wokenAt  int
	stored   int // the time of the last change
	version  int // of the store
	liveAt   int // the version of the last live read; 0: the cache has caught up
	cached   uint64
	cachedAt int    // the version of the cache
	full     uint64 // the numbers of the last changes of the set
	followed uint64
	tracing  bool
	trace    []string
	all      []*passed
	s        scenario
}

var waiter, ref, other = object("waiter"), object("ref"), object("other")

// play plays the scenario in one order. It returns a description of the lost
// wake-up, or "" if none was lost.
func (s scenario) play(c *chooser, tracing bool) string {
	c.at = 0
	w := &world{c: c, tracing: tracing, store: s.states[0], cached: s.states[0], full: 1, followed: 1, s: s}
	w.x = index.New(func(id ID) {
		if id == waiter {
			w.clock++
			w.wokenAt = w.clock
			w.say("woken")
		}
	}, nil)
	w.x.SetBatch(1)
	one, two, store, events, forget := &actor{}, &actor{}, &actor{}, &actor{}, &actor{}
	for _, p := range s.passes {
		w.pass(one, p)
	}
	for _, p := range s.beside {
		w.pass(two, p)
	}
	reported, handled := uint64(0), true
	for _, state := range s.states[1:] {
		store.steps = append(store.steps, func() {
			set := func() {
				w.say("store %d", state)
				w.store = state
				w.clock++
				w.version, w.stored = w.version+1, w.clock
			}
			if !s.early {
				set()
			}
			w.events = append(w.events, state)
			number := func() {
				if len(w.events) == 0 {
					return // a relist left it out
				}
				skip := 0
				if s.relist {
					skip = w.c.choose(len(w.events))
				}
				state := w.events[skip]
				w.events = w.events[skip+1:]
				w.cachedAt += skip + 1
				w.number(state)
				reported, handled = state, false
			}
			handle := func() {
				if !handled {
					handled = true
					w.say("changed %d", reported)
					w.changed(reported)
				}
			}
			if s.set { // passes read the number meanwhile
				events.steps = append(events.steps, number, handle)
			} else {
				events.steps = append(events.steps, func() { number(); handle() })
			}
			if s.early {
				events.steps = append(events.steps, set)
			}
		})
	}
	if s.forgets {
		forget.steps = append(forget.steps, func() {
			w.say("forget")
			w.x.Forget(waiter)
			w.clock++
			w.wokenAt = w.clock
		})
	}
	for {
		var ready []*actor
		for _, a := range []*actor{one, two, store, events, forget} {
			if a.ready() {
				ready = append(ready, a)
			}
		}
		if len(ready) == 0 {
			break
		}
		ready[c.choose(len(ready))].step()
	}

	// Of the passes that have ended, the pass that began last counts.
	var last *passed
	for _, p := range w.all {
		if p.ended && (last == nil || p.number > last.number) {
			last = p
		}
	}
	if last == nil || !last.waits || w.wokenAt > last.began {
		return ""
	}
	decided := last
	if last.keeps {
		for _, p := range w.all[:last.number-1] {
			if p.ended && !p.keeps {
				decided = p
			}
		}
		if last.began > w.stored || !decided.follows {
			return "" // a pass ran after the change, or there is nothing to keep
		}
	}
	if !decided.decided(w.store) {
		return fmt.Sprintf("pass %d decided on %d, and the store has %d: %s", decided.number, decided.read, w.store, strings.Join(w.trace, ", "))
	}
	return ""
}

// number gives a change of a set its number.
func (w *world) number(state uint64) {
	if w.cached != state {
		w.full++
		if w.cached/10 != state/10 {
			w.followed = w.full
		}
	}
	w.cached = state
}

// changed handles an event.
func (w *world) changed(state uint64) {
	c := index.Change{Full: state, Follow: state / 10}
	if w.s.set {
		c = index.Change{Full: w.full, Follow: w.followed}
	}
	w.x.Changed(ref, c)
	if w.s.catchUp && w.liveAt > 0 && w.cachedAt >= w.liveAt {
		w.liveAt = 0
		w.x.Changed(ref, index.Change{})
	}
}

func (w *world) say(format string, a ...any) {
	if w.tracing {
		w.trace = append(w.trace, fmt.Sprintf(format, a...))
	}
}

// pass gives an actor the steps of a pass.
func (w *world) pass(a *actor, steps string) {
	var pass index.Pass
	var saw func(uint64)
	var peeked, follow uint64
	look := func() uint64 {
		if !w.s.set {
			peeked, follow = w.store, w.store/10
		}
		if w.s.live {
			w.liveAt = w.version
		}
		return w.store
	}
	at, dead, refs := &passed{}, false, []ID{ref}
	end := func(waits bool) {
		at.ended, at.waits = true, waits
		if waits {
			pass.Wait(refs...)
		} else {
			pass.Done()
		}
	}
	all := map[string]func(){
		"begin": func() {
			pass = w.x.Begin(waiter)
			w.clock++
			at.number, at.began = len(w.all)+1, w.clock
			w.all = append(w.all, at)
		},
		"register": func() { saw = pass.Register(ref).Saw },
		"read":     func() { at.read = append(at.read, look()) },
		"peek":     func() { look() },
		"count":    func() { peeked, follow = w.full, w.followed },
		"saw":      func() { saw(peeked) },
		"other":    func() { pass.Register(other).Saw(1); refs = append(refs, other) },
		"die?":     func() { dead = w.c.choose(2) == 1 },
		"wait":     func() { end(true) },
		"done":     func() { end(false) },
		"end":      func() { end(w.c.choose(2) == 0) },
		"follow": func() {
			at.ended, at.waits, at.follows = true, true, true
			pass.End(index.End{Followed: []index.Followed{{ID: ref, Digest: follow}}})
		},
		"unseen": func() {
			at.ended, at.waits, at.follows = true, true, true
			pass.End(index.End{Followed: []index.Followed{{ID: ref}}})
		},
		"keep": func() {
			at.ended, at.waits, at.keeps = true, true, true
			pass.End(index.End{Followed: []index.Followed{{ID: ref}}})
		},
	}
	for _, step := range strings.Fields(steps) {
		do := all[step]
		if do == nil {
			panic("unknown step " + step)
		}
		a.steps = append(a.steps, func() {
			if dead {
				return
			}
			w.say("%s of %d", step, at.number)
			do()
		})
	}
}

// loses plays the scenario in every order. It returns the first order in which
// a wake-up is lost, or "", and the number of orders.
func (s scenario) loses() (order string, orders int) {
	c := &chooser{}
	for {
		orders++
		if s.play(c, false) != "" {
			return s.play(c, true), orders
		}
		if !c.next() {
			return "", orders
		}
	}
}

const (
	right  = "begin register read saw wait"
	listed = "begin register count read saw wait" // of a set
)

// scenarios must lose no wake-up.
var scenarios = map[string]struct {
	reason string
	scenario
}{
	"One":       {"a change at any time", scenario{passes: []string{right}, states: []uint64{1, 2}}},
	"Relist":    {"several changes, and only some of their events arrive", scenario{passes: []string{right}, states: []uint64{3, 1, 2, 1}, relist: true}},
	"Two":       {"the waits of the last pass count until the next pass ends", scenario{passes: []string{right, right}, states: []uint64{1, 2, 1}}},
	"TwoRelist": {"the same, and only some events arrive", scenario{passes: []string{right, right}, states: []uint64{1, 2, 1}, relist: true}},
	"Unread": {"the state of a ref that could not be read is unknown",
		scenario{passes: []string{"begin register read wait", right}, states: []uint64{1, 2, 1}, relist: true}},
	"Outside": {"a check reads a ref that it did not register",
		scenario{passes: []string{right, "begin read wait", "begin read wait"}, states: []uint64{1, 2, 1}, relist: true}},
	"OutsideAgain": {"a check reads a ref without registering it, and a check in between registered it",
		scenario{passes: []string{"begin read wait", right, "begin read wait"}, states: []uint64{1, 2, 1}, relist: true}},
	"Late": {"an earlier pass read the ref without registering it, but this pass registered it",
		scenario{passes: []string{"begin read end", right}, states: []uint64{1, 2, 1}, relist: true}},
	"Twice": {"two checks read the ref, and either may have decided",
		scenario{passes: []string{"begin register read saw register read saw wait"}, states: []uint64{1, 2, 1}, relist: true}},
	"TwiceAtOnce": {"two looks at once, and one look has seen",
		scenario{passes: []string{"begin register register read saw read saw wait"}, states: []uint64{1, 2, 1}, relist: true}},
	"TwiceUnread": {"the digest of the second read is not known",
		scenario{passes: []string{"begin register read saw register read wait"}, states: []uint64{1, 2, 1}, relist: true}},
	"DiesOutside": {"the digest that a pass without an end has seen does not count for the next pass",
		scenario{passes: []string{right, "begin register read saw", "begin read wait"}, states: []uint64{1, 2, 1}, relist: true}},
	"Dies": {"a pass without an end has removed no entry of the last pass",
		scenario{passes: []string{right, "begin die? register die? read saw die? wait"}, states: []uint64{1, 2, 1}, relist: true}},
	"DiesFirst": {"a pass without an end leaves no entry either",
		scenario{passes: []string{"begin register read saw", right}, states: []uint64{1, 2, 1}, relist: true}},
	"Ends": {"a pass may end either way",
		scenario{passes: []string{"begin register read saw end", "begin register read saw end"}, states: []uint64{1, 2, 1}}},
	"Others": {"the other refs that the waiter waits for do not matter",
		scenario{passes: []string{"begin other register read saw wait", "begin register other read saw wait"}, states: []uint64{1, 2}}},
	"AtOnce": {"two passes at once", scenario{passes: []string{right}, beside: []string{right}, states: []uint64{1, 2}}},
	"AtOnceEnds": {"two passes at once that end in any way",
		scenario{passes: []string{"begin register read saw end"}, beside: []string{"begin register read end"}, states: []uint64{1, 2}}},
	"AtOnceAround": {"two passes at once, which read refs that they did not register",
		scenario{passes: []string{"begin read wait"}, beside: []string{"begin register read wait"}, states: []uint64{1, 2, 1}, relist: true}},
	"AtOnceThen": {"two passes at once, and one pass after them",
		scenario{passes: []string{"begin read wait", "begin register read wait"}, beside: []string{"begin register read end"}, states: []uint64{1, 2}}},
	"Forgotten": {"a waiter is forgotten while a pass is under way", scenario{passes: []string{right, right}, states: []uint64{1, 2}, forgets: true}},

	"Follows": {"a change that a follower does not need, and one that it needs",
		scenario{passes: []string{"begin register read saw follow"}, states: []uint64{11, 12, 22, 21}, relist: true}},
	"FollowsBack": {"the ref changes, and changes back",
		scenario{passes: []string{"begin register read saw follow", "begin register read saw follow"}, states: []uint64{11, 21, 11}, relist: true}},
	"FollowsThenWaits": {"a follower becomes blocked, and a waiter becomes a follower",
		scenario{passes: []string{"begin register read saw follow", right, "begin register read saw follow"}, states: []uint64{11, 12}}},
	"FollowsTwice": {"two checks read the ref, and either may have decided",
		scenario{passes: []string{"begin register read saw register read saw follow"}, states: []uint64{11, 21, 11}, relist: true}},
	"FollowsUnread": {"the follow digest of a ref that could not be read is not known",
		scenario{passes: []string{"begin register read follow", "begin register read saw follow"}, states: []uint64{11, 21, 11}, relist: true}},
	"Keeps": {"a pass that did not look at the ref leaves it followed",
		scenario{passes: []string{"begin register read saw follow", "begin keep", "begin keep"}, states: []uint64{11, 12, 21}, relist: true}},
	"KeepsUnread": {"the same, and the follow digest was not known",
		scenario{passes: []string{"begin register read follow", "begin keep"}, states: []uint64{11, 21, 11}, relist: true}},
	"KeepsAwaited": {"a pass that looked at the ref, and one that did not",
		scenario{passes: []string{"begin register read saw follow", "begin die? register read saw die? keep", "begin keep"}, states: []uint64{11, 21}, relist: true}},

	"Set": {"a change of a set at any time", scenario{passes: []string{listed}, states: []uint64{1, 2, 1}, set: true}},
	"SetTwo": {"the waits of the last pass count until the next pass ends",
		scenario{passes: []string{listed, listed}, states: []uint64{1, 2}, set: true}},
	"SetUnread": {"a set that could not be listed",
		scenario{passes: []string{"begin register count read wait", listed}, states: []uint64{1, 2}, set: true}},
	"SetOutside": {"a check lists the set by other means",
		scenario{passes: []string{listed, "begin read wait", "begin read wait"}, states: []uint64{1, 2}, set: true}},
	"SetTwice": {"two checks list the set, and either may have decided",
		scenario{passes: []string{"begin register count read saw register count read saw wait"}, states: []uint64{1, 2, 1}, set: true}},
	"SetDies": {"a pass without an end has removed no entry of the last pass",
		scenario{passes: []string{listed, "begin die? register die? count read saw die? wait"}, states: []uint64{1, 2}, set: true}},
	"SetAtOnce": {"two passes at once",
		scenario{passes: []string{listed}, beside: []string{"begin register read wait"}, states: []uint64{1, 2}, set: true}},
	"SetForgotten": {"a waiter is forgotten while a pass is under way",
		scenario{passes: []string{listed}, states: []uint64{1, 2}, set: true, forgets: true}},
	"SetFollowed": {"members change in a way that a follower does not need, and in one that it needs",
		scenario{passes: []string{"begin register count read saw follow", "begin keep"}, states: []uint64{11, 12, 21}, set: true}},
	"SetLive": {"the set is listed past the cache, whose events leave out what a relist skips",
		scenario{passes: []string{listed}, states: []uint64{1, 2, 1}, set: true, relist: true, live: true, catchUp: true}},
}

func TestEveryOrder(t *testing.T) {
	if race.On {
		t.Skip("steps in sequence have no races")
	}
	total, ran := 0, 0
	for name, tc := range scenarios {
		t.Run(name, func(t *testing.T) {
			lost, orders := tc.loses()
			if lost != "" {
				t.Errorf("%s: lost: %s", tc.reason, lost)
			}
			total, ran = total+orders, ran+1
			t.Logf("%d orders", orders)
		})
	}
	if ran == len(scenarios) && total < 150_000 {
		t.Errorf("only %d orders were played", total)
	}
}

// TestWrongOrders verifies that the steps of a pass in any other order lose a
// wake-up. Otherwise the right order would not be needed.
func TestWrongOrders(t *testing.T) {
	states := []uint64{1, 2, 1}
	cases := map[string]struct {
		reason string
		scenario
	}{
		"ReadFirst": {"a change between the read and Register finds no entry",
			scenario{passes: []string{"begin read register saw wait"}, states: states[:2]}},
		"SawTooEarly": {"Saw reports another read than the read of the checks",
			scenario{passes: []string{"begin register peek saw read wait"}, states: states, relist: true}},
		"SawTooLate": {"Saw reports another read than the read of the checks",
			scenario{passes: []string{"begin register read peek saw wait"}, states: states[:2]}},
		"SawUnread": {"Saw reports a read before Register", scenario{passes: []string{"begin peek register saw read wait"}, states: states, relist: true}},
		"OneLookOfTwo": {"a check reads once more without a look of its own",
			scenario{passes: []string{"begin register read saw read wait"}, states: states, relist: true}},

		"FollowFirst": {"a follower reads before Register", scenario{passes: []string{"begin read register saw follow"}, states: []uint64{11, 21}}},
		"FollowTooLate": {"the follow digest is of another read than the read of the checks",
			scenario{passes: []string{"begin register read saw peek follow"}, states: []uint64{11, 21}}},
		"FollowTooEarly": {"the follow digest is of another read than the read of the checks",
			scenario{passes: []string{"begin register peek saw read peek saw follow"}, states: []uint64{11, 21, 11}, relist: true}},
		"FollowUnseen": {"a check reads once more without a look of its own",
			scenario{passes: []string{"begin register read saw read follow"}, states: []uint64{11, 21}}},
		"FollowOutside": {"a check decides on a read of its own, and the pass follows the ref as one that it has not looked at",
			scenario{passes: []string{"begin register read saw follow", "begin read unseen"}, states: []uint64{11, 21, 11}, relist: true}},

		"SetListedFirst": {"a change between the list and Register finds no entry",
			scenario{passes: []string{"begin count read register saw wait"}, states: states, set: true}},
		"SetCountedTooLate": {"the change that the number includes is not in the list",
			scenario{passes: []string{"begin register read count saw wait"}, states: states[:2], set: true}},
		"SetCountedAgain": {"Saw reports the number at the end of the pass",
			scenario{passes: []string{"begin register count read count saw wait"}, states: states[:2], set: true}},
		"SetEventFirst": {"the event is handled before the store changes", scenario{passes: []string{listed}, states: states[:2], set: true, early: true}},
		"SetLiveForgotten": {"the cache catches up with a live list without an event, and the waiters are not woken then",
			scenario{passes: []string{listed}, states: states, set: true, relist: true, live: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			lost, orders := tc.loses()
			if lost == "" {
				t.Errorf("%s, and nothing was lost in %d orders", tc.reason, orders)
			}
			t.Log(lost)
		})
	}
}
