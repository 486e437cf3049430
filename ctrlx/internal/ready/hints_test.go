package ready_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

func TestHints(t *testing.T) {
	was := checks.Readiness{State: checks.Ready, Generation: 2, Observed: 2}
	not := func(state checks.State, reason, message string) checks.Readiness {
		return checks.Readiness{State: state, Reason: reason, Message: message, Generation: 2, Observed: 2}
	}
	const unseen = "its controller has not seen its present spec"
	cases := map[string]struct {
		reason string
		hints  string
		of     client.Object
		text   string
		want   checks.Readiness
	}{
		"NoStatus":     {"the trap: the controller is not running", "has-observed-generation", new(Cluster), `{}`, not(checks.NotReady, "", unseen)},
		"Unseen":       {"the status is of an older spec", "has-observed-generation", new(Cluster), `{"status":{"observedGeneration":1}}`, not(checks.NotReady, "", unseen)},
		"Seen":         {"the status is of the present spec", "HasObservedGeneration", new(Cluster), `{"status":{"observedGeneration":2}}`, was},
		"SeenByReady":  {"the Ready condition has the generation", "has-observed-generation", new(Cluster), `{"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":2}]}}`, was},
		"NoReady":      {"the Ready condition appears later", "has-ready-condition", new(Cluster), `{"status":{}}`, not(checks.Unknown, "", "it has no Ready condition")},
		"Ready":        {"the Ready condition is there", "has-ready-condition", new(Cluster), `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, was},
		"NoCondition":  {"each condition must be there", "conditions=A;B", new(Cluster), `{"status":{"conditions":[{"type":"A","status":"True"}]}}`, not(checks.NotReady, "", "it has no condition B")},
		"Condition":    {"each condition must be True", "conditions=A;B", new(Cluster), `{"status":{"conditions":[{"type":"A","status":"True"},{"type":"B","status":"Unknown","reason":"R","message":"m"}]}}`, not(checks.NotReady, "R", "its condition B is Unknown: m")},
		"Conditions":   {"all are True", "conditions=A; B , has-observed-generation", new(Cluster), `{"status":{"observedGeneration":2,"conditions":[{"type":"A","status":"True"},{"type":"B","status":"True"}]}}`, was},
		"NoMessage":    {"a condition may have no message", "conditions=A", new(Cluster), `{"status":{"conditions":[{"type":"A","status":"False","reason":"R"}]}}`, not(checks.NotReady, "R", "its condition A is False")},
		"NilStatus":    {"the status by pointer is not there", "has-observed-generation", new(Table), `{}`, not(checks.NotReady, "", unseen)},
		"NoField":      {"the kind has no status", "has-observed-generation", new(corev1.ConfigMap), `{}`, not(checks.NotReady, "", unseen)},
		"WordStatus":   {"the status is a word", "has-observed-generation", new(Word), `{"status":"Running"}`, not(checks.NotReady, "", unseen)},
		"OddCondition": {"content of another form is no condition", "conditions=A", new(Strange), `{"status":{"conditions":{"A":"True"}}}`, not(checks.NotReady, "", "it has no condition A")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			hints, err := ready.ParseHints(tc.hints)
			if err != nil {
				t.Fatal(err)
			}
			for form, o := range map[string]client.Object{"typed": from(t, tc.text, tc.of), "unstructured": loose(t, tc.text)} {
				if diff := cmp.Diff(tc.want, hints.Hinted(o, was)); diff != "" {
					t.Errorf("%s: %s: -want, +got:\n%s", tc.reason, form, diff)
				}
				if got := hints.Hinted(o, checks.Readiness{State: checks.NotReady}); got.State != checks.NotReady {
					t.Errorf("%s: %s: a hint makes an object %s", tc.reason, form, got.State)
				}
			}
		})
	}
	seen := from(t, `{"status":{"observedGeneration":1}}`, new(Cluster))
	for generation, want := range map[int64]checks.State{0: checks.Ready, 1: checks.Ready, 2: checks.NotReady} {
		if got := (ready.Hints{ObservedGeneration: true}).Hinted(seen, checks.Readiness{State: checks.Ready, Generation: generation}); got.State != want {
			t.Errorf("the status of generation 1 of an object of generation %d: %v", generation, got)
		}
	}
	if got := (ready.Hints{ObservedGeneration: true}).Hinted(new(Cluster), checks.Readiness{State: checks.Ready}); got.State != checks.NotReady {
		t.Errorf("an object without a generation that reports none: %v", got)
	}
	if got, want := ready.Of(byValue{Cluster: new(Cluster)}), (checks.Readiness{Message: noReady}); got != want {
		t.Errorf("of an object that is no pointer: %v", got)
	}
	observed := ready.Hints{ObservedGeneration: true}
	if got := observed.Hinted(byValue{Cluster: new(Cluster)}, was); got != not(checks.NotReady, "", unseen) {
		t.Errorf("of an object that is no pointer: %v", got)
	}
	if got, want := observed.Hinted(new(Unreadable), was), (checks.Readiness{Message: "unrecognized type: complex128", Generation: 2}); got != want {
		t.Errorf("of a status that cannot be read: %v, want %v", got, want)
	}
	for odd, want := range map[string]string{
		"ready": `"ready" is no hint`, "conditions": `"conditions" names no condition`, "conditions=": `"conditions=" names no condition`,
		"conditions=A;": `"conditions=A;" names no condition`, "has-ready-condition=true": `"has-ready-condition=true" is no hint`,
		"has-observed-generation=": `"has-observed-generation=" is no hint`, "has-ready-condition,": `"" is no hint`,
	} {
		if h, err := ready.ParseHints(odd); err == nil || err.Error() != want || !h.IsZero() {
			t.Errorf("%q is read as %v, %v; want the error %s", odd, h, err, want)
		}
	}
	for _, none := range []string{"", " ", " None "} {
		if h, err := ready.ParseHints(none); err != nil || !h.IsZero() {
			t.Errorf("%q is read as %v, %v", none, h, err)
		}
	}
}

func TestHintsOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		kind   schema.GroupKind
		status string
		want   checks.State
	}{
		"JobStarted":  {"it runs", schema.GroupKind{Group: "batch", Kind: "Job"}, `{"startTime":"2026-11-21T00:00:00Z"}`, checks.NotReady},
		"JobComplete": {"it is done", schema.GroupKind{Group: "batch", Kind: "Job"}, `{"conditions":[{"type":"Complete","status":"True"}]}`, checks.Ready},
		"JobFailed":   {"it failed", schema.GroupKind{Group: "batch", Kind: "Job"}, `{"conditions":[{"type":"Failed","status":"True"}]}`, checks.NotReady},
		"Established": {"its names are not accepted yet", schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, `{"conditions":[{"type":"Established","status":"True"}]}`, checks.NotReady},
		"Definition":  {"it is served", schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, `{"conditions":[{"type":"Established","status":"True"},{"type":"NamesAccepted","status":"True"}]}`, checks.Ready},
		"NewService":  {"its server was not asked yet", schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}, `{}`, checks.NotReady},
		"Service":     {"its server answers", schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}, `{"conditions":[{"type":"Available","status":"True"}]}`, checks.Ready},
		"Other":       {"another kind has no hints", schema.GroupKind{Kind: "ConfigMap"}, `{}`, checks.Ready},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := loose(t, `{"metadata":{"generation":1},"status":`+tc.status+`}`)
			kind := tc.kind.WithVersion("v1")
			if got := ready.HintsOf(tc.kind).Hinted(o, ready.Kstatus(kind)(o)).State; got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}
