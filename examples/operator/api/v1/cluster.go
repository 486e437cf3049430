package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Cluster is a cluster of a database service.
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

// ClusterSpec is the desired state of a cluster.
type ClusterSpec struct {
	// The type of the machines.
	// +kubebuilder:validation:Enum=Standard_E2a_v4;Standard_E8a_v4;Standard_L8s_v3
	// +kubebuilder:default=Standard_E2a_v4
	// +optional
	SKU string `json:"sku,omitempty"`

	// The number of machines.
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:default=2
	// +optional
	Size int32 `json:"size,omitempty"`

	// Stopped clusters keep their data and cost almost nothing. The cloud
	// refuses requests about their databases.
	// +optional
	Stopped bool `json:"stopped,omitempty"`
}

// ClusterStatus is the reported state of a cluster.
type ClusterStatus struct {
	// The operation under way, or the result of the last one.
	// +optional
	ProvisioningState ProvisioningState `json:"provisioningState,omitempty"`

	// The state of the cluster itself. A Stopped cluster may have the
	// provisioning state Succeeded.
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

// ProvisioningState is the operation under way on a resource in the cloud, or
// the result of the last one.
type ProvisioningState string

// The provisioning states of the simulated cloud.
const (
	ProvisioningCreating  ProvisioningState = "Creating"
	ProvisioningUpdating  ProvisioningState = "Updating"
	ProvisioningDeleting  ProvisioningState = "Deleting"
	ProvisioningSucceeded ProvisioningState = "Succeeded"
	ProvisioningFailed    ProvisioningState = "Failed"
)

// State is the state of a cluster itself.
type State string

// The states of the simulated cloud.
const (
	StateCreating State = "Creating"
	StateStarting State = "Starting"
	StateRunning  State = "Running"
	StateStopping State = "Stopping"
	StateStopped  State = "Stopped"
	StateDeleting State = "Deleting"
)

// ClusterList is a list of clusters.
//
// +kubebuilder:object:root=true
type ClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Cluster `json:"items"`
}
