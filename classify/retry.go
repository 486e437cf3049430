package classify

import "strconv"

// Retry is how soon a failed pass is worth another try. The values are ordered: a greater one waits longer. What each
// means in seconds is up to the engine that runs the passes.
type Retry uint8

const (
	// Unset is no decision. Rules refuse it.
	Unset Retry = iota
	// Fast is for what is over in seconds.
	Fast
	// Slow is for what is over in minutes, and for whatever is not known.
	Slow
	// VerySlow is for what hardly goes away without somebody's help: looked at again at each resync.
	VerySlow
	// OnChange is for what only a change of the spec can mend. It is not for ever: the resync looks at it, too.
	OnChange
)

// String is "unset", "fast", "slow", "very slow" or "on change"; for any other value, "Retry(9)".
func (r Retry) String() string {
	switch r {
	case Unset:
		return "unset"
	case Fast:
		return "fast"
	case Slow:
		return "slow"
	case VerySlow:
		return "very slow"
	case OnChange:
		return "on change"
	}
	return "Retry(" + strconv.Itoa(int(r)) + ")"
}

// Severity is what a failure that is tried again like this means for the person who looks at it: [Error] for
// [OnChange], [Warning] for the others, [None] for [Unset].
func (r Retry) Severity() Severity {
	switch r {
	case Unset:
		return None
	case OnChange:
		return Error
	}
	return Warning
}

// decided tells whether r is one of the values that a rule or a link may decide on.
func (r Retry) decided() bool { return Fast <= r && r <= OnChange }

// Severity says how bad a state is for the person who looks at it. Its text is what conditions show.
type Severity string

const (
	None    Severity = ""        // nothing to tell
	Info    Severity = "Info"    // work is in progress; no classification has it, but those who show them beside such work do
	Warning Severity = "Warning" // failed, and tried again without anybody's help
	Error   Severity = "Error"   // failed, and somebody has to change something
)
