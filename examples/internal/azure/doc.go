// Package azure is what the examples have in common around Azure Resource Manager: how a long-running operation is followed
// without waiting for it, which is there to be copied; and, for the simulated clouds that they talk to, what a refusal
// looks like on the wire and a count of requests.
package azure
