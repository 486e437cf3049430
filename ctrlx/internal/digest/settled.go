package digest

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Settled is the type and the reason of the condition in which package ctrlx
// stores the last success of an object. [Of] covers only its status. Its message
// has a time that ctrlx renews while the object stays as it is, and a renewal
// must wake no waiter. [Status] covers the whole condition.
const Settled = "Settled"

type condition = metav1.Condition

func isSettled(kind, reason string) bool { return kind == Settled && reason == Settled }

// settled adds a stored success.
func settled(h uint64, status string) uint64 { return text(text(h, Settled), status) }

// statusOf adds the status of an unstructured object.
func statusOf(h uint64, status any) uint64 {
	all, ok := status.(map[string]any)
	list, isList := all["conditions"].([]any)
	if !ok || !isList {
		return anything(h, status)
	}
	var sum uint64
	for k, v := range all {
		if k != "conditions" {
			sum += anything(text(0, k), v)
		}
	}
	h = mix(mix(mix(h, holdsMap), uint64(len(all))), sum)
	h = mix(mix(h, holdsList), uint64(len(list)))
	for _, x := range list {
		c, _ := x.(map[string]any)
		kind, _ := c["type"].(string)
		reason, _ := c["reason"].(string)
		if isSettled(kind, reason) {
			status, _ := c["status"].(string)
			h = settled(h, status)
			continue
		}
		h = anything(h, x)
	}
	return h
}
