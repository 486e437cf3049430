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
//     for types without a status, such as a ConfigMap, and for objects without
//     a generation, such as a Service or a Node.
//
// It does not cover the resource version and the managed fields, because they
// change without a change of the object. Of the record of package ctrlx
// ([Record]) it covers only the status, because package ctrlx renews it. Nor does it cover apiVersion and kind:
// a typed object has them or not, depending on its source.
//
// # Equal digests
//
// An object that is read twice has the same digest if it was read in the same
// form: as a typed, an unstructured or a metadata-only object. Digests of
// different forms are not compared, because a check reads one form only.
//
//   - The order of a map does not count. Nil and empty maps and slices are the
//     same, because JSON does not keep the difference. A nil pointer and a
//     pointer to a zero value differ. In an unstructured object, a missing key
//     differs from a key with null or an empty value.
//   - A time is its instant: its location and its monotonic clock do not count.
//   - A [resource.Quantity] is its text after it was read, in whatever form it
//     is held. So 1024Mi is 1Gi, but 1073741824 is not. An [intstr.IntOrString]
//     is the value that its type selects.
//   - Raw JSON is its bytes.
//   - Unexported fields do not count, because reading an object cannot set
//     them. A struct that has unexported fields and marshals itself is the JSON
//     that it makes.
//
// # Costs
//
// The fields of a type are found once. After that the digest of a typed object
// allocates nothing. The exceptions are a type that marshals itself and a
// quantity beyond 64 bits. Digests are valid in one process only: they are
// seeded when it starts.
//
// # Narrower digests
//
// [Follow] covers what an object depends on after it is Ready. [Metadata] covers
// labels, annotations, finalizers and owners. A checks.Readiness
// can be compared with ==, so it needs no digest.
package digest
