package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	generated "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// serveSecrets adds the kind Secret to the API server. A definition cannot add
// it, because it has no group.
func serveSecrets(server *genericapiserver.GenericAPIServer, etcd options.EtcdOptions) error {
	scheme := runtime.NewScheme()
	// The stored objects are those of the API, so there is no conversion.
	for _, version := range []string{"v1", runtime.APIVersionInternal} {
		scheme.AddKnownTypes(schema.GroupVersion{Version: version}, &corev1.Secret{}, &corev1.SecretList{})
	}
	metav1.AddToGroupVersion(scheme, corev1.SchemeGroupVersion)
	codecs := serializer.NewCodecFactory(scheme)
	etcd.StorageConfig.Codec = codecs.LegacyCodec(corev1.SchemeGroupVersion)
	plan := secretStrategy{scheme, names.SimpleNameGenerator}
	store := &registry.Store{
		NewFunc:                   func() runtime.Object { return &corev1.Secret{} },
		NewListFunc:               func() runtime.Object { return &corev1.SecretList{} },
		DefaultQualifiedResource:  corev1.Resource("secrets"),
		SingularQualifiedResource: corev1.Resource("secret"),
		CreateStrategy:            plan, UpdateStrategy: plan, DeleteStrategy: plan,
		TableConvertor: rest.NewDefaultTableConvertor(corev1.Resource("secrets")),
	}
	err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: &options.StorageFactoryRestOptionsFactory{
		Options: etcd, StorageFactory: &options.SimpleStorageFactory{StorageConfig: etcd.StorageConfig},
	}})
	if err != nil {
		return err
	}
	group := genericapiserver.NewDefaultAPIGroupInfo("", scheme, runtime.NewParameterCodec(scheme), codecs)
	group.VersionedResourcesStorageMap["v1"] = map[string]rest.Storage{"secrets": store}
	return server.InstallLegacyAPIGroup(genericapiserver.DefaultLegacyAPIPrefix, &group)
}

// secretStrategy accepts every Secret.
type secretStrategy struct {
	runtime.ObjectTyper
	names.NameGenerator
}

func (secretStrategy) NamespaceScoped() bool                                            { return true }
func (secretStrategy) AllowCreateOnUpdate(context.Context) bool                         { return false }
func (secretStrategy) AllowUnconditionalUpdate(context.Context) bool                    { return true }
func (secretStrategy) Canonicalize(runtime.Object)                                      {}
func (secretStrategy) PrepareForCreate(context.Context, runtime.Object)                 {}
func (secretStrategy) PrepareForUpdate(context.Context, runtime.Object, runtime.Object) {}
func (secretStrategy) Validate(context.Context, runtime.Object) field.ErrorList         { return nil }
func (secretStrategy) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}
func (secretStrategy) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }
func (secretStrategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

// openAPI returns the schemas of the server's kinds, with those of Secrets: any
// object.
func openAPI(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	all := generated.GetOpenAPIDefinitions(ref)
	for _, name := range []string{corev1.Secret{}.OpenAPIModelName(), corev1.SecretList{}.OpenAPIModelName()} {
		all[name] = common.OpenAPIDefinition{Schema: spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}}
	}
	return all
}
