package dependents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/again"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
	"github.com/windlass-go/windlass/flow"
)

// New returns the Dependents of a name, a DNS name such as web.example.com. The
// name is the prefix of labels and annotations, and the field manager of all
// writes ([WithFieldOwner]). Two reconcilers never share a name. A change of
// the name turns all dependents into objects of another owner.
//
// New panics if the name is not a DNS name, the cluster is nil, a policy has
// another value than its constants, an edit of a chain fails, or a chain lacks
// the link DryRun after the edits.
func New(name string, c Cluster, opts ...Option) *Dependents {
	setup.MustName("dependents: New", name)
	if c == nil {
		panic(fmt.Sprintf("dependents: New: %s: the cluster is nil: give the manager", name))
	}
	o := options{
		clock: clock.RealClock{}, manager: name, prefixes: []string{"kubectl"},
		ofOwner:     func(client.Object) Policies { return Policies{} },
		readinessOf: map[schema.GroupKind]ready.Func{},
	}
	for _, opt := range opts {
		if opt == nil {
			panic(fmt.Sprintf("dependents: New: %s: an option is nil: leave it out", name))
		}
		opt(&o)
	}
	var problems []string
	if o.policies, problems = o.policies.over(name, nil, UpdateSsaOverride); len(problems) > 0 {
		panic(fmt.Sprintf("dependents: New: %s: WithPolicies: %s", name, strings.Join(problems, "; ")))
	}
	y, err := again.Of(c)
	if err != nil {
		panic(fmt.Sprintf("dependents: New: %s: %v", name, err))
	}
	d := &Dependents{core: &core{
		options: o, name: name, keys: keysOf(name), clients: y,
		digests: newMemory[fingerprint, string](), creations: newMemory[pair, creations](),
		objects: newMemory[types.UID, remembered](), taken: newMemory[pair, time.Time](),
	}}
	d.applyChain = edited("dependents: New: "+name+": WithApplyChain", applyLinks(o.prefixes), o.applyEdits)
	d.deleteChain = edited("dependents: New: "+name+": WithDeleteChain", deleteLinks(), o.deleteEdits)
	d.apply = handlersOf(d.applyChain, o.observer, noUpdate)
	d.remove = handlersOf(d.deleteChain, o.observer, remove)
	return d
}

func handlersOf(c Chain, o chain.Observer, end handler) handlers {
	// A panic in a goroutine of its own would end the process, even if an edit
	// has removed Recover.
	recovered := chain.New(chain.Recover[*Request, Result])
	h := handlers{plain: decided(recovered.Then(c.Then(end)))}
	if h.observed = h.plain; o != nil {
		h.observed = decided(recovered.Then(c.At("Dependent").Observe(o).Then(end)))
	}
	return h
}

// decided refuses the zero Result, so that a link cannot end a request without
// a decision.
func decided(h handler) handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		res, err := h(ctx, r)
		if err == nil && res.Outcome == "" {
			err = errors.New("a link returned the zero Result: return the result of next, or set Outcome")
		}
		if err != nil {
			return res, fmt.Errorf("%s: %w", r.Ref(), err)
		}
		return res, nil
	}
}

// String lists the links around the update and the deletion of one object, a line
// each.
func (d *Dependents) String() string {
	return fmt.Sprintf("apply: %s\ndelete: %s", d.applyChain, d.deleteChain)
}

// Apply applies objects for an owner, in the given order.
// It first checks all of them. Objects without a namespace are in the namespace
// of the owner. Apply returns flow.Done if each result is settled
// ([Result.IsSettled]), and otherwise flow.InProgress with flow.NoOperation and
// the objects that are not. The message says why they are not, and ends with an actual problem, as
// in "waiting for 1 of 2 objects: Deployment.apps team/web: it is not ready:
// LessReplicas: Replicas: 0/1; ReplicaFailure: exceeded quota".
//
// An error about one object does not keep the others from being applied. The
// error names all objects that failed, or that are not ours or contested, and
// it awaits them (flow.WaitFor).
func (d *Dependents) Apply(ctx context.Context, owner client.Object, objects ...client.Object) (flow.Progress, error) {
	return d.each(ctx, applying, owner, objects)
}

// Delete deletes objects: all of them if the owner is in deletion, and otherwise
// those that the owner does not need any more. Only their kinds, names and
// annotations matter. It returns flow.Done if all are gone or kept. It deletes the
// given objects only, so give the objects of earlier manifests, too.
func (d *Dependents) Delete(ctx context.Context, owner client.Object, objects ...client.Object) (flow.Progress, error) {
	return d.each(ctx, deleting, owner, objects)
}

// Check returns the requests for objects, each with its policies and its
// namespace, in their order. It reads and writes no object. An object of a kind
// that the API server does not serve, or of a group that it cannot discover, has a
// request, too: see [Request.Digest].
// The namespace of a manifest counts as absent if its kind has no namespaces.
// [Dependents.Apply] refuses such a manifest, because a deletion of it could mean
// the object of an earlier definition of the kind. An invalid object has no
// request (nil), and the error names it and wraps [ErrInvalid].
func (d *Dependents) Check(ctx context.Context, owner client.Object, objects ...client.Object) ([]*Request, error) {
	return d.requests(ctx, checking, owner, objects)
}

// ApplyChecked works as [Dependents.ApplyObject] for a request of
// [Dependents.Check], which stays as it is. It makes a pass over many objects
// cheaper, because it checks nothing again. For [Result.Pending] it also reads
// nothing: it writes the object in the version that was read. If the object has
// another version, it reads the object of [Dependents.ReadOnly] again, and returns
// a conflict for that of [Dependents.DryRun].
//
// A nil request, one of another Dependents, and one of a kind that is not
// served or of metadata are errors that wrap [ErrInvalid].
func (d *Dependents) ApplyChecked(ctx context.Context, checked *Request) (Result, error) {
	if checked == nil || checked.of == nil || checked.of.core != d.core {
		return Result{}, fmt.Errorf("%w: the request is nil, or of another Dependents: give one of Check", ErrInvalid)
	}
	via, err := d.clients.Access(ctx)
	if err != nil {
		return Result{}, err
	}
	if (via.Target || checked.via.Target) && !setup.IsSame(via.Client, checked.via.Client) { // of a pass with another target
		if checked, err = d.request(via, checking, checked.by, checked.Object); err != nil {
			return Result{}, err
		}
	}
	if checked.contents == "" {
		return Result{}, fmt.Errorf("%w: %s: its kind is not served, or it has only metadata", ErrInvalid, checked.Ref())
	}
	r := *checked
	r.of, r.via = d, via
	d.follow(ctx, applying, &r)
	res, err := d.handler(applying)(ctx, &r)
	if r.looked && apierrors.IsConflict(err) { // the cache was stale, or does not have the object
		r = *checked
		r.of, r.via, r.Live, r.verdict, r.looked = d, via, nil, nil, false
		return d.handler(applying)(ctx, &r)
	}
	return res, err
}

// ApplyObject applies one object and returns what happened. An object that is
// not ours, or that waits, is no error.
func (d *Dependents) ApplyObject(ctx context.Context, owner, obj client.Object) (Result, error) {
	return d.one(ctx, applying, owner, obj)
}

// DeleteObject deletes one object as [Dependents.Delete] does, and returns what
// happened.
func (d *Dependents) DeleteObject(ctx context.Context, owner, obj client.Object) (Result, error) {
	return d.one(ctx, deleting, owner, obj)
}

func (d *Dependents) one(ctx context.Context, a action, owner, obj client.Object) (Result, error) {
	requests, err := d.requests(ctx, a, owner, []client.Object{obj})
	if err != nil {
		return Result{}, err
	}
	return d.handler(a)(ctx, requests[0])
}

// DryRun returns d with writes that the API server tries and does not store. A
// result that needs a write has [Result.Pending], is not settled, and says what
// the write would do. Objects are read past the cache, except a
// [Result.Pending] of ReadOnly, and nothing is followed. A dry-run counts as no
// correction of a field.
//
// Apply and Delete then return what a pass would wait for. For the result of each
// object, call ApplyObject and DeleteObject.
func (d *Dependents) DryRun() *Dependents { return &Dependents{d.core, trying} }

// ReadOnly returns d without writes. A result that needs a write has
// [Result.Pending], and is not settled. An object that is applied is read from
// the cache, and counts as absent if the cache lacks it. Delete reads past the
// cache.
func (d *Dependents) ReadOnly() *Dependents { return &Dependents{d.core, looking} }

func (d *Dependents) handler(a action) handler {
	h := d.remove
	if a == applying {
		h = d.apply
	}
	if d.mode == looking {
		return h.plain
	}
	return h.observed
}

// The times after which a pass reads dependents again, if no event comes
// before. They matter for kinds that are not watched. In a pass of ctrlx, the
// back-off sets the delay of deletions.
const (
	applyDelay  = time.Minute
	deleteDelay = 5 * time.Second
)

// each handles all objects and combines the results.
func (d *Dependents) each(
	ctx context.Context, a action, owner client.Object, objects []client.Object,
) (flow.Progress, error) {
	requests, err := d.requests(ctx, a, owner, objects)
	if errors.Is(err, ErrInvalid) {
		return flow.Progress{}, ctrlx.NewRetriableError(err, nil).WithReason(reasonInvalid)
	}
	if err != nil {
		return flow.Progress{}, err
	}
	var awaited []checks.Ref
	var texts, problems []string
	var errs []error
	for _, r := range requests {
		res, err := d.handler(a)(ctx, r)
		if err == nil && res.IsSettled() {
			continue
		}
		awaited = append(awaited, r.Ref())
		text := r.Ref().String() + ": " + cmp.Or(res.Message, string(res.Outcome))
		if verdict, reason := res.Describe(); err == nil && verdict == chain.VerdictBlock {
			err = ctrlx.NewRetriableError(errors.New(text), &res.After).WithReason(reason)
		}
		errs = append(errs, err)
		if res.Outcome != Terminating && ready.Problem(res.Object) != "" {
			problems = append(problems, text)
		} else {
			texts = append(texts, text)
		}
	}
	waiting := len(awaited)
	if waiting > 0 && requests[0].via.Target {
		awaited = nil // the manager would read its own cluster, with its own rights
	}
	if err := errors.Join(errs...); err != nil {
		return flow.Progress{}, flow.WaitFor(err, awaited...)
	}
	if waiting == 0 {
		return flow.Done(), nil
	}
	after := applyDelay
	if a != applying {
		after = deleteDelay
		if ctx.Value(engine.PassKey{}) != nil {
			after = 0
		}
	}
	texts = append(texts, problems...)
	if more := len(texts) - mostListed; more > 0 {
		texts = append([]string{fmt.Sprintf("%d more", more)}, texts[more:]...)
	}
	message := fmt.Sprintf("waiting for %d of %d objects: %s", waiting, len(requests), strings.Join(texts, "; "))
	return flow.InProgress(flow.NoOperation, after, awaited...).WithMessage(message), nil
}

// applyLinks returns the links around the update of one object. The end is
// [noUpdate].
func applyLinks(prefixes []string) Chain {
	return chain.New(
		chain.Recover,
		chain.Named("Read", read),
		chain.Named("Ready", awaitReady),
		chain.Named("Terminating", terminating),
		chain.Named("Adopt", adopt),
		chain.Named("InSync", inSync),
		chain.Named(linkDryRun, dryRun),
		chain.Named("Create", create),
		chain.Named("Recreate", recreate),
		chain.Named("Replace", update(UpdateReplace, isNoController)),
		chain.Named("SsaOverride", update(UpdateSsaOverride, hasPrefix(prefixes))),
		chain.Named("SsaMerge", update(UpdateSsaMerge, func(string) bool { return false })),
	)
}

// deleteLinks returns the links around the deletion of one object. The end is
// [remove].
func deleteLinks() Chain {
	return chain.New(
		chain.Recover,
		chain.Named("ReadLive", readLive),
		chain.Named("Owned", owned),
		chain.Named("Orphan", orphan),
		chain.Named("Terminating", terminating),
		chain.Named(linkDryRun, dryRun),
	)
}
