// Command kubectl-windlass is a plugin of kubectl. It says why objects of Windlass
// operators wait, down to the root cause, and retries them.
//
//	kubectl windlass why database/orders -n apps
//	kubectl windlass blocked -A
//	kubectl windlass flow database
//	kubectl windlass retry --waiting-for subnet/batch -n apps
//
// The README has the set-up of an operator, and the help of each command has its
// flags and exit codes.
package main
