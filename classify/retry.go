package classify

import "strconv"

// Retry is how soon to retry a failed pass. The values are ordered: a greater
// value waits longer. The engine that runs the passes turns them into seconds.
type Retry uint8

const (
	// Unset means that there is no decision. Rules refuse it.
	Unset Retry = iota
	// Fast is for errors that end within seconds.
	Fast
	// Slow is for errors that end within minutes, and for unknown errors.
	Slow
	// VerySlow is for errors that rarely end without help. The engine retries
	// them at each resync.
	VerySlow
	// OnChange is for errors that only a change of the spec can end. The resync
	// retries them, too.
	OnChange
	// Never is for a final failure: the resource is not retried until its spec
	// changes, not even at the resync. A wrong Never leaves the resource stuck,
	// so no default table has a row with it.
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

// Severity is the importance of a state for an operator. Conditions show its
// text. It is empty if there is nothing to report.
type Severity string

const (
	Info    Severity = "Info"    // work is in progress; no classification has this severity
	Warning Severity = "Warning" // the pass failed, and the engine retries it
	Error   Severity = "Error"   // the pass failed, and a person has to change the spec
)
