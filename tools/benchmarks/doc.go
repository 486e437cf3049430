// Package benchmarks measures the cost of telemetry and compares it with code
// written by hand. It has only tests and benchmarks. The program in peers
// compares this library with others.
//
// It is a module of its own, so that users of the library do not download the
// other libraries.
package benchmarks
