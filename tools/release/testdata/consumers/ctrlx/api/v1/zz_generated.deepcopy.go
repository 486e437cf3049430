package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopyInto copies d into out.
func (d *Database) DeepCopyInto(out *Database) {
	*out = *d
	d.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = nil
	for _, c := range d.Status.Conditions {
		var copied metav1.Condition
		c.DeepCopyInto(&copied)
		out.Status.Conditions = append(out.Status.Conditions, copied)
	}
}

// DeepCopyObject returns a copy of d.
func (d *Database) DeepCopyObject() runtime.Object {
	out := &Database{}
	d.DeepCopyInto(out)
	return out
}

// DeepCopyObject returns a copy of l.
func (l *DatabaseList) DeepCopyObject() runtime.Object {
	out := &DatabaseList{TypeMeta: l.TypeMeta}
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range l.Items {
		out.Items = append(out.Items, Database{})
		l.Items[i].DeepCopyInto(&out.Items[i])
	}
	return out
}
