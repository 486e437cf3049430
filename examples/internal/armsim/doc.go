// Package armsim simulates Azure Resource Manager for the examples. [Server] answers the clients of the SDK; an example adds
// the rules of its service. An example with a simulated cloud of its own uses the wire format of a refusal ([Refusal]) and
// the count of requests ([Tally]).
package armsim
