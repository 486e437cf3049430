package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Database is in a cluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.cluster`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Retention",type=integer,JSONPath=`.status.retentionDays`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Database struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec   DatabaseSpec   `json:"spec"`
	Status DatabaseStatus `json:"status,omitempty"`
}

// DatabaseSpec is what a person wants.
type DatabaseSpec struct {
	// The name of the cluster that the database is in, which is in the same namespace. Databases cannot be moved.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a database cannot be moved to another cluster"
	// +required
	Cluster string `json:"cluster"`

	// For how many days data is kept.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=36500
	// +kubebuilder:default=365
	// +optional
	RetentionDays int32 `json:"retentionDays,omitempty"`
}

// DatabaseStatus is what the cloud has.
type DatabaseStatus struct {
	// How the last operation on the database ended, or which one goes on.
	// +optional
	ProvisioningState ProvisioningState `json:"provisioningState,omitempty"`

	// +optional
	RetentionDays int32 `json:"retentionDays,omitempty"`

	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// DatabaseList is for the API server.
//
// +kubebuilder:object:root=true
type DatabaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Database `json:"items"`
}

// GetConditions and SetConditions let package ctrlx at the conditions.
func (d *Database) GetConditions() []metav1.Condition { return d.Status.Conditions }

// SetConditions belongs to GetConditions.
func (d *Database) SetConditions(all []metav1.Condition) { d.Status.Conditions = all }
