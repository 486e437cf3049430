// Package chain composes typed middleware around the work of a reconciler.
//
// # A link
//
// A [Handler] does the work: it takes a request and returns a result or an
// error. A link wraps a handler. It is a function that takes the next handler
// and returns a new one; its type is [Middleware]. This link logs the begin and
// the end of the work:
//
//	type Handler = chain.Handler[*Cluster, Outcome]
//
//	func audit(next Handler) Handler {
//		return func(ctx context.Context, c *Cluster) (Outcome, error) {
//			log.Print("begin ", c.Name) // before the work
//			out, err := next(ctx, c)
//			log.Print("end ", c.Name) // after the work
//			return out, err
//		}
//	}
//
// A link implements no interface and embeds no type.
//
// # A chain
//
// [New] makes a [Chain] of links. [Chain.Then] composes them around the handler
// that does the work, and returns one handler:
//
//	links := chain.New(lock, audit, quota)
//	handle := links.Then(apply) // = lock(audit(quota(apply)))
//
//	outcome, err := handle(ctx, cluster)
//
// Compose once, at set-up. Call the handler for each request, from any
// goroutine. A chain never changes: its methods return new chains.
//
// # Order
//
// The first link is the outermost. A link runs before and after its inner
// links:
//
//	         ┌─ lock ────────────────────────────────┐
//	         │   ┌─ audit ───────────────────────┐   │
//	         │   │   ┌─ quota ───────────────┐   │   │
//	request ─┼───┼───┼────────► apply ───────┼───┼───┼─► result, error
//	         │   │   └───────────────────────┘   │   │
//	         │   └───────────────────────────────┘   │
//	         └───────────────────────────────────────┘
//	before:  lock, audit, quota        after: quota, audit, lock
//
// A link that does not call next stops the request: no inner link runs, and
// neither does apply. The result and error of that link return through the
// outer links. If quota stops a request, audit still logs its end.
//
// # Names
//
// [Named] gives a link a name. Every link of this library has one. Any other
// link is named after the function that made it, and prints with its source.
// [Chain.String] prints the order, and [Chain.Links] lists it:
//
//	fmt.Println(links) // lock -> aks.audit (aks/main.go:42) -> quota
//
// # Editing
//
// [Chain.Append] adds inner links, [Chain.Prepend] outer links, and
// [Chain.Extend] whole chains. The other edits find a link by its name. They
// return an error if the name does not occur exactly once:
//
//	links, err = links.InsertBefore("quota", approval)
//
// # Which function do I need
//
//   - act before the inner links, after they succeed, or on every outcome:
//     [Before], [After], [Finally]
//   - apply links to some requests only: [When]
//   - turn panics into errors, limit time: [Recover], [Deadline]
//   - see each link begin and end: [Chain.Observe]. Package otelx makes spans,
//     metrics and log lines.
//   - convert a chain to other request or result types: [Map]
//
// # Errors
//
// A mistake that is visible at set-up panics there, as in http.Handle: a nil
// link, an empty name, a nil end. The message says where the mistake is. At run
// time the chain itself never panics, and it hides no panic of a link.
//
// # Types
//
// Go infers the types of generic functions such as [Recover] from the typed
// links in the same call, as in New(chain.Recover, audit). Without a typed
// link, write the types once: chain.Chain[*Cluster,
// Outcome]{}.Append(chain.Recover).
//
// # Testing
//
// Package chaintest tests links and their order. chaintest.Laws(t, links) is a
// complete test of a chain: it draws requests and ends at random.
package chain
