// Package chain composes middleware for reconcilers: typed handlers, and links that are plain functions around them.
//
// A [Handler] takes a request and gives a result or an error. A [Middleware], also called a link, is a function that
// takes the next handler and returns one that does something around it:
//
//	func audit(next chain.Handler[*Cluster, Outcome]) chain.Handler[*Cluster, Outcome] {
//		return func(ctx context.Context, c *Cluster) (Outcome, error) {
//			log.Print("begin ", c.Name)
//			defer log.Print("end ", c.Name)
//			return next(ctx, c)
//		}
//	}
//
// There is nothing to implement and nothing to embed. [New] makes a [Chain] of links, the first one outermost, and
// [Chain.Then] composes them around the handler that does the work:
//
//	handle := chain.New(lock, audit, quota).Then(apply) // = lock(audit(quota(apply)))
//
//	         ┌─ lock ────────────────────────────────┐
//	         │   ┌─ audit ───────────────────────┐   │
//	         │   │   ┌─ quota ───────────────┐   │   │
//	request ─┼───┼───┼────────► apply ───────┼───┼───┼─► result, error
//	         │   │   └───────────────────────┘   │   │
//	         │   └───────────────────────────────┘   │
//	         └───────────────────────────────────────┘
//
// A link that does not call next stops everything behind it, and what it returns travels outwards through those in
// front of it. The chain adds nothing of its own: a composed handler costs what the nested functions cost.
//
// # Which function do I need
//
//   - to compose: [New], [Chain.Append], [Chain.Extend] (for whole chains), [Chain.Then]
//   - to do something before, after, or in the end whatever happened: [Before], [After], [Finally]
//   - to have a link only for some requests: [When]
//   - to turn panics into errors, to limit time: [Recover], [Deadline]
//   - to name a link: [Named]
//   - to see the order: [Chain.String], [Chain.Links]
//   - to change a chain that somebody else made: [Chain.InsertBefore], [Chain.InsertAfter], [Chain.Replace], [Chain.Without]
//   - to carry a chain over to other requests or results: [Map]
//   - to see or time every link: [Chain.Observe], or [Chain.Decorate] if the types matter
//
// # Names
//
// A link made by [Named] has the name given there; every link of this library has one. Any other is named after the
// function that made it, which New finds without calling it, and is printed with its place:
//
//	OwnerReady -> ReferenceReady(network) -> aks.quota (aks/main.go:42)
//
// # What is an error, and when
//
// What can be seen while composing is an error of the program: a nil link, an empty name, a nil end make New, Named
// or Then panic, naming the position, as http.Handle does. Editing by a name that does not occur exactly once returns a
// [*NameError]. After that the chain never panics by itself, and never hides a panic of a link.
//
// # Inference
//
// Generic functions such as [Recover] take their types from the typed links beside them, New(chain.Recover, audit).
// Where there is no typed link, say them once: chain.Chain[*Cluster, Outcome]{}.Append(chain.Recover).
//
// # Testing
//
// Package chaintest tries what every link should keep, and tests the order: chaintest.Laws(t, guards) is a whole test of a
// chain, with requests and ends drawn at random.
package chain
