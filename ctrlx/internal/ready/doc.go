// Package ready reads the readiness of a Kubernetes object, in the form that
// the checks need, whatever its Go type:
//
//	readiness := ready.Of(cluster)
//
// # Conditions
//
// [Of] reads the condition Ready among status.conditions. The list may be a
// []metav1.Condition, or a list of any struct that has a type and a status.
// Azure Service Operator and Crossplane have such structs. The object may also
// be unstructured. If the status of a type has no such list, Of reads the
// result of GetConditions. It finds the place once for each type.
//
// If the object also has a condition Synced, it must be True as well.
// Crossplane reports there whether it could apply the spec. Where several
// conditions count, the worst of them counts.
//
// # Strict rules
//
// An object is ready only if it reports so, for the spec that it has now:
//
//	no status, no conditions, no Ready condition    unknown
//	status Unknown, or anything odd                 unknown
//	False                                           not ready, with the reason and the message of the condition
//	True, for an older generation                   ready, with Observed below Generation: stale, refused by the checks
//	True, for a newer generation                    unknown: the condition was not made for this object
//	True, for an unreported generation              ready at generation 1; unknown at any later one
//
// The generation is the one that the condition reports, and the one in
// status.observedGeneration. If they differ, the older one counts. If neither
// is reported, a spec that was never changed is the only possible one. After
// the first change the generation is unknown. Many Crossplane providers report
// none, and change the spec themselves. For them there is [OfAnyGeneration],
// and for kinds without conditions [Kstatus]. Choose either function for a kind
// only if you know how its controller reports.
package ready
