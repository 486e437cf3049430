package ctrlx

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/windlass-go/windlass/ctrlx/internal/memory"
)

// RetryAnnotation is the annotation by which a user asks for a pass now. Each
// new value is a request; the time is the usual value. [WithRetryAnnotation]
// replaces the name. The annotation of Flux, "reconcile.fluxcd.io/requestedAt",
// has the same effect. A request does not clear what checks.Cached remembers.
const RetryAnnotation = "windlass-go.github.io/requestedAt"

// fluxAnnotation is the annotation that "flux reconcile" writes.
const fluxAnnotation = "reconcile.fluxcd.io/requestedAt"

// WithRetryAnnotation replaces the name of the annotation by which a user asks
// for a pass now, which is [RetryAnnotation] without it. A request does not clear
// what checks.Cached remembers. A name that is not a qualified name, such as
// "example.com/requestedAt", panics.
func WithRetryAnnotation(name string) Option {
	if errs := validation.IsQualifiedName(name); len(errs) > 0 {
		panic(fmt.Sprintf("ctrlx: WithRetryAnnotation(%q): %s", name, strings.Join(errs, "; ")))
	}
	return func(o *options) { o.retry = name }
}

// printable matches a request that a condition may show as it is.
var printable = regexp.MustCompile(`^[ -~]{1,200}$`)

// request returns the request of an object: the values of its annotations, joined by
// a comma; empty if there is none. A request that is long or not printable is
// replaced by its digest, because every user of the object can write it.
func (o *options) request(obj client.Object) string {
	var values []string
	for _, name := range slices.Compact([]string{o.retry, fluxAnnotation}) {
		if v := obj.GetAnnotations()[name]; v != "" {
			values = append(values, v)
		}
	}
	request := strings.Join(values, ",")
	if request != "" && !printable.MatchString(request) {
		return "digest:" + digestOf(request)
	}
	return request
}

// requested notes that a user asked for a retry, until the next pass begins. So each
// request resets the back-off once.
func (r *core) requested(name types.NamespacedName) {
	r.memory.Change(name, func(e *memory.Entry) { e.Retry = true })
}

// begins reports whether a user asked for a retry since the last pass, because
// a pass begins. It must be called before the pass reads the object.
func (r *core) begins(name types.NamespacedName) (requested bool) {
	return r.memory.Get(name).Retry && r.memory.Change(name, func(e *memory.Entry) { e.Retry = false }).Retry
}

// requests notes the requests. It lets all events pass.
func (r *core) requests() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		if e.ObjectOld == nil || e.ObjectNew == nil {
			return true
		}
		if now := r.opt.request(e.ObjectNew); now != "" && now != r.opt.request(e.ObjectOld) {
			r.requested(client.ObjectKeyFromObject(e.ObjectNew))
		}
		return true
	}}
}

// echo records in the status of obj that a pass has handled a request, as Flux
// does. It returns the request that the record shows, because the status has no
// field for it; empty: none.
func (r *core) echo(obj client.Object, request string) string {
	if request == "" || r.kind.Handled(obj, request) {
		return ""
	}
	return request
}
