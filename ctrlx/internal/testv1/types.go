// Package testv1 has the kinds of the tests: clusters, and databases on
// clusters.
package testv1

import (
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of all kinds.
var GroupVersion = schema.GroupVersion{Group: "test.windlass-go.github.io", Version: "v1"}

// AddToScheme adds the kinds to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Cluster{}, &ClusterList{}, &Database{}, &DatabaseList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// Cluster is the owner of databases.
type Cluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ClusterSpec   `json:"spec,omitempty"`
	Status            ClusterStatus `json:"status,omitempty"`
}

type ClusterSpec struct {
	Size int `json:"size,omitempty"`
}

type ClusterStatus struct {
	State      string             `json:"state,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Database belongs to a cluster.
type Database struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              DatabaseSpec   `json:"spec,omitempty"`
	Status            DatabaseStatus `json:"status,omitempty"`
}

type DatabaseSpec struct {
	Cluster string `json:"cluster,omitempty"`
	Size    int    `json:"size,omitempty"`
}

type DatabaseStatus struct {
	Size       int                `json:"size,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type ClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Cluster `json:"items"`
}

type DatabaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Database `json:"items"`
}

func (c *Cluster) GetConditions() []metav1.Condition     { return c.Status.Conditions }
func (c *Cluster) SetConditions(all []metav1.Condition)  { c.Status.Conditions = all }
func (d *Database) GetConditions() []metav1.Condition    { return d.Status.Conditions }
func (d *Database) SetConditions(all []metav1.Condition) { d.Status.Conditions = all }

func (c *Cluster) DeepCopyObject() runtime.Object {
	out := *c
	c.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = copied(c.Status.Conditions)
	return &out
}

func (d *Database) DeepCopyObject() runtime.Object {
	out := *d
	d.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = copied(d.Status.Conditions)
	return &out
}

func (l *ClusterList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*Cluster))
	}
	return &out
}

func (l *DatabaseList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*Database))
	}
	return &out
}

func copied(all []metav1.Condition) []metav1.Condition {
	if all == nil {
		return nil
	}
	return append([]metav1.Condition{}, all...)
}

// Definitions returns the definitions of both kinds.
func Definitions() []*apiextensions.CustomResourceDefinition {
	return []*apiextensions.CustomResourceDefinition{
		Definition("Cluster", "clusters", apiextensions.NamespaceScoped),
		Definition("Database", "databases", apiextensions.NamespaceScoped),
	}
}

// Definition returns the definition of a kind with a status. The API server
// keeps all fields that are written.
func Definition(kind, plural string, scope apiextensions.ResourceScope) *apiextensions.CustomResourceDefinition {
	anything := true
	return &apiextensions.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + GroupVersion.Group},
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: GroupVersion.Group, Scope: scope,
			Names: apiextensions.CustomResourceDefinitionNames{Kind: kind, ListKind: kind + "List", Plural: plural},
			Versions: []apiextensions.CustomResourceDefinitionVersion{{
				Name: GroupVersion.Version, Served: true, Storage: true,
				Subresources: &apiextensions.CustomResourceSubresources{Status: &apiextensions.CustomResourceSubresourceStatus{}},
				Schema: &apiextensions.CustomResourceValidation{OpenAPIV3Schema: &apiextensions.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &anything,
				}},
			}},
		},
	}
}
