// Package v1 has the kinds of the example: a Cluster of a database service in a cloud, in the manner of Azure Data Explorer,
// and the Databases in it. DeepCopy methods are generated from this package, definitions from it as well: make generate.
//
// +kubebuilder:object:generate=true
// +groupName=kusto.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is that of both kinds.
var GroupVersion = schema.GroupVersion{Group: "kusto.example.com", Version: "v1"}

// AddToScheme adds the kinds to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Cluster{}, &ClusterList{}, &Database{}, &DatabaseList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
