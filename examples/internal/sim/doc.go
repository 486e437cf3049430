// Package sim holds the shared parts of the examples: the engine of flowtest
// with a store of objects, a command with flags, and a table that compares two
// runs.
package sim
