package component_test

import (
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// Shop is the component of the tests.
type Shop struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ShopSpec         `json:"spec,omitempty"`
	Status            component.Status `json:"status,omitempty"`
}

// ShopSpec is the spec of a Shop. Manifests are the objects that the tests want.
type ShopSpec struct {
	Size           int                       `json:"size,omitempty"`
	Suspended      bool                      `json:"suspended,omitempty"`
	Manifests      []string                  `json:"manifests,omitempty"`
	Adoption       string                    `json:"adoption,omitempty"`
	Update         string                    `json:"update,omitempty"`
	Delete         string                    `json:"delete,omitempty"`
	Namespaces     string                    `json:"namespaces,omitempty"`
	ManagedTypes   []metav1.GroupVersionKind `json:"managedTypes,omitempty"`
	ReapplySeconds int                       `json:"reapplySeconds,omitempty"`
	TimeoutSeconds int                       `json:"timeoutSeconds,omitempty"`
	RetrySeconds   int                       `json:"retrySeconds,omitempty"`
	RequeueSeconds int                       `json:"requeueSeconds,omitempty"`
}

func (s *Shop) GetSpec() any                 { return &s.Spec }
func (s *Shop) GetStatus() *component.Status { return &s.Status }

func (s *ShopSpec) IsSuspended() bool { return s.Suspended }
func (s *ShopSpec) GetAdoptionPolicy() dependents.AdoptionPolicy {
	return dependents.AdoptionPolicy(s.Adoption)
}
func (s *ShopSpec) GetUpdatePolicy() dependents.UpdatePolicy {
	return dependents.UpdatePolicy(s.Update)
}
func (s *ShopSpec) GetDeletePolicy() dependents.DeletePolicy {
	return dependents.DeletePolicy(s.Delete)
}
func (s *ShopSpec) GetMissingNamespacesPolicy() component.MissingNamespacesPolicy {
	return component.MissingNamespacesPolicy(s.Namespaces)
}
func (s *ShopSpec) GetAdditionalManagedTypes() []metav1.GroupVersionKind { return s.ManagedTypes }
func (s *ShopSpec) GetReapplyInterval() time.Duration {
	return time.Duration(s.ReapplySeconds) * time.Second
}
func (s *ShopSpec) GetTimeout() time.Duration { return time.Duration(s.TimeoutSeconds) * time.Second }
func (s *ShopSpec) GetRetryInterval() time.Duration {
	return time.Duration(s.RetrySeconds) * time.Second
}
func (s *ShopSpec) GetRequeueInterval() time.Duration {
	return time.Duration(s.RequeueSeconds) * time.Second
}

// DeepCopyObject implements runtime.Object.
func (s *Shop) DeepCopyObject() runtime.Object {
	c := *s
	s.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	c.Spec.Manifests = append([]string(nil), s.Spec.Manifests...)
	c.Spec.ManagedTypes = append([]metav1.GroupVersionKind(nil), s.Spec.ManagedTypes...)
	s.Status.DeepCopyInto(&c.Status)
	return &c
}

// Booth is a Shop whose definition may lack fields.
type Booth struct{ Shop }

// DeepCopyObject implements runtime.Object.
func (b *Booth) DeepCopyObject() runtime.Object { return &Booth{*b.Shop.DeepCopyObject().(*Shop)} }

type ShopList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Shop `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (l *ShopList) DeepCopyObject() runtime.Object {
	c := &ShopList{TypeMeta: l.TypeMeta}
	l.ListMeta.DeepCopyInto(&c.ListMeta)
	for i := range l.Items {
		c.Items = append(c.Items, *l.Items[i].DeepCopyObject().(*Shop))
	}
	return c
}

func addShops(s *runtime.Scheme) error {
	s.AddKnownTypes(testv1.GroupVersion, &Shop{}, &ShopList{}, &Booth{})
	return s.SetVersionPriority(autoscalingv2.SchemeGroupVersion, autoscalingv1.SchemeGroupVersion)
}
