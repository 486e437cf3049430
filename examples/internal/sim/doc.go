// Package sim holds the parts that the examples share, besides the resources that
// they are about: the engine of flowtest with a store of objects, a command with
// flags, and a table that compares two runs.
package sim
