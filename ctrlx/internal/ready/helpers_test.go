package ready_test

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cluster has standard conditions, and its status reports their generation.
type Cluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            ClusterStatus `json:"status,omitempty"`
}

type ClusterStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// ManagedCluster has the shape of the kinds of Azure Service Operator.
type ManagedCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            ManagedCluster_STATUS `json:"status,omitempty"`
}

type ManagedCluster_STATUS struct {
	Conditions        []ASOCondition `json:"conditions,omitempty"`
	ProvisioningState *string        `json:"provisioningState,omitempty"`
}

type (
	ASOType      string
	ASOSeverity  string
	ASOCondition struct {
		Type               ASOType                `json:"type"`
		Status             metav1.ConditionStatus `json:"status"`
		Severity           ASOSeverity            `json:"severity,omitempty"`
		LastTransitionTime metav1.Time            `json:"lastTransitionTime"`
		ObservedGeneration int64                  `json:"observedGeneration,omitempty"`
		Reason             string                 `json:"reason"`
		Message            string                 `json:"message,omitempty"`
	}
)

func (c *ManagedCluster) GetConditions() []ASOCondition { return c.Status.Conditions }

// VPC has the shape of a managed resource of Crossplane. Its conditions are in
// a struct that an embedded struct embeds.
type VPC struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            VPCStatus `json:"status,omitempty"`
}

type VPCStatus struct {
	ResourceStatus `json:",inline"`
	AtProvider     map[string]string `json:"atProvider,omitempty"`
}

type ResourceStatus struct {
	ConditionedStatus `json:",inline"`
}

type ConditionedStatus struct {
	Conditions []XPCondition `json:"conditions,omitempty"`
}

type (
	XPType      string
	XPReason    string
	XPCondition struct {
		Type               XPType                 `json:"type"`
		Status             corev1.ConditionStatus `json:"status"`
		LastTransitionTime metav1.Time            `json:"lastTransitionTime"`
		Reason             XPReason               `json:"reason"`
		Message            string                 `json:"message,omitempty"`
		ObservedGeneration int64                  `json:"observedGeneration,omitempty"`
	}
)

// Table has a pointer to its status, and pointers to all values in it, like the
// kinds of the controllers for AWS.
type Table struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            *TableStatus `json:"status,omitempty"`
}

type TableStatus struct {
	ObservedGeneration *int64            `json:"observedGeneration,omitempty"`
	Conditions         []*TableCondition `json:"conditions,omitempty"`
}

type TableCondition struct {
	Type    string  `json:"type"`
	Status  string  `json:"status"`
	Reason  *string `json:"reason,omitempty"`
	Message *string `json:"message,omitempty"`
}

// Hidden keeps its standard conditions outside of status.conditions. Odd does
// so with conditions of its own type, and has a list of words in
// status.conditions.
type Hidden struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            struct {
		V1Beta2 ClusterStatus `json:"v1beta2"`
	} `json:"status"`
}

func (h *Hidden) GetConditions() []metav1.Condition { return h.Status.V1Beta2.Conditions }

type Odd struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	List              []ASOCondition `json:"list"`
	Status            struct {
		Conditions []string `json:"conditions"`
	} `json:"status"`
}

func (o *Odd) GetConditions() []ASOCondition { return o.List }

// Strange has a map for its conditions, which cannot be read.
type Strange struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            struct {
		Conditions map[string]string `json:"conditions"`
	} `json:"status"`
}

func (*Strange) GetConditions(int) []metav1.Condition { panic("not the method that is meant") }

// Word has a word for its status, Unreadable a number that JSON does not have.
type Word struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            string `json:"status"`
}

type Unreadable struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            struct {
		Number     complex128 `json:"number"`
		Conditions string     `json:"conditions"`
	} `json:"status"`
}

// byValue is an object that is no pointer.
type byValue struct {
	*Cluster `json:"-"`
	Status   ClusterStatus `json:"status"`
}

func (*Word) GetConditions() ([]metav1.Condition, error) { panic("not the method that is meant") }

func (w *Word) DeepCopyObject() runtime.Object           { o := *w; return &o }
func (u *Unreadable) DeepCopyObject() runtime.Object     { o := *u; return &o }
func (c *Cluster) DeepCopyObject() runtime.Object        { o := *c; return &o }
func (c *ManagedCluster) DeepCopyObject() runtime.Object { o := *c; return &o }
func (v *VPC) DeepCopyObject() runtime.Object            { o := *v; return &o }
func (t *Table) DeepCopyObject() runtime.Object          { o := *t; return &o }
func (h *Hidden) DeepCopyObject() runtime.Object         { o := *h; return &o }
func (o *Odd) DeepCopyObject() runtime.Object            { c := *o; return &c }
func (s *Strange) DeepCopyObject() runtime.Object        { o := *s; return &o }

// fatal is the common part of testing.T and rapid.T.
type fatal interface{ Fatal(args ...any) }

// from reads an object of a type from JSON, as a client does.
func from[O client.Object](t fatal, text string, o O) O {
	if err := utiljson.Unmarshal([]byte(text), o); err != nil {
		t.Fatal(err)
	}
	return o
}

// loose reads an object as unstructured content.
func loose(t fatal, text string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: make(map[string]any)}
	if err := utiljson.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func written(t fatal, o any) string {
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		if got := recover(); got != want {
			t.Errorf("panics with %v, want %q", got, want)
		}
	}()
	f()
}
