package ready

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
)

// Hints describes how the controller of an object reports. An object that lacks
// such a report is not ready, although its other status looks good. The zero
// Hints changes nothing.
type Hints struct {
	// ObservedGeneration: status.observedGeneration, or else that of the Ready
	// condition, appears once the controller has seen the object.
	ObservedGeneration bool
	// ReadyCondition: the Ready condition appears later.
	ReadyCondition bool
	// Conditions must be there and True.
	Conditions []string
}

// ParseHints reads hints of the form "has-observed-generation,conditions=A;B".
// The words may also be written as HasObservedGeneration. The text "none" and an
// empty text are the zero Hints.
func ParseHints(text string) (h Hints, err error) {
	if text = strings.TrimSpace(text); text == "" || strings.EqualFold(text, "none") {
		return Hints{}, nil
	}
	for _, hint := range strings.Split(text, ",") {
		word, value, valued := strings.Cut(strings.TrimSpace(hint), "=")
		switch word = strings.ToLower(strings.ReplaceAll(word, "-", "")); {
		case word == "hasobservedgeneration" && !valued:
			h.ObservedGeneration = true
		case word == "hasreadycondition" && !valued:
			h.ReadyCondition = true
		case word == "conditions":
			for _, typ := range strings.Split(value, ";") {
				if typ = strings.TrimSpace(typ); typ == "" {
					return Hints{}, fmt.Errorf("%q names no condition", hint)
				}
				h.Conditions = append(h.Conditions, typ)
			}
		default:
			return Hints{}, fmt.Errorf("%q is no hint", hint)
		}
	}
	return h, nil
}

// IsZero reports whether h changes nothing.
func (h Hints) IsZero() bool {
	return !h.ObservedGeneration && !h.ReadyCondition && len(h.Conditions) == 0
}

// HintsOf returns the conditions without which an object of a kind of Kubernetes
// is not ready. The rules of kstatus accept a Job that has only started, a
// definition whose names are not accepted yet, and every APIService.
func HintsOf(kind schema.GroupKind) Hints {
	switch kind {
	case schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:
		return Hints{Conditions: []string{"Established", "NamesAccepted"}}
	case schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}:
		return Hints{Conditions: []string{"Available"}}
	case schema.GroupKind{Group: "batch", Kind: "Job"}:
		return Hints{Conditions: []string{"Complete"}} // kstatus says what failed
	}
	return Hints{}
}

// Hinted returns was, the readiness of obj without hints, unless obj is ready
// and lacks a report that h expects.
func (h Hints) Hinted(obj client.Object, was checks.Readiness) checks.Readiness {
	if was.State != checks.Ready || h.IsZero() {
		return was
	}
	status, err := statusOf(obj)
	if err != nil {
		return checks.Readiness{Message: err.Error(), Generation: was.Generation}
	}
	not := func(state checks.State, reason, message string) checks.Readiness {
		return checks.Readiness{State: state, Reason: reason, Message: message, Generation: was.Generation, Observed: was.Observed}
	}
	list, _ := status["conditions"].([]any)
	find := func(typ string) map[string]any {
		i := slices.IndexFunc(list, func(c any) bool { m, _ := c.(map[string]any); return m["type"] == typ })
		if i < 0 {
			return nil
		}
		return list[i].(map[string]any)
	}
	ready := find("Ready")
	if h.ObservedGeneration {
		observed := integer(status["observedGeneration"])
		if observed == 0 {
			observed = integer(ready["observedGeneration"])
		}
		if observed == 0 || observed < was.Generation {
			return not(checks.NotReady, "", "its controller has not seen its present spec")
		}
	}
	if h.ReadyCondition && ready == nil {
		return not(checks.Unknown, "", noReadyCondition)
	}
	for _, typ := range h.Conditions {
		c := find(typ)
		if c["status"] == "True" {
			continue
		}
		message := "it has no condition " + typ
		if c != nil {
			message = fmt.Sprintf("its condition %s is %v", typ, c["status"])
			if text, _ := c["message"].(string); text != "" {
				message += ": " + text
			}
		}
		reason, _ := c["reason"].(string)
		return not(checks.NotReady, reason, message)
	}
	return was
}

// statusOf returns the status of an object as JSON content. The caller does not
// change it.
func statusOf(obj client.Object) (map[string]any, error) {
	if u, ok := obj.(runtime.Unstructured); ok {
		status, _ := u.UnstructuredContent()["status"].(map[string]any)
		return status, nil
	}
	v := reflect.Indirect(planOf(reflect.TypeOf(obj)).status.In(reflect.ValueOf(obj)))
	if v.Kind() != reflect.Struct || !v.CanAddr() { // there is none, or obj is no pointer
		return nil, nil
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(v.Addr().Interface())
}
