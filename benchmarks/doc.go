// Package benchmarks measures this library beside others, in one run, each doing the same work, in a module of its own for
// the sake of what that needs. Here are tests and benchmarks only; the program in peers prints a table.
package benchmarks
