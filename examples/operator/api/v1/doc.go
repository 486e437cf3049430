// Package v1 has the kinds of the example: a Cluster of a database service,
// similar to Azure Data Explorer, and its Databases. make generate generates
// the DeepCopy methods and the definitions from it.
//
// +kubebuilder:object:generate=true
// +groupName=kusto.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of both kinds.
var GroupVersion = schema.GroupVersion{Group: "kusto.example.com", Version: "v1"}

// AddToScheme adds the kinds to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Cluster{}, &ClusterList{}, &Database{}, &DatabaseList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
