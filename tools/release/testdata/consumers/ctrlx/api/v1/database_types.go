// Package v1 has the kind of a project that depends on ctrlx.
package v1

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// AddToScheme adds the kind to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	version := schema.GroupVersion{Group: "example.com", Version: "v1"}
	s.AddKnownTypes(version, &Database{})
	metav1.AddToGroupVersion(s, version)
	return nil
}

// Database is a database in a network.
type Database struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		Network string `json:"network"`
	} `json:"spec,omitempty"`
	Status struct {
		Size       int                `json:"size,omitempty"`
		Conditions []metav1.Condition `json:"conditions,omitempty"`
	} `json:"status,omitempty"`
}

// DeepCopyObject copies the database.
func (d *Database) DeepCopyObject() runtime.Object {
	out := *d
	d.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = slices.Clone(d.Status.Conditions)
	return &out
}
