package ctrlx

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
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

// AnyGeneration is the readiness of kinds whose Ready condition does not say for which generation it is, as that of many
// Crossplane providers. After a change of its spec such an object goes on looking ready until its controller has noticed.
func AnyGeneration(obj client.Object) checks.Readiness { return ready.OfAnyGeneration(obj) }

// Kstatus is the readiness of kinds that kstatus has rules for: a Deployment, a Job. Of any other kind it finds an object
// ready that says nothing at all. A kind without a name or a version panics.
func Kstatus(kind schema.GroupVersionKind) func(obj client.Object) checks.Readiness {
	if kind.Kind == "" || kind.Version == "" {
		panic(fmt.Sprintf("ctrlx: Kstatus: %q: give a kind and a version", kind))
	}
	return ready.Cached(ready.Kstatus(kind), remembered)
}

// remembered is for how many objects of a kind kstatus is not asked again.
const remembered = 4096
