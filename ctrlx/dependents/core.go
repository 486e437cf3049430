package dependents

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/again"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

// Cluster is the cluster of the dependents: a manager.Manager or a
// cluster.Cluster of controller-runtime.
type Cluster interface {
	// GetClient returns the client that reads from the cache, and writes.
	GetClient() client.Client
	// GetAPIReader returns a reader past the cache.
	GetAPIReader() client.Reader
}

// Dependents applies and deletes the dependents of owners. Make it with [New],
// once for a kind of owners. It is safe for concurrent use.
type Dependents struct {
	*core
	mode mode
}

// core is the part of a Dependents that its modes share.
type core struct {
	options
	name    string
	clients *again.Cluster // of New; its engine watches the dependents

	digests      *memory[fingerprint, string] // of manifests
	creations    *memory[pair, creations]     // of an object that the process made
	objects      *memory[types.UID, remembered]
	taken        *memory[pair, time.Time] // when an owner took an object from another one
	keys         keys
	kinds        sync.Map // of *kind, by schema.GroupVersionKind; those of deployment targets by scoped
	unwatchables sync.Map // the kinds that cannot be watched and were logged, by schema.GroupKind

	applyChain, deleteChain Chain
	apply, remove           handlers
}

type options struct {
	cluster     string
	clock       clock.PassiveClock
	policies    Policies
	ofOwner     func(client.Object) Policies
	manager     string
	readiness   ready.Func // of all kinds but those of readinessOf; nil: the rule of kstatus
	readinessOf map[schema.GroupKind]ready.Func
	prefixes    []string
	observer    chain.Observer // nil: none
	applyEdits  []func(Chain) (Chain, error)
	deleteEdits []func(Chain) (Chain, error)
}

// mode says what a Dependents does with an object that needs a write.
type mode uint8

const (
	writing mode = iota
	trying       // the API server tries the write, and stores nothing
	looking      // nothing
)

// action is the reason for a call.
type action int

const (
	checking action = iota
	applying
	deleting
)

// handler applies or deletes one object.
type handler = chain.Handler[*Request, Result]

// handlers are those of a chain.
type handlers struct{ plain, observed handler } // plain: without an observer, for ReadOnly

// Chain is a chain of links around the update or the deletion of one object.
type Chain = chain.Chain[*Request, Result]

// Request is the request to apply or to delete one object. A link may copy it
// and call next with the copy.
type Request struct {
	// Owner names the object that needs the dependent.
	Owner checks.Ref
	// Object is the manifest as the caller gave it, but without null labels and
	// annotations. Links do not change it.
	Object client.Object
	// Policies are the policies of the object. No field is empty.
	Policies Policies
	// Live is the object as the pass read it, and nil if it does not exist. It
	// has the type that the client's scheme has for its kind, or is
	// unstructured. For a deletion it is a *metav1.PartialObjectMetadata. The
	// link Read sets it. Links do not change it.
	Live client.Object

	of        *Dependents
	by        *owner
	via       again.Access
	verdict   *verdict  // nil: not decided, so Read reads the object
	looked    bool      // the verdict may be stale: ReadOnly read the object from the cache
	managers  *managers // of Live, as change has read them
	ref       checks.Ref
	gvk       schema.GroupVersionKind
	kind      *kind                      // nil: not served; never in Apply
	absent    bool                       // of a deletion: the scope of the kind is another one, as after a new definition
	ignored   []fieldpath.Path           // fields that are left to others
	reconcile string                     // the reconcile policy; empty: the default
	hints     ready.Hints                // of the object, in addition to those of its kind
	contents  string                     // the digest of the manifest; empty: Apply refuses the request
	made      *unstructured.Unstructured // the result of manifest; nil: not made yet
}

// Outcome is the state in which a pass leaves an object. The zero Outcome is an
// error.
type Outcome string

// The outcomes.
const (
	Created     Outcome = "created"     // Apply created it
	Updated     Outcome = "updated"     // Apply wrote it
	InSync      Outcome = "in sync"     // nothing differs; it may have been there before
	NotOurs     Outcome = "not ours"    // it has another owner, or none, and the policy forbids to adopt it
	Terminating Outcome = "terminating" // it is in deletion; a later pass creates it, or finds it gone
	Waiting     Outcome = "waiting"     // it is written, and it is not ready or contested
	Gone        Outcome = "gone"        // Delete found that it does not exist
	Orphaned    Outcome = "orphaned"    // the delete policy keeps it
)

// Result is the result of a pass over one object. Do not compare Results with
// ==.
type Result struct {
	Outcome Outcome
	// Object is the object as it was last read or written. It is nil if the
	// object does not exist. It has the form of [Request.Live]. Do not change
	// it.
	Object client.Object
	// Fields are the fields of the manifest that this name did not own before the
	// pass, as in "spec.replicas is managed by kubectl-edit", or "data.k is missing".
	// After Created it is empty. After Updated they are the fields that the write
	// corrected or added. A dry-run adds those that the write removes in a request of
	// its own, as in "spec.strategy.rollingUpdate is removed": this name takes them over
	// from another field manager, as under Replace, or the API server refuses them next
	// to the manifest. Object may still have these fields.
	Fields []string
	// Pending is the request, if the object needs a write that [Dependents.DryRun]
	// or [Dependents.ReadOnly] did not make; nil: it needs none, or it was
	// written. Its Live is the object as it was read. Links inside InSync get no
	// such result.
	Pending *Request
	// After is the time until the next correction of a contested object: other
	// managers change Fields again and again, another owner has taken the object
	// back, or another writer deletes it. Zero: it is not contested.
	After time.Duration
	// Readiness is the readiness of Object. It is zero for outcomes other than
	// Created, Updated, InSync and Waiting, and without the link Ready.
	Readiness checks.Readiness
	// Message says what the result waits for, and what resolves it. It is empty
	// if the result is settled. It may quote the conditions of the object, and
	// ends with a problem that one of them names. The
	// condition Ready of the owner shows it as one safe line.
	Message string
}

// ownership says to which owner an object belongs.
type ownership struct {
	ours   bool
	owner  string // another owner; empty: none
	marked bool   // the other owner is one of this name, which would take the object back
}

// verdict is the decision to write an object. A pass makes it once: the trial and
// the write of [Result.Pending] have it.
type verdict struct {
	digest    string    // of the mark that the write sets
	fields    []string  // those of [Result.Fields]
	corrected []string  // the part of fields that is no new manifest
	replaced  string    // the resource version that the write replaces; empty: none
	lost      bool      // under Recreate, the object lost its digest, so perhaps it has the manifest
	at        time.Time // when it was made
}

// keys are the keys of labels and annotations of a Dependents. All begin with its
// name.
type keys struct {
	prefix  string
	owner   string // label: the hash of the owner's ID; annotation: the ID
	digest  string // annotation: the digest of the manifest
	applied string // annotation: the time of the last write, in RFC 3339
	hint    string
}

// Ref names the object of the request.
func (r *Request) Ref() checks.Ref { return r.ref }

// managers are the managed fields of an object.
type managers struct {
	all     *fieldpath.Set            // of all managers
	ours    *fieldpath.Set            // of the writes of this name
	applied *fieldpath.Set            // the part of ours that an apply owns
	entry   metav1.ManagedFieldsEntry // of applied; only with its names if there is none
	others  []fieldManager            // all entries but this one, in the order of the object
}

type fieldManager struct {
	entry metav1.ManagedFieldsEntry
	set   *fieldpath.Set
}

// owner is the object that needs dependents.
type owner struct {
	ref      checks.Ref
	uid      types.UID
	deleted  bool     // it is in deletion
	policies Policies // of objects without annotations

	// id identifies the owner in the marks of its dependents: the text of ref, after
	// the cluster of [WithCluster]. An owner that is created again under its name has
	// the same id.
	id     string
	mark   string // the hash of id
	digest string // changes when the owner changes
}
