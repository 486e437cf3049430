// Package chain composes middleware for reconcilers. It has typed handlers, and
// links, which are plain functions that wrap handlers.
//
// A [Handler] takes a request and returns a result or an error. A [Middleware],
// also called a link, takes the next handler and returns a handler that wraps
// it:
//
//	func audit(next chain.Handler[*Cluster, Outcome]) chain.Handler[*Cluster, Outcome] {
//		return func(ctx context.Context, c *Cluster) (Outcome, error) {
//			log.Print("begin ", c.Name)
//			defer log.Print("end ", c.Name)
//			return next(ctx, c)
//		}
//	}
//
// A link implements no interface and embeds no type. [New] makes a [Chain] of
// links, the first one outermost. [Chain.Then] composes them around the handler
// that does the work:
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
// A link that does not call next stops the request: no inner link runs. Its
// result and error return through the outer links. The chain adds nothing of
// its own: a composed handler costs as much as the nested functions.
//
// # Which function do I need
//
//   - to compose: [New], [Chain.Append], [Chain.Extend] (for whole chains),
//     [Chain.Then]
//   - to act before the inner links, after they succeed, or on every outcome:
//     [Before], [After], [Finally]
//   - to apply links to some requests only: [When]
//   - to turn panics into errors, to limit time: [Recover], [Deadline]
//   - to name a link: [Named]
//   - to see the order: [Chain.String], [Chain.Links]
//   - to edit an existing chain: [Chain.InsertBefore], [Chain.InsertAfter],
//     [Chain.Replace], [Chain.Without]
//   - to convert a chain to other request or result types: [Map]
//   - to observe or time every link: [Chain.Observe], or [Chain.Decorate] if
//     the types matter
//
// # Names
//
// A link made by [Named] has the name given there. Every link of this library
// has a name. New names any other link after the function that made it, without
// calling that function. Such a name is printed with its source:
//
//	OwnerReady -> ReferenceReady(network) -> aks.quota (aks/main.go:42)
//
// # Errors
//
// Mistakes that show while composing are set-up errors. New, Named and Then
// panic on a nil link, an empty name or a nil end, as http.Handle does. The
// message says where the mistake is. Editing by a name that does not occur
// exactly once returns a [*NameError]. At run time the chain never panics by
// itself, and never hides a panic of a link.
//
// # Inference
//
// Generic functions such as [Recover] take their types from the typed links in
// the same call, as in New(chain.Recover, audit). Without a typed link, write
// the types once: chain.Chain[*Cluster, Outcome]{}.Append(chain.Recover).
//
// # Testing
//
// Package chaintest checks the laws that every link should keep, and tests the
// order of links. chaintest.Laws(t, guards) is a complete test of a chain. It
// draws requests and ends at random.
package chain
