package v1

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopyObject copies the cluster.
func (c *Cluster) DeepCopyObject() runtime.Object {
	out := *c
	c.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = slices.Clone(c.Status.Conditions)
	return &out
}

// DeepCopyObject copies the list.
func (l *ClusterList) DeepCopyObject() runtime.Object {
	out := &ClusterList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for _, item := range l.Items {
		out.Items = append(out.Items, *item.DeepCopyObject().(*Cluster))
	}
	return out
}

// DeepCopyObject copies the database.
func (d *Database) DeepCopyObject() runtime.Object {
	out := *d
	d.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = slices.Clone(d.Status.Conditions)
	return &out
}

// DeepCopyObject copies the list.
func (l *DatabaseList) DeepCopyObject() runtime.Object {
	out := &DatabaseList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for _, item := range l.Items {
		out.Items = append(out.Items, *item.DeepCopyObject().(*Database))
	}
	return out
}
