package combinations_test

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/memoryserver"
)

var groupVersion = schema.GroupVersion{Group: "combinations.windlass-go.github.io", Version: "v1"}

const namespace = "default"

// object has the fields of all kinds.
type object struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              spec   `json:"spec"`
	Status            status `json:"status"`
}

type spec struct {
	Owner  string `json:"owner,omitempty"` // the name of an object of the kind above
	Uses   []use  `json:"uses,omitempty"`
	Size   int    `json:"size,omitempty"`
	Paused bool   `json:"paused,omitempty"`
	Claim  string `json:"claim,omitempty"`
	Role   string `json:"role,omitempty"` // of roles

	Limit metav1.Duration `json:"limit,omitzero"` // of the time until it is Ready; 0: none
}

// GetTimeout implements [ctrlx.TimeoutConfiguration].
func (s spec) GetTimeout() time.Duration { return s.Limit.Duration }

// use refers to an object of any kind.
type use struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

func (u use) String() string { return u.Kind + " " + u.Name }

func (u use) ref() checks.Ref {
	ref := checks.Ref{Kind: u.Kind, Name: u.Name}
	if u.Kind != secret {
		ref.Group = groupVersion.Group
	}
	return ref
}

type status struct {
	Size       int                `json:"size,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

func (o *object) base() *object                        { return o }
func (o *object) GetConditions() []metav1.Condition    { return o.Status.Conditions }
func (o *object) SetConditions(all []metav1.Condition) { o.Status.Conditions = all }

func (o *object) copied() object {
	out := *o
	o.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Uses = slices.Clone(o.Spec.Uses)
	out.Status.Conditions = slices.Clone(o.Status.Conditions)
	return out
}

// what names an object, as in "Database b".
func (o *object) what(kind string) use { return use{kind, o.Name} }

// resource is an object of a kind that the operator reconciles.
type resource interface {
	client.Object
	base() *object
}

// The kinds. Each one owns those of the next.
type (
	Network  struct{ object }
	Cluster  struct{ object }
	Database struct{ object }
)

func (n *Network) DeepCopyObject() runtime.Object  { return &Network{n.copied()} }
func (c *Cluster) DeepCopyObject() runtime.Object  { return &Cluster{c.copied()} }
func (d *Database) DeepCopyObject() runtime.Object { return &Database{d.copied()} }

// list is the list of a kind.
type list[T any] struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []T `json:"items"`
}

func (l *list[T]) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = make([]T, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *any(&l.Items[i]).(runtime.Object).DeepCopyObject().(any).(*T)
	}
	return &out
}

// kindNames are the kinds that the operator reconciles. Each one owns those of
// the next.
var kindNames = []string{"Network", "Cluster", "Database"}

const secret = "Secret"

// newOf returns an empty object of a kind.
func newOf(kind string) client.Object {
	switch kind {
	case "Network":
		return &Network{}
	case "Cluster":
		return &Cluster{}
	case "Database":
		return &Database{}
	case secret:
		return &corev1.Secret{}
	}
	panic(fmt.Sprintf("unknown kind %q", kind))
}

func addToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(groupVersion, &Network{}, &Cluster{}, &Database{})
	s.AddKnownTypeWithName(groupVersion.WithKind("NetworkList"), &list[Network]{})
	s.AddKnownTypeWithName(groupVersion.WithKind("ClusterList"), &list[Cluster]{})
	s.AddKnownTypeWithName(groupVersion.WithKind("DatabaseList"), &list[Database]{})
	metav1.AddToGroupVersion(s, groupVersion)
	return corev1.AddToScheme(s)
}

// served are the kinds of the API server.
func served() []memoryserver.Kind {
	kinds := []memoryserver.Kind{
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Namespace"), Plural: "namespaces"},
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind(secret), Plural: "secrets"},
	}
	for _, plural := range []string{"networks", "clusters", "databases"} {
		kind := kindNames[len(kinds)-2]
		kinds = append(kinds, memoryserver.Kind{GroupVersionKind: groupVersion.WithKind(kind), Plural: plural, Status: true})
	}
	return kinds
}
