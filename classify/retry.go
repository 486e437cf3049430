package classify

import (
	"strconv"
	"time"
)

// Retry says how soon to retry a failed pass. A greater value waits longer. The
// engine that runs the passes turns a Retry into a delay.
type Retry uint8

const (
	// Unset is no decision. A rule that has it is a set-up error.
	Unset Retry = iota
	// Fast is for errors that end within seconds.
	Fast
	// Slow is for errors that end within minutes, and for unknown errors.
	Slow
	// VerySlow is for errors that rarely end without help. The engine retries
	// them at each resync.
	VerySlow
	// OnChange is for errors that only a change of the spec can end. The engine
	// retries them at each resync, too.
	OnChange
	// Never is for a final failure. The engine does not retry it before the
	// spec changes, not even at the resync. A wrong Never leaves the resource
	// stuck, so no table of this library has a row with it.
	Never
)

// String returns "unset", "fast", "slow", "very slow", "on change" or "never";
// for any other value, "Retry(9)".
func (r Retry) String() string {
	if words := [...]string{"unset", "fast", "slow", "very slow", "on change", "never"}; int(r) < len(words) {
		return words[r]
	}
	return "Retry(" + strconv.Itoa(int(r)) + ")"
}

// Severity returns [Error] for [OnChange] and [Never], "" for [Unset], and
// [Warning] for the others.
func (r Retry) Severity() Severity {
	switch r {
	case Unset:
		return ""
	case OnChange, Never:
		return Error
	}
	return Warning
}

// decided reports whether a rule or a link may return r.
func (r Retry) decided() bool { return Fast <= r && r <= Never }

// Severity ranks a state for an operator. Conditions show its text. "" means
// that there is nothing to report.
type Severity string

const (
	Info    Severity = "Info"    // work is in progress; no Classification has it
	Warning Severity = "Warning" // the pass failed; the engine retries it
	Error   Severity = "Error"   // the pass failed; a user has to change the spec
)

// A delay of a service is cut to between minAfter and maxAfter. A shorter delay
// could cause a busy loop.
const minAfter, maxAfter = time.Second, time.Hour

// serviceDelay cuts a delay to the permitted range. It returns 0, which is no
// delay, if d is not positive.
func serviceDelay(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return min(max(d, minAfter), maxAfter)
}
