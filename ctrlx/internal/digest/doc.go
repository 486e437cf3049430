// Package digest computes one number for the state of an object that was read.
// A waiter is woken by a change of that state, and by nothing else:
//
//	seen := digest.Of(cluster)      // while a waiter is being blocked
//	if digest.Of(cluster) != seen { // in the handler of the watch
//		// wake the waiter
//	}
//
// An object that does not exist has a digest, too ([NotFound]).
//
// # Covered fields
//
// A digest covers everything that a check may read of an object, and that can
// change:
//
//   - Of the metadata it covers UID, generation, deletion timestamp, labels,
//     annotations, finalizers and owner references. A check gets the whole
//     object, so it may read any of these fields, and they change seldom.
//   - It covers the whole status.
//   - It covers the rest if the generation does not represent it. This holds
//     for objects without a status, such as a ConfigMap, and without a
//     generation, such as a Service or a Node.
//
// It does not cover the resource version and the managed fields, because they
// change without a change of the object. It covers neither the record of
// package ctrlx ([record.Condition]), nor apiVersion and kind: a typed object has them or
// not, depending on its source.
//
// # Equal digests
//
// A digest is that of the JSON of an object. An object that is read twice has the same
// digest if it was read in the same form: as a typed, an unstructured or a
// metadata-only object. Digests of different forms are not compared, because a check
// reads one form only. The order of a map does not count.
//
// # Costs
//
// The digest of a typed object takes tens of microseconds, because the object becomes
// JSON content. The caller remembers it for each version of an object. Digests are valid
// in one process only: they are seeded when it starts.
package digest
