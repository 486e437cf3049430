package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/ctrlx/component"
)

// Shop is a component: the operator makes its dependents from templates.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Shop struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec   ShopSpec   `json:"spec"`
	Status ShopStatus `json:"status,omitempty"`
}

// ShopSpec is the desired state of a shop. The templates read it.
type ShopSpec struct {
	// The text on the first page.
	// +kubebuilder:default=Welcome
	// +optional
	Greeting string `json:"greeting,omitempty"`

	// The image of the web server.
	// +kubebuilder:default="nginx:1.29"
	// +optional
	Image string `json:"image,omitempty"`

	// The number of web servers.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:default=2
	// +optional
	Replicas int32 `json:"replicas,omitempty"`

	// Autoscaled shops leave the number of web servers to an autoscaler.
	// +optional
	Autoscaled bool `json:"autoscaled,omitempty"`
}

// ShopStatus is the reported state of a shop.
type ShopStatus struct {
	component.Status `json:",inline"`
}

// ShopList is a list of shops.
//
// +kubebuilder:object:root=true
type ShopList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Shop `json:"items"`
}

// GetSpec returns the parameters of the templates, for package component.
func (s *Shop) GetSpec() any { return &s.Spec }

// GetStatus returns the status that package component writes.
func (s *Shop) GetStatus() *component.Status { return &s.Status.Status }
