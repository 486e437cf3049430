package ready

import (
	"cmp"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/setup"
)

// problems are the conditions that name the problem of an object, the most
// specific one first, and the status in which they do so.
var problems = []struct{ typ, status string }{
	{"ReplicaFailure", "True"}, {"Failed", "True"}, {"Stalled", "True"}, {"Degraded", "True"},
	{"NamespaceDeletionDiscoveryFailure", "True"}, {"NamespaceDeletionGroupVersionParsingFailure", "True"},
	{"NamespaceDeletionContentFailure", "True"}, {"NamespaceFinalizersRemaining", "True"}, {"NamespaceContentRemaining", "True"},
	{"Terminating", "True"}, // of a CustomResourceDefinition
	{"PodScheduled", "False"}, {"NamesAccepted", "False"}, {"Established", "False"}, {"Synced", "False"},
	{"Progressing", "False"}, {"Available", "False"}, {"Ready", "False"},
}

// Problem returns the problem that a condition of obj names, as in
// "ReplicaFailure: exceeded quota"; empty: no condition does. It is for an object
// that is not ready: for a Deployment, the rules of kstatus tell the number of the
// replicas, and not why there are no more. The text is foreign.
func Problem(obj client.Object) string {
	if setup.IsNil(obj) {
		return ""
	}
	status, err := statusOf(obj)
	if err != nil {
		return ""
	}
	list, _ := status["conditions"].([]any)
	for _, p := range problems {
		for _, c := range list {
			m, _ := c.(map[string]any)
			if m["type"] != p.typ || m["status"] != p.status {
				continue
			}
			reason, _ := m["reason"].(string)
			message, _ := m["message"].(string)
			if why := cmp.Or(message, reason); why != "" {
				return p.typ + ": " + why
			}
		}
	}
	return ""
}
