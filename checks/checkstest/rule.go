package checkstest

import "fmt"

// Rule is a property that [Conforms] tries on a check.
type Rule uint8

const (
	// Decides: it returns a Result other than the zero Result, or an error, in
	// time ([WithTimeout]). It does not panic.
	Decides Rule = iota + 1
	// AnyOwner: it decides whatever the owner is: none, named by no reference
	// yet, not found, a nil pointer, of another kind, known only by its ID,
	// being deleted, not ready, ready only for an older generation, or without
	// a reported state.
	AnyOwner
	// NilFields: it decides if the request has no resolver or no lister, if the
	// objects of a set have no value, and if one exported field of the resource or the owner is zero, at any level. The resource
	// itself is never nil, because no engine reconciles a nil resource.
	NilFields
	// Stops: if it blocks, skips or fails, it does not call the inner links.
	Stops
	// HandsOn: if it proceeds, it calls the inner links exactly once, with the
	// request or an equal copy.
	HandsOn
	// PassesOut: it returns the block or skip of an inner link unchanged, and
	// the error of an inner link as it is or wrapped.
	PassesOut
	// SameAnswer: it gives the same answer, texts included, to the same request
	// and to a request with copies of its objects. An answer that changes is a
	// condition that every pass writes.
	SameAnswer
	// ReadOnly: it changes neither the resource nor the owner nor the request.
	ReadOnly
	// Concurrent: called by many goroutines at once, it answers as it does
	// alone. With -race, its calls share no variable.
	Concurrent
	// Cancels: if the context is canceled, before the call or while it calls
	// the resolver or the lister, it returns in time. It gives its usual answer, or an error
	// in which errors.Is finds the context's error.
	Cancels
	// Explains: a block has a reason in CamelCase that is valid in a condition
	// (checks.ValidReason), and a message that is neither blank nor only the
	// reason.
	Explains
	// EndsAll: the goroutines that it started end in time, once it has answered
	// and its context is canceled.
	EndsAll
)

var rules = [...]struct{ name, text string }{
	Decides:    {"Decides", "it decides in time"},
	AnyOwner:   {"AnyOwner", "it decides whatever the owner is"},
	NilFields:  {"NilFields", "it decides if a field is not set"},
	Stops:      {"Stops", "unless it proceeds, the inner links do not run"},
	HandsOn:    {"HandsOn", "if it proceeds, it passes on the request once, unchanged"},
	PassesOut:  {"PassesOut", "the result of the inner links comes out unchanged"},
	SameAnswer: {"SameAnswer", "it gives the same answer to the same request"},
	ReadOnly:   {"ReadOnly", "it changes neither the resource nor the owner nor the request"},
	Concurrent: {"Concurrent", "called by many goroutines at once, it answers as it does alone"},
	Cancels:    {"Cancels", "once the context is canceled, it returns with its usual answer or the context's error"},
	Explains:   {"Explains", "a block has a reason in CamelCase, and a message"},
	EndsAll:    {"EndsAll", "the goroutines that it started end"},
}

// known reports whether r is a constant of this package.
func (r Rule) known() bool { return r > 0 && int(r) < len(rules) }

// String returns the name of the rule.
func (r Rule) String() string {
	if !r.known() {
		return fmt.Sprintf("Rule(%d)", uint8(r))
	}
	return rules[r].name
}
