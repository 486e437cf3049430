package ctrlx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/ctrlx/internal/status"
	"github.com/windlass-go/windlass/ctrlx/internal/write"
	"github.com/windlass-go/windlass/flow"
)

// ConditionPaused is the condition of an object that a user suspended
// ([SuspendConfiguration]) or paused ([checks.Paused]). It is True in the last
// pass that was held, with the reason and the message of that block. When the
// object continues, it becomes False with [ReasonNotPaused], as in Cluster API:
// so "kubectl wait --for=condition=Paused=False" works, and the time of the
// transition stays visible. An object that was never paused does not have it.
const ConditionPaused = "Paused"

// Report writes the condition Ready of the resource of a pass before the pass ends, for an operation that takes minutes, such
// as an installation. Ready is False and Reconciling is True with reason and message, until the end of the pass writes its
// outcome. resource is the resource of the request that the operation got.
//
// Report makes no event, causes no pass, and writes nothing if the conditions say the same already. Call it when a step
// begins, not in a loop that counts: each other message is a write that all watchers get. It is an error outside of a pass. An
// operation can ignore the error: the end of the pass writes the conditions in any case.
//
// [WithInterrupt] ends such an operation early. Prefer an operation that returns [flow.InProgress] and is polled: it holds no
// worker, and a restart does not begin it again.
func Report(ctx context.Context, resource client.Object, reason, message string) error {
	p := passOf(ctx)
	if p == nil {
		return errors.New("ctrlx: Report: the context is that of no pass: hand on the context that the operation was given")
	}
	r := p.of
	switch {
	case !r.kind.Is(resource):
		return fmt.Errorf("ctrlx: %s: Report: the resource is a %T: give the resource of the request", r.name, resource)
	case p.orphan:
		return nil
	}
	say := func(at client.Object) error {
		in := r.in(at, status.Block(reason, message, classify.Fast))
		in.Generation = p.read.GetGeneration()
		r.kind.SetConditions(at, status.Render(in).Conditions)
		return nil
	}
	base := p.baseOf(resource)
	reported := r.kind.Copy(base)
	_ = say(reported)
	var now client.Object
	err := r.writers.Writing(reported, r.kind.Conditions(reported), func() (err error) {
		if now, _, err = r.writer().Change(p, base, say); err == nil {
			reported.SetResourceVersion(now.GetResourceVersion())
		}
		return err
	})
	switch {
	case errors.Is(err, write.ErrGone):
		return p.vanish()
	case err != nil:
		return r.wroteStatus(err)
	}
	p.ready = cmp.Or(p.ready, r.writers.ReadyBefore(p.read)) // the end of the pass makes an event if it differs
	read := r.kind.Copy(p.read)                              // the write at the end of the pass must not undo what others write meanwhile
	_, _ = say(read), say(resource)
	p.read = read
	p.metadataWritten(resource, now)
	return nil
}

// errDropped is the error of a write of the status that changed nothing.
var errDropped = errors.New("the API server drops a part of the status, such as status.conditions, because the CustomResourceDefinition lacks it")

// refused says in the conditions that the API server takes nothing of what operations have written to the status, and leaves the
// rest of it as it was. If that fails, the pass that comes after the error of the first write tries it again.
func (r *core) refused(p *pass, obj client.Object, why error) {
	base := p.baseOf(obj)
	obj = r.kind.Copy(base)
	in := r.in(obj, status.Block(ReasonStatusInvalid, why.Error(), classify.OnChange))
	in.Suspended, in.Stored = r.isSuspended(obj), p.record
	r.kind.Observe(obj, obj.GetGeneration())
	_ = r.show(p, base, obj, status.Render(in))
}

// in returns what the conditions of obj depend on if nothing but out concerns it. The record stays.
func (r *core) in(obj client.Object, out flow.Outcome) status.In {
	all := r.kind.Conditions(obj)
	return status.In{Outcome: out, Old: all, UID: obj.GetUID(), Generation: obj.GetGeneration(), Now: r.now(), Stored: record.In(all)}
}

// show writes the conditions of next to base, if they change it. obj is a copy of base.
func (r *core) show(ctx context.Context, base, obj client.Object, next status.Out) error {
	r.kind.SetConditions(obj, next.Conditions)
	if digest.SameStatus(base, obj) {
		return nil
	}
	return r.write(ctx, base, obj, next.Conditions)
}

// write gives base the status of obj, with the conditions all.
func (r *core) write(ctx context.Context, base, obj client.Object, all []metav1.Condition) error {
	return r.writers.Writing(obj, all, func() error { return r.writer().Status(ctx, base, obj) })
}

// writer returns the writes of the objects of r.
func (r *core) writer() *write.Writer {
	return &write.Writer{Name: r.name, Client: r.client, Live: r.engine.Live(), NotFound: apierr.Reader.NotFound, Wrote: func(ctx context.Context, obj client.Object, was types.UID) {
		r.exists(ctx, obj)
		r.own.Wrote(ctx, obj, was)
	}}
}

// metadataWritten takes over the metadata of at, the answer to a write of obj in
// the middle of a pass. It takes over the version only if the status is as this
// pass knows it: otherwise the API server must refuse the write of the status.
func (p *pass) metadataWritten(obj, at client.Object) {
	obj.SetAnnotations(at.GetAnnotations())
	obj.SetFinalizers(at.GetFinalizers())
	if digest.SameStatus(p.read, at) {
		obj.SetResourceVersion(at.GetResourceVersion())
	}
}

// baseOf returns the object as the pass read it, with the metadata of obj and
// the operation that the pass stored.
func (p *pass) baseOf(obj client.Object) client.Object {
	base := p.of.kind.Copy(p.read)
	base.SetResourceVersion(obj.GetResourceVersion())
	base.SetAnnotations(obj.GetAnnotations())
	base.SetFinalizers(obj.GetFinalizers())
	return base
}

// correct ends a pass after which the conditions of obj are those of its
// verdict. If the pass corrected them, and another writer had changed them, it
// reports that writer.
func (r *core) correct(ctx context.Context, obj client.Object, corrected bool) {
	name := client.ObjectKeyFromObject(obj)
	f := r.writers.Passed(name, obj.GetUID(), false)
	if f == nil || !corrected {
		return
	}
	verbosity := 0
	if f.Count > 1 {
		verbosity = 1
	}
	log.FromContext(ctx).V(verbosity).Info("another writer changed the conditions of the object; they are corrected", "conditions", f.Types,
		"writer", f.Writer, "correction", f.Count)
	r.tell(obj, nil, &metav1.Condition{Reason: ReasonOverwritten, Message: strings.Join(f.Types, ", ") + ": changed by " + f.Writer +
		"; corrected, because " + r.name + " owns these conditions: configure the writer to leave them unchanged"}, classify.Warning, "")
}

// hasStatus returns an error unless the kind of r has the subresource status.
// Without it, a pass could store neither conditions nor an operation, and each
// pass would call Apply again.
func (r *core) hasStatus(ctx context.Context) error {
	switch has, err := r.engine.HasStatus(ctx, r.kind.GroupVersionKind, r.opt.sync); {
	case err != nil:
		return &finalizerError{fmt.Errorf("ctrlx: %s: whether the kind has a status subresource: %w", r.name, err)}
	case !has:
		return &finalizerError{fmt.Errorf("ctrlx: %s: %w", r.name, write.ErrNoStatus)}
	}
	return nil
}

// wroteStatus takes the error of a write of the status: a new version of the
// definition may lack the subresource.
func (r *core) wroteStatus(err error) error {
	if errors.Is(err, write.ErrNoStatus) {
		r.engine.NoStatus(r.kind.GroupKind())
	}
	return err
}
