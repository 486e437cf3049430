// Package why finds out why resources wait. It follows their waits to the root
// cause: an object that waits for no other object, or a cycle.
//
//	g := why.New(objects)
//	for _, c := range g.Causes() {
//		fmt.Println(c) // Subnet apps/batch is missing; 41 objects wait for it
//	}
//	fmt.Print(g.Tree(ref)) // the path from an object to its root cause
//
// An engine makes one [Object] for each resource that is not ready, and one for
// each awaited object. [Graph.Document] puts the answer into a bounded document,
// which is the JSON of an endpoint, and which [Document.WritePage] shows in
// a browser.
//
// # Root causes
//
// Waits are edges of a graph. A root cause is one of these:
//
//   - An object that waits for no other object: it is missing, it has failed, it
//     needs a person, or its own operation is under way.
//   - A cycle: objects that wait for each other. No object of it can proceed.
//
// An object may wait for several root causes. The first one is the cause that is
// least likely to end by itself: a cycle, then a failed object, a missing
// one, a blocked one, one of an unknown state, and one in progress. The order of
// names decides between equal causes.
//
// # Bounds
//
// Every text of a Document is one line of valid UTF-8 without known secrets, and
// has a bounded length. The numbers of causes and objects are bounded, too, so
// a Document of 100,000 waiters has less than 5 MB.
package why
