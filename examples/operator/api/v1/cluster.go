package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Cluster is what databases run on.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.status.size`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Cluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec   ClusterSpec   `json:"spec"`
	Status ClusterStatus `json:"status,omitempty"`
}

// ClusterSpec is what a person wants.
type ClusterSpec struct {
	// What the machines are.
	// +kubebuilder:validation:Enum=Standard_E2a_v4;Standard_E8a_v4;Standard_L8s_v3
	// +kubebuilder:default=Standard_E2a_v4
	// +optional
	SKU string `json:"sku,omitempty"`

	// How many machines there are.
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:default=2
	// +optional
	Size int32 `json:"size,omitempty"`

	// A stopped cluster keeps its data and costs next to nothing. Nothing can be asked about its databases meanwhile.
	// +optional
	Stopped bool `json:"stopped,omitempty"`
}

// ClusterStatus is what the cloud has.
type ClusterStatus struct {
	// How the last operation on the cluster ended, or which one goes on.
	// +optional
	ProvisioningState ProvisioningState `json:"provisioningState,omitempty"`

	// What the cluster itself is doing. It may be Stopped and its provisioning state Succeeded.
	// +optional
	State State `json:"state,omitempty"`

	// +optional
	SKU string `json:"sku,omitempty"`
	// +optional
	Size int32 `json:"size,omitempty"`

	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ProvisioningState is how the last operation on a resource in the cloud ended, or which one goes on.
type ProvisioningState string

// Those that are met here.
const (
	ProvisioningCreating  ProvisioningState = "Creating"
	ProvisioningUpdating  ProvisioningState = "Updating"
	ProvisioningDeleting  ProvisioningState = "Deleting"
	ProvisioningSucceeded ProvisioningState = "Succeeded"
	ProvisioningFailed    ProvisioningState = "Failed"
)

// State is what a cluster is doing.
type State string

// Those that are met here.
const (
	StateCreating State = "Creating"
	StateStarting State = "Starting"
	StateRunning  State = "Running"
	StateStopping State = "Stopping"
	StateStopped  State = "Stopped"
	StateDeleting State = "Deleting"
)

// ClusterList is for the API server.
//
// +kubebuilder:object:root=true
type ClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Cluster `json:"items"`
}

// GetConditions and SetConditions let package ctrlx at the conditions.
func (c *Cluster) GetConditions() []metav1.Condition { return c.Status.Conditions }

// SetConditions belongs to GetConditions.
func (c *Cluster) SetConditions(all []metav1.Condition) { c.Status.Conditions = all }
