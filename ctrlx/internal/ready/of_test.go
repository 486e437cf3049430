package ready_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
	"github.com/windlass-go/windlass/internal/testing/race"
)

const (
	noReady      = "it has no Ready condition"
	noGeneration = "its conditions do not say for which generation of its spec they are, and its spec was changed since it was created"
	ahead        = "its conditions are for a later generation than its spec has"
)

func TestOf(t *testing.T) {
	is := func(state checks.State, reason, message string, generation, observed int64) checks.Readiness {
		return checks.Readiness{State: state, Reason: reason, Message: message, Generation: generation, Observed: observed}
	}
	cluster := func() client.Object { return new(Cluster) }
	managed := func() client.Object { return new(ManagedCluster) }
	vpc := func() client.Object { return new(VPC) }
	table := func() client.Object { return new(Table) }
	node := func() client.Object { return new(corev1.Node) }
	cases := map[string]struct {
		reason string
		of     func() client.Object
		text   string
		want   checks.Readiness
		any    *checks.Readiness // the result of OfAnyGeneration, if it differs
	}{
		// No Ready condition: unknown.
		"NoStatus":       {"a missing status is not ready", cluster, `{"metadata":{"generation":1}}`, is(checks.Unknown, "", noReady, 1, 0), ptr(is(checks.Unknown, "", noReady, 0, 0))},
		"NoStatusByPtr":  {"a nil status is not ready", table, `{"metadata":{"generation":1}}`, is(checks.Unknown, "", noReady, 1, 0), ptr(is(checks.Unknown, "", noReady, 0, 0))},
		"EmptyStatus":    {"an empty status is not ready", cluster, `{"metadata":{"generation":1},"status":{}}`, is(checks.Unknown, "", noReady, 1, 0), ptr(is(checks.Unknown, "", noReady, 0, 0))},
		"NoConditions":   {"a status without conditions is not ready", cluster, `{"metadata":{"generation":1},"status":{"observedGeneration":1,"conditions":[]}}`, is(checks.Unknown, "", noReady, 1, 1), nil},
		"OtherCondition": {"a status with other conditions is not ready", cluster, `{"metadata":{"generation":1},"status":{"observedGeneration":1,"conditions":[{"type":"Available","status":"True"}]}}`, is(checks.Unknown, "", noReady, 1, 1), nil},
		"SyncedOnly":     {"an applied spec need not be ready", vpc, `{"metadata":{"generation":1},"status":{"conditions":[{"type":"Synced","status":"True","reason":"ReconcileSuccess"}]}}`, is(checks.Unknown, "", noReady, 1, 0), ptr(is(checks.Unknown, "", noReady, 0, 0))},
		"StateOnly":      {"a word in the status is not a condition", managed, `{"metadata":{"generation":1},"status":{"provisioningState":"Succeeded"}}`, is(checks.Unknown, "", noReady, 1, 0), ptr(is(checks.Unknown, "", noReady, 0, 0))},
		"OddCase":        {"a condition type has one spelling", cluster, `{"metadata":{"generation":1},"status":{"observedGeneration":1,"conditions":[{"type":"ready","status":"True"}]}}`, is(checks.Unknown, "", noReady, 1, 1), nil},

		// Standard conditions.
		"True":           {"the object reports that it is ready, for its own generation", cluster, `{"metadata":{"generation":2},"status":{"conditions":[{"type":"Stalled","status":"False"},{"type":"Ready","status":"True","reason":"Succeeded","message":"matches its spec","observedGeneration":2}]}}`, is(checks.Ready, "Succeeded", "matches its spec", 2, 2), nil},
		"False":          {"the reason and the message of the condition", cluster, `{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"False","reason":"Creating","message":"takes a while","observedGeneration":2}]}}`, is(checks.NotReady, "Creating", "takes a while", 2, 2), nil},
		"Unknown":        {"the object reports that its readiness is unknown", cluster, `{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"Unknown","reason":"Progressing","message":"m","observedGeneration":2}]}}`, is(checks.Unknown, "Progressing", "m", 2, 2), nil},
		"TwiceFalse":     {"of two equal conditions the first one counts", cluster, `{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"False","reason":"R","observedGeneration":2},{"type":"Ready","status":"False","reason":"S","observedGeneration":2}]}}`, is(checks.NotReady, "R", "", 2, 2), nil},
		"UnknownFalse":   {"not ready is worse than unknown", cluster, `{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"Unknown","reason":"R","observedGeneration":2},{"type":"Ready","status":"False","reason":"S","observedGeneration":2}]}}`, is(checks.NotReady, "S", "", 2, 2), nil},
		"NoGeneration":   {"an object without a generation has no stale conditions", cluster, `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"R","observedGeneration":2}]}}`, is(checks.Ready, "R", "", 0, 2), nil},
		"OddStatus":      {"a status that is neither True nor False is unknown", cluster, `{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"true","observedGeneration":2}]}}`, is(checks.Unknown, "", "", 2, 2), nil},
		"EmptyCondition": {"a status that is not set is unknown", cluster, `{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","observedGeneration":2}]}}`, is(checks.Unknown, "", "", 2, 2), nil},
		"Stale":          {"an object that is ready for an older spec is stale", cluster, `{"metadata":{"generation":3},"status":{"conditions":[{"type":"Ready","status":"True","reason":"R","observedGeneration":2}]}}`, is(checks.Ready, "R", "", 3, 2), nil},
		"StaleFalse":     {"an object that is not ready for an older spec is stale", cluster, `{"metadata":{"generation":3},"status":{"conditions":[{"type":"Ready","status":"False","reason":"R","observedGeneration":2}]}}`, is(checks.NotReady, "R", "", 3, 2), nil},
		"Twice":          {"of two Ready conditions the worse counts", cluster, `{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":2},{"type":"Ready","status":"False","reason":"R","observedGeneration":2},{"type":"Ready","status":"Unknown","observedGeneration":2}]}}`, is(checks.NotReady, "R", "", 2, 2), nil},

		// The generation that counts.
		"StatusSaysSo":    {"the status as a whole has a generation", cluster, `{"metadata":{"generation":4},"status":{"observedGeneration":4,"conditions":[{"type":"Ready","status":"True"}]}}`, is(checks.Ready, "", "", 4, 4), nil},
		"StatusIsStale":   {"the older of the two counts", cluster, `{"metadata":{"generation":4},"status":{"observedGeneration":3,"conditions":[{"type":"Ready","status":"True","observedGeneration":4}]}}`, is(checks.Ready, "", "", 4, 3), nil},
		"ConditionStale":  {"the older of the two counts", cluster, `{"metadata":{"generation":4},"status":{"observedGeneration":4,"conditions":[{"type":"Ready","status":"True","observedGeneration":3}]}}`, is(checks.Ready, "", "", 4, 3), nil},
		"Ahead":           {"a condition of a future generation was copied from another object", cluster, `{"metadata":{"generation":4},"status":{"conditions":[{"type":"Ready","status":"True","reason":"R","observedGeneration":9}]}}`, is(checks.Unknown, "", ahead, 4, 9), nil},
		"AheadFalse":      {"a condition of a future generation that is False is still not ready", cluster, `{"metadata":{"generation":4},"status":{"conditions":[{"type":"Ready","status":"False","reason":"R","observedGeneration":9}]}}`, is(checks.NotReady, "R", "", 4, 9), nil},
		"AheadAndBehind":  {"one generation is newer than the spec, and the other is older", cluster, `{"metadata":{"generation":4},"status":{"observedGeneration":9,"conditions":[{"type":"Ready","status":"True","observedGeneration":3}]}}`, is(checks.Unknown, "", ahead, 4, 3), nil},
		"Negative":        {"a negative generation is older than any other", cluster, `{"metadata":{"generation":1},"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":-1}]}}`, is(checks.Ready, "", "", 1, -1), nil},
		"FirstGeneration": {"a spec that was never changed is the only possible spec", cluster, `{"metadata":{"generation":1},"status":{"conditions":[{"type":"Ready","status":"True","reason":"R"}]}}`, is(checks.Ready, "R", "", 1, 1), ptr(is(checks.Ready, "R", "", 0, 0))},
		"NotSaid":         {"after a change the generation of the condition is unknown", cluster, `{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True","reason":"R"}]}}`, is(checks.Unknown, "", noGeneration, 2, 0), ptr(is(checks.Ready, "R", "", 0, 0))},
		"NotSaidFalse":    {"an object that is not ready needs no generation", cluster, `{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"False","reason":"R"}]}}`, is(checks.NotReady, "R", "", 2, 0), ptr(is(checks.NotReady, "R", "", 0, 0))},
		"NoGenerations":   {"a kind without generations has only one spec", node, `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady"}]}}`, is(checks.Ready, "KubeletReady", "", 0, 0), nil},

		// Azure Service Operator.
		"ASO":        {"ready, without a severity", managed, `{"metadata":{"generation":2},"status":{"provisioningState":"Succeeded","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-11-21T10:00:00Z","observedGeneration":2,"reason":"Succeeded"}]}}`, is(checks.Ready, "Succeeded", "", 2, 2), nil},
		"ASOInfo":    {"under way", managed, `{"metadata":{"generation":1},"status":{"conditions":[{"type":"Ready","status":"False","severity":"Info","lastTransitionTime":"2026-11-21T10:00:00Z","observedGeneration":1,"reason":"Reconciling","message":"The resource is in the process of being reconciled by the operator"}]}}`, is(checks.NotReady, "Reconciling", "The resource is in the process of being reconciled by the operator", 1, 1), nil},
		"ASOWarning": {"waiting", managed, `{"metadata":{"generation":1},"status":{"conditions":[{"type":"Ready","status":"False","severity":"Warning","observedGeneration":1,"reason":"WaitingForOwner","message":"Owner \"rg\" cannot be found"}]}}`, is(checks.NotReady, "WaitingForOwner", `Owner "rg" cannot be found`, 1, 1), nil},
		"ASOError":   {"stuck", managed, `{"metadata":{"generation":1},"status":{"conditions":[{"type":"Ready","status":"False","severity":"Error","observedGeneration":1,"reason":"InvalidParameter"}]}}`, is(checks.NotReady, "InvalidParameter", "", 1, 1), nil},
		"ASOStale":   {"the spec was changed, and the operator has not read it yet", managed, `{"metadata":{"generation":3},"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":2,"reason":"Succeeded"}]}}`, is(checks.Ready, "Succeeded", "", 3, 2), nil},

		// Crossplane.
		"XP":             {"ready, and the spec is applied", vpc, `{"metadata":{"generation":3},"status":{"atProvider":{"id":"vpc-1"},"conditions":[{"type":"Ready","status":"True","reason":"Available","observedGeneration":3},{"type":"Synced","status":"True","reason":"ReconcileSuccess","observedGeneration":3}]}}`, is(checks.Ready, "Available", "", 3, 3), nil},
		"XPNotSynced":    {"the resource of an older spec is ready, and the new spec cannot be applied", vpc, `{"metadata":{"generation":3},"status":{"conditions":[{"type":"Ready","status":"True","reason":"Available","observedGeneration":3},{"type":"Synced","status":"False","reason":"ReconcileError","message":"cannot update","observedGeneration":3}]}}`, is(checks.NotReady, "ReconcileError", "cannot update", 3, 3), nil},
		"XPPaused":       {"the resource is paused, and no controller reconciles it", vpc, `{"metadata":{"generation":1},"status":{"conditions":[{"type":"Synced","status":"False","reason":"ReconcilePaused"},{"type":"Ready","status":"True","reason":"Available"}]}}`, is(checks.NotReady, "ReconcilePaused", "", 1, 0), ptr(is(checks.NotReady, "ReconcilePaused", "", 0, 0))},
		"XPSyncedUnsure": {"the provider does not know whether the spec is applied", vpc, `{"metadata":{"generation":1},"status":{"conditions":[{"type":"Synced","status":"Unknown","reason":"U"},{"type":"Ready","status":"True","reason":"Available"}]}}`, is(checks.Unknown, "U", "", 1, 0), ptr(is(checks.Unknown, "U", "", 0, 0))},
		"XPCreating":     {"being created", vpc, `{"metadata":{"generation":1},"status":{"conditions":[{"type":"Ready","status":"False","reason":"Creating"},{"type":"Synced","status":"True","reason":"ReconcileSuccess"}]}}`, is(checks.NotReady, "Creating", "", 1, 0), ptr(is(checks.NotReady, "Creating", "", 0, 0))},
		"XPFailing":      {"the condition Synced has the cause of the failure", vpc, `{"metadata":{"generation":1},"status":{"conditions":[{"type":"Ready","status":"False","reason":"Creating"},{"type":"Synced","status":"False","reason":"ReconcileError","message":"no rights"}]}}`, is(checks.NotReady, "ReconcileError", "no rights", 1, 0), ptr(is(checks.NotReady, "ReconcileError", "no rights", 0, 0))},
		"XPReadyUnsure":  {"an applied spec need not be ready", vpc, `{"metadata":{"generation":1},"status":{"conditions":[{"type":"Ready","status":"Unknown","reason":"U"},{"type":"Synced","status":"True","reason":"ReconcileSuccess"}]}}`, is(checks.Unknown, "U", "", 1, 0), ptr(is(checks.Unknown, "U", "", 0, 0))},
		"XPSilent":       {"a provider that reports no generation, after it has changed the spec itself", vpc, `{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True","reason":"Available"},{"type":"Synced","status":"True"}]}}`, is(checks.Unknown, "", noGeneration, 2, 0), ptr(is(checks.Ready, "Available", "", 0, 0))},
		"XPHalfSilent":   {"one of two conditions reports no generation", vpc, `{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True","reason":"Available","observedGeneration":2},{"type":"Synced","status":"True"}]}}`, is(checks.Unknown, "", noGeneration, 2, 2), ptr(is(checks.Ready, "Available", "", 2, 2))},
		"XPHalfStale":    {"the older of the two counts", vpc, `{"metadata":{"generation":3},"status":{"conditions":[{"type":"Ready","status":"True","reason":"Available","observedGeneration":3},{"type":"Synced","status":"True","observedGeneration":2}]}}`, is(checks.Ready, "Available", "", 3, 2), nil},
		"XPSilentStale":  {"the one reported generation is old", vpc, `{"metadata":{"generation":3},"status":{"conditions":[{"type":"Ready","status":"True","reason":"Available"},{"type":"Synced","status":"True","observedGeneration":2}]}}`, is(checks.Ready, "Available", "", 3, 2), nil},

		// All values by pointer.
		"Pointers":       {"pointers are followed", table, `{"metadata":{"generation":2},"status":{"observedGeneration":2,"conditions":[null,{"type":"Ready","status":"False","reason":"R","message":"m"}]}}`, is(checks.NotReady, "R", "m", 2, 2), nil},
		"NilsInsideThem": {"a nil condition and a nil value are ignored", table, `{"metadata":{"generation":1},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, is(checks.Ready, "", "", 1, 1), ptr(is(checks.Ready, "", "", 0, 0))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			lenient := tc.want
			if tc.any != nil {
				lenient = *tc.any
			}
			typed, untyped := from(t, tc.text, tc.of()), loose(t, tc.text)
			for form, o := range map[string]client.Object{"typed": typed, "unstructured": untyped, "wrapped": &wrapped{*untyped}} {
				if diff := cmp.Diff(tc.want, ready.Of(o)); diff != "" {
					t.Errorf("%s: %s: Of: -want, +got:\n%s", tc.reason, form, diff)
				}
				if diff := cmp.Diff(lenient, ready.OfAnyGeneration(o)); diff != "" {
					t.Errorf("%s: %s: OfAnyGeneration: -want, +got:\n%s", tc.reason, form, diff)
				}
			}
		})
	}
}

func ptr[T any](x T) *T { return &x }

// wrapped is unstructured content in another Go type than Unstructured.
type wrapped struct{ unstructured.Unstructured }

// TestOfForms has cases that exist in one form only.
func TestOfForms(t *testing.T) {
	meta := metav1.ObjectMeta{Generation: 2}
	standard := []metav1.Condition{{Type: "Ready", Status: "False", Reason: "R", ObservedGeneration: 2}}
	own := []ASOCondition{{Type: "Ready", Status: "False", Reason: "R", ObservedGeneration: 2}}
	found := checks.Readiness{State: checks.NotReady, Reason: "R", Generation: 2, Observed: 2}
	unknown := checks.Readiness{Message: noReady, Generation: 2}
	hidden := &Hidden{ObjectMeta: meta}
	hidden.Status.V1Beta2.Conditions = standard
	odd := func(status any) client.Object {
		return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"generation": int64(2)}, "status": status}}
	}
	cases := map[string]struct {
		reason string
		obj    client.Object
		want   checks.Readiness
	}{
		"Nil":           {"the readiness of a nil object is unknown", nil, checks.Readiness{}},
		"TypedNil":      {"the readiness of a nil pointer is unknown", (*Cluster)(nil), checks.Readiness{}},
		"Method":        {"GetConditions returns the conditions", hidden, found},
		"OwnMethod":     {"GetConditions returns conditions of another type", &Odd{ObjectMeta: meta, List: own}, found},
		"Strange":       {"conditions of a wrong type, and a method with other parameters", &Strange{ObjectMeta: meta}, unknown},
		"ConfigMap":     {"a kind that reports nothing", &corev1.ConfigMap{ObjectMeta: meta}, unknown},
		"Pod":           {"a kind of Kubernetes", &corev1.Pod{ObjectMeta: meta, Status: corev1.PodStatus{ObservedGeneration: 2, Conditions: []corev1.PodCondition{{Type: "Ready", Status: "False", Reason: "R"}}}}, found},
		"Metadata":      {"a metadata-only object", &metav1.PartialObjectMetadata{ObjectMeta: meta}, checks.Readiness{Message: "it was read as metadata only, which says nothing of readiness", Generation: 2}},
		"Empty":         {"no content at all", &unstructured.Unstructured{}, checks.Readiness{Message: noReady}},
		"StatusWord":    {"a status that is a word", odd("Ready"), unknown},
		"ConditionsMap": {"conditions that are not a list", odd(map[string]any{"conditions": map[string]any{"Ready": "True"}}), unknown},
		"ConditionWord": {"a condition that is a word", odd(map[string]any{"conditions": []any{"Ready", nil}}), unknown},
		"TypeNumber":    {"a type that is a number", odd(map[string]any{"conditions": []any{map[string]any{"type": int64(1), "status": "True"}}}), unknown},
		"StatusTrue":    {"a status that is a bool", odd(map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": true, "observedGeneration": int64(2)}}}), checks.Readiness{Generation: 2, Observed: 2}},
		"Float":         {"a generation as encoding/json reads it", odd(map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False", "reason": "R", "observedGeneration": 2.0}}}), found},
		"Int":           {"a generation as Go code writes it", odd(map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False", "reason": "R", "observedGeneration": 2}}}), found},
		"Int32":         {"a generation as Go code writes it", odd(map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False", "reason": "R", "observedGeneration": int32(2)}}}), found},
		"OtherMethod":   {"GetConditions returns an error, too", &Word{ObjectMeta: meta}, unknown},
		"NoList":        {"the field conditions is no list", &Unreadable{ObjectMeta: meta}, unknown},
		"Half":          {"a generation that is not a whole number", odd(map[string]any{"observedGeneration": 2.5, "conditions": []any{map[string]any{"type": "Ready", "status": "True", "observedGeneration": "2"}}}), checks.Readiness{Message: noGeneration, Generation: 2}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ready.Of(tc.obj)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if got := ready.OfAnyGeneration(nil); got != (checks.Readiness{}) {
		t.Errorf("OfAnyGeneration(nil) = %v", got)
	}
}

// anyConditions draws conditions of every sort.
func anyConditions[C any](t *rapid.T, one func(typ, status, reason, message string, observed int64) C) []C {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) C {
		return one(
			rapid.SampledFrom([]string{"Ready", "Synced", "Stalled", ""}).Draw(t, "type"),
			rapid.SampledFrom([]string{"True", "True", "False", "Unknown", "", "odd"}).Draw(t, "status"),
			rapid.SampledFrom([]string{"", "R", "Q"}).Draw(t, "reason"),
			rapid.SampledFrom([]string{"", "m"}).Draw(t, "message"),
			rapid.Int64Range(-1, 4).Draw(t, "observed"))
	}), 0, 4).Draw(t, "conditions")
}

func anyObject(t *rapid.T) client.Object {
	meta := metav1.ObjectMeta{Generation: rapid.Int64Range(0, 4).Draw(t, "generation")}
	status := rapid.Int64Range(-1, 4).Draw(t, "observed by the status")
	switch rapid.IntRange(0, 3).Draw(t, "type") {
	case 0:
		return &Cluster{ObjectMeta: meta, Status: ClusterStatus{status, anyConditions(t, func(typ, status, reason, message string, observed int64) metav1.Condition {
			return metav1.Condition{Type: typ, Status: metav1.ConditionStatus(status), Reason: reason, Message: message, ObservedGeneration: observed}
		})}}
	case 1:
		return &ManagedCluster{ObjectMeta: meta, Status: ManagedCluster_STATUS{Conditions: anyConditions(t, func(typ, status, reason, message string, observed int64) ASOCondition {
			return ASOCondition{Type: ASOType(typ), Status: metav1.ConditionStatus(status), Reason: reason, Message: message, ObservedGeneration: observed}
		})}}
	case 2:
		return &VPC{ObjectMeta: meta, Status: VPCStatus{ResourceStatus: ResourceStatus{ConditionedStatus{anyConditions(t, func(typ, status, reason, message string, observed int64) XPCondition {
			return XPCondition{Type: XPType(typ), Status: corev1.ConditionStatus(status), Reason: XPReason(reason), Message: message, ObservedGeneration: observed}
		})}}}}
	}
	return &Table{ObjectMeta: meta, Status: &TableStatus{&status, anyConditions(t, func(typ, status, reason, message string, _ int64) *TableCondition {
		return &TableCondition{typ, status, &reason, &message}
	})}}
}

// TestForms verifies that a typed object and its unstructured form have the
// same readiness.
func TestForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typed := anyObject(t)
		untyped := loose(t, written(t, typed))
		for name, of := range map[string]ready.Func{"Of": ready.Of, "OfAnyGeneration": ready.OfAnyGeneration} {
			if diff := cmp.Diff(of(typed), of(untyped)); diff != "" {
				t.Errorf("%s: -typed, +unstructured:\n%s%s", name, diff, written(t, typed))
			}
		}
	})
}

// passes reports whether the checks accept the readiness.
func passes(r checks.Readiness) bool { return r.State == checks.Ready && r.Observed >= r.Generation }

// TestStrict states in other words when an object counts as ready.
func TestStrict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyObject(t)
		generation := o.GetGeneration()
		status, _, _ := unstructured.NestedMap(loose(t, written(t, o)).Object, "status")
		top, _ := status["observedGeneration"].(int64)
		conditions, _ := status["conditions"].([]any)
		isReady, want := false, true
		for _, x := range conditions {
			c := x.(map[string]any)
			if c["type"] != "Ready" && c["type"] != "Synced" {
				continue
			}
			isReady = isReady || c["type"] == "Ready"
			observed, _ := c["observedGeneration"].(int64)
			for _, n := range []int64{observed, top} {
				want = want && (n == 0 || n == generation || generation == 0 && n > 0)
			}
			want = want && c["status"] == "True" && (observed != 0 || top != 0 || generation <= 1)
		}
		if want = want && isReady; passes(ready.Of(o)) != want {
			t.Errorf("counts as ready: %t, want %t: %v of %s", !want, want, ready.Of(o), written(t, o))
		}
		if want && !passes(ready.OfAnyGeneration(o)) {
			t.Errorf("OfAnyGeneration is stricter than Of: %v", ready.OfAnyGeneration(o))
		}
	})
}

// FuzzContent tries any JSON as the content of an object.
func FuzzContent(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"status":null}`, `{"metadata":{"generation":1},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`,
		`{"metadata":{"generation":2.5},"status":{"observedGeneration":1e300,"conditions":[[],{"type":"Ready","status":["True"]}]}}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON([]byte(`{"kind":"K",` + strings.TrimPrefix(text, "{"))); err != nil {
			t.Skip()
		}
		if passes(ready.Of(u)) && !(strings.Contains(text, "ead") || strings.Contains(text, `\u`)) {
			t.Errorf("%s counts as ready", text)
		}
	})
}

func TestAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("allocations are not exact under -race")
	}
	const text = `{"metadata":{"generation":2},"status":{"conditions":[{"type":"Synced","status":"True","observedGeneration":2},{"type":"Ready","status":"True","reason":"R","message":"m","observedGeneration":2}]}}`
	for name, o := range map[string]client.Object{
		"Standard": from(t, text, new(Cluster)), "ASO": from(t, text, new(ManagedCluster)), "Crossplane": from(t, text, new(VPC)), "Unstructured": loose(t, text),
	} {
		if got := testing.AllocsPerRun(100, func() { ready.Of(o) }); got != 0 {
			t.Errorf("%s: %v allocations, want none", name, got)
		}
	}
}

func version(uid, resource string) client.Object {
	return &Cluster{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), ResourceVersion: resource}}
}

// TestCached calls the function for versions of one object, and for one that has none.
func TestCached(t *testing.T) {
	got := 0
	of := ready.Cached(func(o client.Object) checks.Readiness { got++; return ready.Of(o) }, 8)
	for i, step := range []struct {
		obj  client.Object
		want int // computations
	}{{version("1", "1"), 1}, {version("1", "1"), 1}, {version("1", "2"), 2}, {version("1", ""), 3}, {version("1", ""), 4}, {nil, 5}} {
		if r := of(step.obj); r != ready.Of(step.obj) || got != step.want {
			t.Errorf("step %d: got %v and %d computations, want %v and %d", i, r, got, ready.Of(step.obj), step.want)
		}
	}
}

// TestCachedOnce lets all waiters of an object call the function at the same
// time.
func TestCachedOnce(t *testing.T) {
	var computed atomic.Int32
	begun, release := make(chan struct{}), make(chan struct{})
	of := ready.Cached(func(client.Object) checks.Readiness {
		computed.Add(1)
		close(begun)
		<-release
		return checks.Readiness{State: checks.Ready}
	}, 8)
	var wg sync.WaitGroup
	ask := func() {
		if got := of(version("1", "1")); got.State != checks.Ready {
			t.Errorf("got %v before the result was known", got)
		}
	}
	wg.Go(ask)
	<-begun
	for range 1000 {
		wg.Go(ask)
	}
	close(release)
	wg.Wait()
	if got := computed.Load(); got != 1 {
		t.Errorf("computed %d times for 1001 waiters, want once", got)
	}
}

func TestCachedSetUp(t *testing.T) {
	const want = "ready: Cached: the function is nil or the size is not positive"
	mustPanic(t, want, func() { ready.Cached(nil, 1) })
	mustPanic(t, want, func() { ready.Cached(ready.Of, 0) })
	ready.Cached(ready.Of, 1)
}

func TestProblem(t *testing.T) {
	const available = `{"type":"Available","status":"False","reason":"MinimumReplicasUnavailable","message":"no minimum availability"},`
	cases := map[string]struct {
		reason string
		text   string // of the conditions
		want   string
	}{
		"Quota":     {"the most specific condition counts", available + `{"type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":"exceeded quota"}`, "ReplicaFailure: exceeded quota"},
		"Recovered": {"a condition that is False names no failure", available + `{"type":"ReplicaFailure","status":"False","message":"exceeded quota"}`, "Available: no minimum availability"},
		"Reason":    {"a reason is better than nothing", `{"type":"Ready","status":"False","reason":"Starting"}`, "Ready: Starting"},
		"Namespace": {"a Namespace in deletion says what keeps it", `{"type":"NamespaceContentRemaining","status":"True","message":"configmaps. has 1"},{"type":"NamespaceFinalizersRemaining","status":"True","message":"a finalizer"}`, "NamespaceFinalizersRemaining: a finalizer"},
		"Silent":    {"a condition without a text says nothing", `{"type":"Ready","status":"False"}`, ""},
		"None":      {"there is no condition", ``, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text := `{"status":{"conditions":[` + tc.text + `]}}`
			for form, o := range map[string]client.Object{"typed": from(t, text, new(appsv1.Deployment)), "unstructured": loose(t, text)} {
				if got := ready.Problem(o); got != tc.want {
					t.Errorf("%s: %s: got %q, want %q", tc.reason, form, got, tc.want)
				}
			}
		})
	}
	known := map[string]string{
		"ReplicaFailure": "True", "Failed": "True", "Stalled": "True", "Degraded": "True", "NamespaceDeletionDiscoveryFailure": "True",
		"NamespaceDeletionGroupVersionParsingFailure": "True", "NamespaceDeletionContentFailure": "True", "NamespaceFinalizersRemaining": "True",
		"NamespaceContentRemaining": "True", "Terminating": "True", "PodScheduled": "False", "NamesAccepted": "False", "Established": "False",
		"Synced": "False", "Progressing": "False", "Available": "False", "Ready": "False",
	}
	for typ, problem := range known {
		for _, status := range []string{"True", "False", "Unknown"} {
			want := ""
			if status == problem {
				want = typ + ": why"
			}
			if got := ready.Problem(loose(t, `{"status":{"conditions":[{"type":"`+typ+`","status":"`+status+`","message":"why"}]}}`)); got != want {
				t.Errorf("the condition %s is %s: got %q, want %q", typ, status, got, want)
			}
		}
	}
	for _, o := range []client.Object{nil, (*Cluster)(nil), new(Unreadable), from(t, `{}`, new(Strange))} {
		if got := ready.Problem(o); got != "" {
			t.Errorf("of %#v: %q", o, got)
		}
	}
}
