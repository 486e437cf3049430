package ready

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
)

// Kstatus reads the status of a kind that has no Ready condition, as kubectl-like tools do: a Deployment is ready if its
// replicas are there, a Job if it has started, a ConfigMap always. kind says which rules apply, since typed objects do not
// know their kind; it panics without one.
//
// Choose it only for kinds that are meant by one of its rules, or never have a status. Of any other it finds an object
// ready that says nothing: one without a status, whose controller has not looked at it yet or is not running, one with
// conditions that it does not know, or with nothing but a word in its status. An object with a Ready condition is judged by
// [Of] as well, unless there are rules for its kind.
//
// It costs more than ten microseconds for a typed object, and should be [Cached].
func Kstatus(kind schema.GroupVersionKind) Func {
	if kind.Kind == "" || kind.Version == "" {
		panic("ready: Kstatus: the kind or the version is empty")
	}
	return func(obj client.Object) checks.Readiness {
		if missing(obj) {
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

// toUnstructured gives obj as kstatus wants it, which reads it only.
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
