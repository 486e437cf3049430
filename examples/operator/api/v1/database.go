package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Database is a database of a cluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:validation:XValidation:rule="!has(self.spec.cluster) || !has(self.status) || !has(self.status.cluster) || self.spec.cluster == self.status.cluster",message="a database cannot be moved to another cluster"
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.status.cluster`
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

// DatabaseSpec is the desired state of a database.
type DatabaseSpec struct {
	// The name of the database's cluster in the same namespace. It cannot
	// change. Without it, the cluster is the only one of the namespace.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a database cannot be moved to another cluster"
	// +optional
	Cluster string `json:"cluster,omitempty"`

	// The name of the Secret in the same namespace that has the password of the
	// database's administrator in the key password. Without it, there is no
	// such administrator.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	PasswordSecret string `json:"passwordSecret,omitempty"`

	// The number of days for which data is kept.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=36500
	// +kubebuilder:default=365
	// +optional
	RetentionDays int32 `json:"retentionDays,omitempty"`
}

// DatabaseStatus is the reported state of a database.
type DatabaseStatus struct {
	// The operation under way, or the result of the last one.
	// +optional
	ProvisioningState ProvisioningState `json:"provisioningState,omitempty"`

	// The name of the cluster that has the database.
	// +optional
	Cluster string `json:"cluster,omitempty"`

	// +optional
	RetentionDays int32 `json:"retentionDays,omitempty"`

	// The resource version of the Secret whose password the database has.
	// +optional
	PasswordVersion string `json:"passwordVersion,omitempty"`

	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// DatabaseList is a list of databases.
//
// +kubebuilder:object:root=true
type DatabaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Database `json:"items"`
}
