package ctrlx_test

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// App is a kind that says of itself what can be said: its intervals, and whether it is suspended.
type App struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              AppSpec   `json:"spec,omitempty"`
	Status            AppStatus `json:"status,omitempty"`
}

// AppSpec is that of an App.
type AppSpec struct {
	Cluster   string          `json:"cluster,omitempty"`
	Suspended bool            `json:"suspended,omitempty"`
	Requeue   metav1.Duration `json:"requeue,omitempty"`
	Retry     metav1.Duration `json:"retry,omitempty"`
	Timeout   metav1.Duration `json:"timeout,omitempty"`
	User      string          `json:"user,omitempty"`
}

func (s *AppSpec) IsSuspended() bool {
	if s.User == "panics" {
		panic("no answer")
	}
	return s.Suspended
}

func (s *AppSpec) GetRequeueInterval() time.Duration { return s.Requeue.Duration }
func (s *AppSpec) GetRetryInterval() time.Duration   { return s.Retry.Duration }
func (s *AppSpec) GetTimeout() time.Duration         { return s.Timeout.Duration }

// AppStatus is that of an App.
type AppStatus struct {
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	LastHandled        string             `json:"lastHandledReconcileAt,omitempty"`
}

// AppList is a list of them.
type AppList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []App `json:"items"`
}

func (a *App) GetConditions() []metav1.Condition    { return a.Status.Conditions }
func (a *App) SetConditions(all []metav1.Condition) { a.Status.Conditions = all }

func (a *App) DeepCopyObject() runtime.Object {
	out := *a
	a.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = append([]metav1.Condition(nil), a.Status.Conditions...)
	return &out
}

func (l *AppList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*App))
	}
	return &out
}

func init() { scheme.AddKnownTypes(testv1.GroupVersion, &App{}, &AppList{}) }

// clusterOfApp names the owner in the spec.
func clusterOfApp(a *App) checks.Ref {
	if a.Spec.Cluster == "" {
		return checks.Ref{}
	}
	return checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: a.Spec.Cluster}
}
