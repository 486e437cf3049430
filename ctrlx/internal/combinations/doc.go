// Package combinations tests features together. Each draw makes an operator and a
// story, and at the end something must hold.
//
// A draw consists of:
//
//   - The operator: three kinds, each with or without a Get, a Delete, operations
//     that take time or fail once, guards, signed tokens and quiet restarts.
//     Checks at EntryCheck, OwnerCheck, PreCheck, PostCheck and DeleteCheck, in
//     chains that are made by edits. Links on Apply and Delete that copy or restore
//     the request.
//   - The story: users create, change and delete objects, and what these refer to.
//     They do so between passes, or during a call of the cloud. The cloud is down
//     for a while, the operator is restarted, watches are late. A process is paused,
//     and its write comes after another process leads. The kind of Secrets vanishes,
//     or the rights for it. Events of the cloud poke the operator.
//
// These statements must hold when users have done nothing for two hours:
//
//   - An object is Ready, gone, or blocked by something that its message names and
//     that a person finds in the cluster: nothing else explains that it waits.
//   - Objects that wait for each other say so (DependencyCycle, Stalled). If users
//     delete all of them, they do not wait for each other.
//   - The cloud got no operation while another one was under way for the same
//     resource, and no PUT if Get had found that the resource matches.
//   - Nothing is left in the cloud of an object that is gone.
//   - Nothing is written, and few passes run.
//
// The operator has the public names of the library only, and a whole manager of
// controller-runtime. The API server is in memory ([memoryserver.Server]), so the clock
// is that of testing/synctest: hours take no time, and a draw repeats.
//
// The files hold one part each: operator_test.go the drawn operator, world_test.go
// the cluster, its users and the drawn story, cloud_test.go the
// cloud, require_test.go what must hold.
package combinations
