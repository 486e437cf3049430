// Package engine reads owners and references for passes, watches their kinds,
// and wakes the objects that wait for them. The reconcilers of a manager share
// one [Engine].
//
//	e, err := engine.Of(mgr)                       // at set-up
//	waker, err := e.Add(engine.Config{Kind: databases, ...})
//
//	pass := e.Begin(waiter, timeout)               // in a pass
//	ref, obj, err := pass.Read(ctx, ref)           // registers, watches and reads
//	listed, err := pass.List(ctx, query)           // the same for a set
//	waiting := pass.End(ctx, end)                 // or pass.Done()
//
// # What wakes
//
// Package index decides which waiters an event wakes. The engine follows its
// order: it watches a kind, registers an object, reads the object, and
// remembers a digest of it. So no wake-up is lost.
//
// # A broken watch
//
// A watch may be broken without an error. So the engine asks the API server
// once in a while for the present version of each awaited kind, and of the kind of
// each reconciler: a list with a limit of one object. A watch that works reaches
// this version by the next request, because the API server sends a bookmark about
// once a minute. If the watch has not reached it, the engine compares the versions
// of the objects with the cache. While an awaited object differs, the kind is
// suspect: passes read it live. An object of a reconciler that differs gets a pass.
//
// All of this is kept for each watch. A cache of some namespaces has a watch for
// each of them. Such a cache reports no version, so the engine compares its objects
// twice in each interval, with one list of each namespace.
//
// # The files
//
// They call down only, but for four references. From above: setup.go adds the engine to a manager, handler.go and why.go
// answer the page of Why, and fallback.go with trouble.go and own.go look after watches. A pass calls pass.go, with root.go and list.go.
// kinds.go opens the watches, changes.go handles their events, and waker.go with loop.go wakes. engine.go
// has the state of all of that, watch.go that of a kind, sets.go that of the sets, and catalog.go that of discovery.
package engine
