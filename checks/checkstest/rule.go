package checkstest

import "fmt"

// Rule is one of the rules that [Conforms] holds a check to.
type Rule uint8

const (
	// Decides: it comes to a decision, in time ([Within]): a Result that is not the zero one, or an error, and no panic.
	Decides Rule = iota + 1
	// AnyOwner: it does so, too, if there is no owner, or if it is not found, a nil pointer, of another kind, known by its ID only,
	// being deleted, not ready, ready for an older generation only, or has not said anything.
	AnyOwner
	// NilFields: it does so, too, if the request has no resolver, or if any one field of the resource or of the owner is not set:
	// a pointer, list or map that is nil, a struct, text or number that is zero. Fields are those that are exported, at each
	// level. The resource itself is there: no engine reconciles what is not.
	NilFields
	// Stops: if it blocks, skips or fails, the links behind it were not called.
	Stops
	// HandsOn: if it proceeds, the links behind it were called, exactly once, with the request as it came: the same, or a copy
	// without a change.
	HandsOn
	// PassesOut: if a link behind it blocks or skips, that comes out as it was; if one fails, that error does, maybe wrapped.
	PassesOut
	// SameAnswer: asked again it answers the same to the letter, also if it is asked about equal objects that lie elsewhere. An
	// answer that does not is a condition that is written anew in each pass.
	SameAnswer
	// ReadOnly: it changes neither the resource nor the owner nor the request.
	ReadOnly
	// Concurrent: asked by many goroutines at once, it answers as it does alone. With -race, it shares no variable with itself.
	Concurrent
	// Cancels: if the context is canceled, before or while it asks the resolver, it returns in time. It then answers as it does
	// otherwise, or with the context's error (wrapped, so that errors.Is finds it).
	Cancels
	// Explains: a block has a reason in CamelCase that a condition can have (checks.ValidReason), and a message that is not
	// blank and not only the reason.
	Explains
	// EndsAll: no goroutine that it started is left, in time, once it has answered and its context is canceled.
	EndsAll
)

var rules = [...]struct{ name, says string }{
	Decides:    {"Decides", "it comes to a decision, in time"},
	AnyOwner:   {"AnyOwner", "it comes to a decision whatever the owner is"},
	NilFields:  {"NilFields", "it comes to a decision if something is not set"},
	Stops:      {"Stops", "what it does not let through does not reach the links behind it"},
	HandsOn:    {"HandsOn", "what it lets through is handed on once, with the request as it came"},
	PassesOut:  {"PassesOut", "what the links behind it say comes out unchanged"},
	SameAnswer: {"SameAnswer", "asked again about the same it answers the same"},
	ReadOnly:   {"ReadOnly", "it changes neither the resource nor the owner nor the request"},
	Concurrent: {"Concurrent", "asked by many at once it answers as it does alone"},
	Cancels:    {"Cancels", "once the context is canceled it returns, and decides nothing else because of that"},
	Explains:   {"Explains", "a block has a reason in CamelCase, and a message"},
	EndsAll:    {"EndsAll", "it leaves no goroutine behind"},
}

// known tells whether there is such a rule.
func (r Rule) known() bool { return r > 0 && int(r) < len(rules) }

// String is the rule's name.
func (r Rule) String() string {
	if !r.known() {
		return fmt.Sprintf("Rule(%d)", uint8(r))
	}
	return rules[r].name
}
