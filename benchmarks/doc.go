// Package benchmarks measures this library beside others, in one run, each doing the same work. It holds tests and
// benchmarks only, in a module of its own for the sake of what they need.
package benchmarks
