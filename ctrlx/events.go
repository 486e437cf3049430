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
	case link != "" && !strings.Contains(note, link):
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
