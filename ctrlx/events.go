package ctrlx

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/status"
	"github.com/windlass-go/windlass/flow"
)

// WithoutEvents makes the reconciler write no events. It then needs no rights
// for events. Together with [WithEventReporter] it makes [New] panic.
func WithoutEvents() Option { return option(func(o *options) { o.silent = true }) }

// WithEventReporter sets the reporting controller of events. The default is the
// name of the reconciler, or "windlass" if Kubernetes refuses that name there.
// A name that is not a qualified name of at most 64 bytes, such as
// "databases.example.com", panics.
func WithEventReporter(name string) Option {
	if why := refusedReporter(name); why != "" {
		panic(fmt.Sprintf("ctrlx: WithEventReporter(%q): %s", name, why))
	}
	return option(func(o *options) { o.reporter = name })
}

// maxReporter is the maximum length of the reporting controller. The reporting
// instance adds the name of the host, and may have 128 bytes.
const maxReporter = 64

// refusedReporter returns why the API server refuses events of a reporter; empty
// if it accepts them.
func refusedReporter(name string) string {
	if len(name) > maxReporter {
		return fmt.Sprintf("the name has more than %d bytes", maxReporter)
	}
	return strings.Join(validation.IsQualifiedName(name), "; ")
}

// recorder returns the recorder of the reconciler name; nil: it writes no events.
func (o *options) recorder(mgr manager.Manager, name string) events.EventRecorder {
	switch {
	case o.silent:
		return nil
	case o.reporter != "":
		name = o.reporter
	case refusedReporter(name) != "":
		name = "windlass"
	}
	return mgr.GetEventRecorder(name)
}

// related returns the first awaited object of an outcome for an event. It is not the
// root cause, which may change without an event. It returns nil if there is none, or
// if the kind of that object is not known.
func (r *core) related(obj client.Object, out flow.Outcome) runtime.Object {
	refs := out.WaitingFor()
	if len(refs) == 0 || refs[0].Name == "" { // a set, or only an ID
		return nil
	}
	ref := refs[0]
	gvk, namespaced, ok := r.engine.Watched(engine.KindOf(ref))
	if !ok {
		return nil
	}
	o := &corev1.ObjectReference{APIVersion: gvk.GroupVersion().String(), Kind: ref.Kind, Name: ref.Name}
	if namespaced {
		o.Namespace = cmp.Or(ref.Namespace, obj.GetNamespace())
	}
	return o
}

// tell writes the event of a verdict. The note names the link that stopped the
// pass. related is the object that obj waits for; nil: none is known.
func (r *core) tell(obj client.Object, related runtime.Object, ready *metav1.Condition, severity classify.Severity, link string) {
	if r.recorder == nil {
		return
	}
	kind := corev1.EventTypeNormal
	if severity == classify.Warning || severity == classify.Error {
		kind = corev1.EventTypeWarning
	}
	note := ready.Message
	switch {
	case note == "":
		note = "ready"
	case !strings.Contains(note, link): // an empty link is in each note
		note = link + ": " + note
	}
	reason := ready.Reason[:min(len(ready.Reason), maxReason)]
	r.recorder.Eventf(obj, related, kind, reason, "Reconcile", "%s", shortNote(note))
}

// shortNote cuts the note of an event to the length that the API server takes. The
// root cause at its end stays, unless it is longer than a note.
func shortNote(note string) string {
	if len(note) <= maxNote {
		return note
	}
	end := "..."
	if i := strings.LastIndex(note, status.RootPrefix); len(note)-i <= maxNote-len(end) { // false if i is -1: the note is longer than maxNote
		end += note[i:]
	}
	return strings.ToValidUTF8(note[:maxNote-len(end)], "") + end
}

// The maximum lengths of the note and the reason of an event. They are shorter
// than those of a condition.
const maxNote, maxReason = 1024, 128

// Reasons that ctrlx gives to the condition Ready, besides those of checks, errors and package flow. Where the API server
// refused something it is the server's own word: Conflict, Forbidden, NotFound (metav1.StatusReason).
const (
	// ReasonRetrying: there was a [RetriableError], and it carried no reason of its own.
	ReasonRetrying = "Retrying"
	// ReasonHookFailed: a hook returned an error without a code. The message names
	// the hook, except at Pass and Delete. A panic of a hook has
	// [flow.ReasonPanic].
	ReasonHookFailed = "HookFailed"
	// ReasonTimeout: the object was not ready within its time-out ([TimeoutConfiguration]).
	ReasonTimeout = "Timeout"
	// ReasonSuspended: the object says that nothing is to be done ([SuspendConfiguration]).
	ReasonSuspended = "Suspended"
	// ReasonNotPaused is the reason of the condition [ConditionPaused] of an object that was paused and continues.
	ReasonNotPaused = "NotPaused"
	// ReasonPassTimeout: the pass did not end before its deadline ([WithPassTimeout]).
	ReasonPassTimeout = "PassTimeout"
	// ReasonRetryHandled is the reason of the condition [ConditionRecord] if the last handled retry is all that it stores.
	ReasonRetryHandled = "Handled"
	// ReasonTerminal: there was a reconcile.TerminalError, about which nothing else is known.
	ReasonTerminal = "Terminal"
	// ReasonStatusInvalid: the API server refused the status that operations have found out, as its definition does not allow it.
	ReasonStatusInvalid = "StatusInvalid"
	// ReasonReleased is the reason of the event about an object that was released without a Delete ([checks.Release]). Its
	// note says why.
	ReasonReleased = "Released"
	// ReasonDeleted: the operator has ended its part of the deletion, or has none because its finalizer is missing.
	// Finalizers of other controllers keep the object.
	ReasonDeleted = "Deleted"
	// ReasonOrphaned is the reason of the event about a cloud resource whose object vanished after Apply was called, and that
	// could not be deleted. The event is about the namespace of the object, if it has one. Its note names the object.
	ReasonOrphaned = "Orphaned"
	// ReasonOperationUnderWay is the reason of the condition [ConditionRecord] while an operation is under way.
	ReasonOperationUnderWay = "UnderWay"
	// ReasonOperationUnverified: the stored operation of the object cannot be read, or has no valid signature
	// ([WithTokenKey]). It is neither polled nor started again, because it may be under way in the cloud.
	ReasonOperationUnverified = "OperationUnverified"
	// ReasonOperationCopied is the reason of the event about an object whose status was copied from another object while
	// an operation was under way there. The operation of the other object is ignored.
	ReasonOperationCopied = "OperationCopied"
	// ReasonSettled is the reason of the condition [ConditionRecord] of a Ready object whose success is stored.
	ReasonSettled = "Settled"
	// ReasonOverwritten is the reason of the event about an object whose conditions another writer changed, and a pass
	// corrected. Its note names the field manager of the writer.
	ReasonOverwritten = "ConditionsOverwritten"
	// ReasonDependencyCycle: the object waits for itself by way of other objects, or for an object that it keeps
	// itself ([WithKeeping]). Only a change of a reference ends that.
	ReasonDependencyCycle = "DependencyCycle"
	// ReasonProcessing is the reason of the condition [ConditionRecord] while the clock of a time-out runs ([TimeoutConfiguration]).
	ReasonProcessing = "Processing"
)
