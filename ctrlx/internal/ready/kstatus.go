package ready

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
)

// Kstatus returns a function for a kind that has no Ready condition. It reads
// the status as kubectl-like tools do. A Deployment is ready if its replicas
// are there, a Job if it has started, a ConfigMap always. kind selects the
// rules, because typed objects do not know their kind. Kstatus panics if its
// kind or version is empty.
//
// Choose it only for kinds that have a rule of their own, or never have a
// status. Any other object is ready even if it reports nothing, because its controller
// has not read it yet, or nothing that Kstatus knows. An object with a Ready condition
// must also be ready by the rules of [Of], unless its kind has a rule of its own.
//
// It costs more than ten microseconds for a typed object, so use it with
// [Cached].
func Kstatus(kind schema.GroupVersionKind) Func {
	if kind.Kind == "" || kind.Version == "" {
		panic("ready: Kstatus: the kind or the version is empty")
	}
	return func(obj client.Object) checks.Readiness {
		if setup.IsNil(obj) {
			return checks.Readiness{}
		}
		u, err := toUnstructured(obj, kind)
		if err != nil {
			return checks.Readiness{Message: err.Error()}
		}
		return kstatus(u)
	}
}

func kstatus(u *unstructured.Unstructured) checks.Readiness {
	generation := u.GetGeneration()
	res, err := status.Compute(u)
	if err != nil {
		return checks.Readiness{Message: err.Error(), Generation: generation}
	}
	r := checks.Readiness{Message: res.Message, Generation: generation, Observed: generation}
	if len(res.Conditions) > 0 {
		r.Reason = res.Conditions[0].Reason
	}
	switch res.Status {
	case status.CurrentStatus:
		r.State = checks.Ready
	case status.InProgressStatus, status.FailedStatus, status.TerminatingStatus:
		r.State = checks.NotReady
	}
	if r.State == checks.Ready && status.GetLegacyConditionsFn(u) == nil {
		var v verdict
		if v.read(u); v.ready.found {
			return v.readiness(generation)
		}
	}
	return r
}

// toUnstructured returns obj in the form that kstatus reads. It does not change
// obj.
func toUnstructured(obj client.Object, kind schema.GroupVersionKind) (*unstructured.Unstructured, error) {
	var content map[string]any
	if o, ok := obj.(runtime.Unstructured); ok {
		content = maps.Clone(o.UnstructuredContent())
	} else {
		var err error
		if content, err = runtime.DefaultUnstructuredConverter.ToUnstructured(obj); err != nil {
			return nil, err
		}
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(kind)
	return u, nil
}
