package main

import (
	"embed"

	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/manifests"
	v1 "github.com/windlass-go/windlass/examples/component/api/v1"
)

// name is the name of the reconciler: the prefix of its annotations, and the
// field manager of its writes.
const name = "shop.example.com"

//go:embed shop/*.yaml
var templates embed.FS

// +kubebuilder:rbac:groups=shop.example.com,resources=shops,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=shop.example.com,resources=shops/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=apiregistration.k8s.io,resources=apiservices,verbs=get;list
// +kubebuilder:rbac:groups=shop.example.com,resources=coupons,verbs=get;list;watch;create;patch;delete

// shops:

// NewShops returns the reconciler of shops. Its dependents are the templates of
// the folder shop.
func NewShops() *component.Reconciler[*v1.Shop] {
	return component.New[*v1.Shop](name, manifests.Templates(templates, "shop/*.yaml"))
}

// :shops
