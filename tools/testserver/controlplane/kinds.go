package controlplane

import (
	"context"
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	generated "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/names"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// builtIn has the built-in kinds.
var builtIn = map[schema.GroupVersion][]string{
	corev1.SchemeGroupVersion:         {"ConfigMap", "Namespace", "Node", "Pod", "Secret", "Service"},
	appsv1.SchemeGroupVersion:         {"Deployment"},
	batchv1.SchemeGroupVersion:        {"Job"},
	coordinationv1.SchemeGroupVersion: {"Lease"},
	eventsv1.SchemeGroupVersion:       {"Event"},
}

// scheme has the built-in kinds. The stored objects are those of the API, so
// there is no conversion.
var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for version, kinds := range builtIn {
		metav1.AddToGroupVersion(s, version)
		for _, kind := range kinds {
			for _, name := range []string{kind, kind + "List"} {
				s.AddKnownTypeWithName(version.WithKind(name), object(version, name))
				s.AddKnownTypeWithName(schema.GroupVersionKind{Group: version.Group, Version: runtime.APIVersionInternal, Kind: name}, object(version, name))
			}
		}
	}
	err := s.AddFieldLabelConversionFunc(eventsv1.SchemeGroupVersion.WithKind("Event"), func(label, value string) (string, string, error) {
		return label, value, nil
	})
	if err != nil {
		panic(err)
	}
	return s
}()

// eventFields returns the labels of an event, and the fields that a selector may
// name.
func eventFields(obj runtime.Object) (labels.Set, fields.Set, error) {
	event := obj.(*eventsv1.Event)
	return event.Labels, fields.Set{
		"metadata.name": event.Name, "metadata.namespace": event.Namespace, "reason": event.Reason, "type": event.Type,
		"regarding.kind": event.Regarding.Kind, "regarding.namespace": event.Regarding.Namespace,
		"regarding.name": event.Regarding.Name, "regarding.uid": string(event.Regarding.UID),
	}, nil
}

// object returns an empty object of a kind.
func object(version schema.GroupVersion, kind string) runtime.Object {
	obj, err := clientgoscheme.Scheme.New(version.WithKind(kind))
	if err != nil {
		panic(err) // client-go has all built-in kinds
	}
	return obj
}

// openAPI returns the schemas of all kinds. That of a built-in kind allows any
// object.
func openAPI(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	all := generated.GetOpenAPIDefinitions(ref)
	for version, kinds := range builtIn {
		for _, kind := range kinds {
			for _, name := range []string{kind, kind + "List"} {
				model := object(version, name).(interface{ OpenAPIModelName() string }).OpenAPIModelName()
				all[model] = common.OpenAPIDefinition{Schema: spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}}
			}
		}
	}
	return all
}

// serveBuiltIn adds the built-in kinds to the API server.
func serveBuiltIn(server *genericapiserver.GenericAPIServer, etcd options.EtcdOptions) error {
	codecs := serializer.NewCodecFactory(scheme)
	for version, kinds := range builtIn {
		etcd.StorageConfig.Codec = codecs.LegacyCodec(version)
		group := genericapiserver.NewDefaultAPIGroupInfo(version.Group, scheme, runtime.NewParameterCodec(scheme), codecs)
		resources := map[string]rest.Storage{}
		group.VersionedResourcesStorageMap[version.Version] = resources
		for _, kind := range kinds {
			plural, _ := meta.UnsafeGuessKindToResource(version.WithKind(kind))
			plan := strategy{ObjectTyper: scheme, NameGenerator: names.SimpleNameGenerator, clusterScoped: kind == "Namespace" || kind == "Node"}
			store := &registry.Store{
				NewFunc:                   func() runtime.Object { return object(version, kind) },
				NewListFunc:               func() runtime.Object { return object(version, kind+"List") },
				DefaultQualifiedResource:  plural.GroupResource(),
				SingularQualifiedResource: version.WithResource(strings.ToLower(kind)).GroupResource(),
				CreateStrategy:            plan, UpdateStrategy: plan, DeleteStrategy: plan,
				TableConvertor: rest.NewDefaultTableConvertor(plural.GroupResource()),
			}
			opts := &generic.StoreOptions{RESTOptions: &options.StorageFactoryRestOptionsFactory{
				Options: etcd, StorageFactory: &options.SimpleStorageFactory{StorageConfig: etcd.StorageConfig},
			}}
			if kind == "Event" {
				opts.AttrFunc = eventFields
			}
			err := store.CompleteWithOptions(opts)
			if err != nil {
				return err
			}
			resources[plural.Resource] = store
			if _, found := part(store.New(), "Status"); found {
				ofStatus := *store
				ofStatus.UpdateStrategy = statusStrategy{plan}
				resources[plural.Resource+"/status"] = statusStore{&ofStatus}
			}
		}
		install := server.InstallAPIGroup
		if version.Group == "" {
			install = func(group *genericapiserver.APIGroupInfo) error {
				return server.InstallLegacyAPIGroup(genericapiserver.DefaultLegacyAPIPrefix, group)
			}
		}
		if err := install(&group); err != nil {
			return err
		}
	}
	return nil
}

// strategy accepts every object. The status of an object is written through
// its subresource only. A change of the spec is a new generation.
type strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
	clusterScoped bool
}

func (s strategy) NamespaceScoped() bool                                               { return !s.clusterScoped }
func (strategy) AllowCreateOnUpdate(context.Context) bool                              { return false }
func (strategy) AllowUnconditionalUpdate(context.Context) bool                         { return true }
func (strategy) Canonicalize(runtime.Object)                                           {}
func (strategy) Validate(context.Context, runtime.Object) field.ErrorList              { return nil }
func (strategy) WarningsOnCreate(context.Context, runtime.Object) []string             { return nil }
func (strategy) ValidateUpdate(_ context.Context, _, _ runtime.Object) field.ErrorList { return nil }
func (strategy) WarningsOnUpdate(_ context.Context, _, _ runtime.Object) []string      { return nil }

func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	if status, found := part(obj, "Status"); found {
		status.SetZero()
		obj.(metav1.Object).SetGeneration(1)
	}
}

func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	status, found := part(obj, "Status")
	if !found {
		return
	}
	oldStatus, _ := part(old, "Status")
	status.Set(oldStatus)
	generation := old.(metav1.Object).GetGeneration()
	spec, _ := part(obj, "Spec")
	if oldSpec, _ := part(old, "Spec"); !equality.Semantic.DeepEqual(spec.Interface(), oldSpec.Interface()) {
		generation++
	}
	obj.(metav1.Object).SetGeneration(generation)
}

// part returns a field of an object.
func part(obj runtime.Object, name string) (reflect.Value, bool) {
	v := reflect.ValueOf(obj).Elem().FieldByName(name)
	return v, v.IsValid()
}

// statusStrategy writes the status only.
type statusStrategy struct{ strategy }

func (statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	sent := obj.DeepCopyObject()
	reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(old.DeepCopyObject()).Elem())
	status, _ := part(obj, "Status")
	sentStatus, _ := part(sent, "Status")
	status.Set(sentStatus)
	obj.(metav1.Object).SetResourceVersion(sent.(metav1.Object).GetResourceVersion())
	obj.(metav1.Object).SetManagedFields(sent.(metav1.Object).GetManagedFields())
}

// statusStore is the subresource status of a store.
type statusStore struct{ store *registry.Store }

func (s statusStore) New() runtime.Object { return s.store.New() }
func (s statusStore) Destroy()            {} // the store is destroyed once
func (s statusStore) Get(ctx context.Context, name string, opts *metav1.GetOptions) (runtime.Object, error) {
	return s.store.Get(ctx, name, opts)
}

func (s statusStore) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc, update rest.ValidateObjectUpdateFunc, _ bool, opts *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return s.store.Update(ctx, name, info, create, update, false, opts)
}
