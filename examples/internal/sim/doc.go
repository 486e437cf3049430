// Package sim is what the examples have in common besides the resources that they are about: an engine with a queue in
// virtual time, a store of objects that wait for each other, and a timeline for people. It is small so that it can be
// read; an operator has its own.
package sim
