// Package v1 has the kinds of a project that depends on ctrlx.
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// GroupVersion is the group and version of the kinds.
var GroupVersion = schema.GroupVersion{Group: "example.com", Version: "v1"}

var builder = &scheme.Builder{GroupVersion: GroupVersion}

// AddToScheme adds the kinds to a scheme.
var AddToScheme = builder.AddToScheme

func init() { builder.Register(&Database{}, &DatabaseList{}) }

// DatabaseSpec is the wanted state of a database.
type DatabaseSpec struct {
	Network string `json:"network"`
}

// DatabaseStatus is the observed state of a database.
type DatabaseStatus struct {
	Size       int                `json:"size,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Database is a database in a network.
type Database struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   DatabaseSpec   `json:"spec,omitempty"`
	Status DatabaseStatus `json:"status,omitempty"`
}

// DatabaseList is a list of databases.
type DatabaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Database `json:"items"`
}
