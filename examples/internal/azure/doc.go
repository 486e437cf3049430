// Package azure is what the examples have in common around Azure Resource Manager: what comes of a GET, and how a
// long-running operation is followed without waiting for it, both of which are there to be copied; and a simulated one to
// talk to: [Server], with what is special about a service put into it by the example, or, for an example that has a cloud of
// its own, what a refusal looks like on the wire ([Refusal]) and a count of requests ([Tally]).
package azure
