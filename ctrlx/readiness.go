package ctrlx

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/byversion"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

// WithReadiness sets how ready owners and references of a kind are: [Exists],
// [AnyGeneration], [Kstatus], or a function that only reads the object. Without
// the option, it is the Ready condition of the present generation. An object
// without that condition is never ready, except a ConfigMap and a Secret, which
// are ready if they exist. A kind without a name and a nil function panic.
func WithReadiness(kind schema.GroupKind, of func(obj client.Object) checks.Readiness) Option {
	if kind.Kind == "" || of == nil {
		panic(fmt.Sprintf("ctrlx: WithReadiness: %q: give a kind and a function", kind))
	}
	return func(o *options) {
		if o.readiness == nil {
			o.readiness = readinesses{}
		}
		o.readiness[kind] = of
	}
}

// Exists is the readiness of kinds whose objects are ready if they exist, such as
// ConfigMap and Secret.
func Exists(obj client.Object) checks.Readiness {
	return checks.Readiness{State: checks.Ready, Generation: obj.GetGeneration(), Observed: obj.GetGeneration()}
}

// AnyGeneration is the readiness of kinds whose Ready condition has no generation, as
// the kinds of many Crossplane providers. After a change of its spec, such an object
// looks ready until its controller has noticed the change.
func AnyGeneration(obj client.Object) checks.Readiness { return ready.OfAnyGeneration(obj) }

// Kstatus returns the readiness of a kind by the rules of kstatus, for example of
// Deployment and Job. An object of another kind without conditions is ready by these
// rules. A kind without a name or a version panics.
func Kstatus(kind schema.GroupVersionKind) func(obj client.Object) checks.Readiness {
	if kind.Kind == "" || kind.Version == "" {
		panic(fmt.Sprintf("ctrlx: Kstatus: %q: give a kind and a version", kind))
	}
	return ready.Cached(ready.Kstatus(kind), byversion.DefaultSize)
}
