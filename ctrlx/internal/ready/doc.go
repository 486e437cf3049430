// Package ready reads from a Kubernetes object how ready it is, as the checks want to know it, whatever its Go type:
//
//	owner := ready.Object(cluster, checks.Ref{Group: "example.com", Kind: "Cluster", Namespace: "team", Name: "prod"}, ready.Of)
//
// # Which conditions are read
//
// [Of] reads the condition Ready among status.conditions: of []metav1.Condition, and of lists of any struct that has a type
// and a status, such as those of Azure Service Operator and of Crossplane; of unstructured objects; and of what GetConditions
// returns, in types whose status has no such list. Of a type it finds out once where that is.
//
// A condition Synced beside it, which is how Crossplane says whether it could apply the spec, has to be True as well.
// Where several conditions count, the worst of them does.
//
// # Strict
//
// Ready is said only where the object says so, of the spec that it has now:
//
//	no status, no conditions, no Ready condition    unknown
//	status Unknown, or anything odd                 unknown
//	False                                           not ready, with the reason and the message of the condition
//	True, for an older generation                   ready, with Observed behind Generation: stale, which the checks refuse
//	True, for a newer generation                    unknown: the condition was not made for this object
//	True, for a generation that is not said         ready at generation 1; unknown at any later one
//
// The generation is that of the condition, and of status.observedGeneration, the older one if they differ. Where neither is
// there, a spec that was never changed is the only one that can be meant; after the first change nobody can tell. Many
// Crossplane providers report none, and change the spec themselves. For them there is [OfAnyGeneration], and for kinds
// without conditions [Kstatus]. Both are to be chosen for a kind by someone who knows it.
package ready
