// Package digest says in one number what an object was like when it was read, so that whoever waits for a change of it is
// woken by a change, and by nothing else:
//
//	seen := digest.Of(cluster)      // while a waiter is being blocked
//	if digest.Of(cluster) != seen { // in the handler of the watch
//		// wake the waiter
//	}
//
// An object that is not there has a digest, too ([NotFound]).
//
// # What counts
//
// Everything that a check may read of an object, and that can change:
//
//   - of the metadata: UID, generation, deletion timestamp, labels, annotations, finalizers and owner references. A check
//     is given the whole object, so that it may ask for any of these, and they change seldom;
//   - the whole status;
//   - the rest, if the generation does not stand for it: in types without a status, such as a ConfigMap, and in objects
//     without a generation, such as a Service or a Node.
//
// The resource version and the managed fields do not count, since they change without meaning, nor do apiVersion and kind,
// which typed objects have or have not, depending on where they come from.
//
// # What is the same
//
// The same object read twice has the same digest, if it was read in the same form: as a typed, an unstructured or a
// metadata-only object. Forms are not compared with one another, because a check reads one of them only.
//
//   - The order of a map does not count. Nil and empty maps and slices are the same, since JSON loses which it was; a nil
//     pointer and one to a zero value are not. In unstructured objects a key that is missing and one that holds null or
//     nothing are not the same either.
//   - A time is its instant: its location and its monotonic clock do not count.
//   - A [resource.Quantity] is how it is written once it was read, in whatever form it is held: 1024Mi is 1Gi, and
//     1073741824 is not. An [intstr.IntOrString] is the one of the two that its type names.
//   - Raw JSON is its bytes.
//   - Unexported fields do not count, since nothing that was read can be in them. A struct that has some and marshals
//     itself is the JSON that it makes.
//
// # Costs
//
// What to read of a type is found out once. After that the digest of a typed object allocates nothing, unless a type in it
// marshals itself or a quantity is beyond 64 bits. Digests are for one process: they are seeded when it starts.
//
// There is no narrower digest for those who look at readiness only: a checks.Readiness can be compared with ==.
package digest
