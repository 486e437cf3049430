// Package plugin is the program kubectl windlass. Run it from a program that has
// the command built in, as examples/operator does. The exported names are only
// those that such a program needs.
package plugin
