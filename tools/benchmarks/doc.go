// Package benchmarks measures the cost of telemetry and compares it with code
// written by hand. It has only tests and benchmarks. The program in peers
// compares this library with others.
package benchmarks
