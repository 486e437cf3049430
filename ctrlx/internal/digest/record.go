package digest

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Record is the type of the condition in which package ctrlx stores what it must
// know of an object after a restart. [Of] covers only its status. Its message
// has tokens and times that ctrlx renews while the object stays as it is, and a
// renewal must wake no waiter. [Status] covers the whole condition.
const Record = "windlass-go.github.io/Record"

type condition = metav1.Condition

func isRecord(kind string) bool { return kind == Record }

// record adds a record.
func record(h uint64, status string) uint64 { return text(text(h, Record), status) }

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
		if isRecord(kind) {
			status, _ := c["status"].(string)
			h = record(h, status)
			continue
		}
		h = anything(h, x)
	}
	return h
}
