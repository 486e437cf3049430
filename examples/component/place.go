package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	sigsyaml "sigs.k8s.io/yaml"

	v1 "github.com/windlass-go/windlass/examples/component/api/v1"
)

// namespace is the one of the story.
const namespace = "market"

// place is a cluster for the story.
type place struct {
	api        client.WithWatch // of the person
	operator   *rest.Config     // the connection of the operator
	kubeconfig []byte           // of an administrator
	stop       func() error
}

//go:embed config
var config embed.FS

// open starts an API server with the definition of shops. The operator has the
// rights of its role there.
func open(ctx context.Context) (p *place, err error) {
	folder, err := binaries()
	if err != nil {
		return nil, err
	}
	data, err := config.ReadFile("config/crd/shop.example.com_shops.yaml")
	definition := &apiextensions.CustomResourceDefinition{}
	if err := errors.Join(err, sigsyaml.UnmarshalStrict(data, definition)); err != nil {
		return nil, err
	}
	server := &envtest.Environment{
		BinaryAssetsDirectory:    folder,
		CRDInstallOptions:        envtest.CRDInstallOptions{CRDs: []*apiextensions.CustomResourceDefinition{definition}, MaxTime: time.Minute},
		ControlPlaneStartTimeout: time.Minute, ControlPlaneStopTimeout: time.Minute, // of a busy machine
	}
	admin, err := server.Start()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting the API server: %w", err), server.Stop())
	}
	p = &place{operator: rest.CopyConfig(admin), kubeconfig: server.KubeConfig, stop: server.Stop}
	p.operator.QPS, p.operator.Impersonate.UserName = -1, "system:serviceaccount:shop-operator:shop-operator"
	p.api, err = newClient(admin)
	for _, file := range []string{"account.yaml", "role.yaml"} {
		if err == nil {
			err = p.create(ctx, "config/rbac/"+file)
		}
	}
	if err == nil {
		err = p.api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	}
	if err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

// create creates the objects of a file.
func (p *place) create(ctx context.Context, file string) error {
	data, err := config.ReadFile(file)
	if err != nil {
		return err
	}
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096); ; {
		obj := &unstructured.Unstructured{}
		if err := decoder.Decode(obj); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := p.api.Create(ctx, obj); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
}

// binaries returns the folder with kube-apiserver and etcd: that of
// KUBEBUILDER_ASSETS, or bin/envtest of the repository.
func binaries() (string, error) {
	for _, folder := range []string{os.Getenv("KUBEBUILDER_ASSETS"), "bin/envtest", "../../bin/envtest"} {
		if _, err := os.Stat(filepath.Join(folder, "kube-apiserver")); err == nil && folder != "" {
			return filepath.Abs(folder)
		}
	}
	return "", errors.New("there is no kube-apiserver in bin/envtest: run make envtest in the root of the repository (it takes some minutes " +
		"the first time), or set KUBEBUILDER_ASSETS to a folder that has one")
}

// served fails if the cluster has no definition of shops.
func served(api client.Client) error {
	_, err := api.RESTMapper().RESTMapping(v1.GroupVersion.WithKind("Shop").GroupKind(), v1.GroupVersion.Version)
	if meta.IsNoMatchError(err) {
		return errors.New("the cluster has no definition of shops: kubectl apply -f examples/component/config/crd")
	}
	return err
}

// newClient returns the client of the person.
func newClient(config *rest.Config) (client.WithWatch, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.QPS = -1 // no limit, as in ctrl.GetConfig
	return client.NewWithWatch(config, client.Options{Scheme: scheme})
}

// runDeployments stands for the controller of deployments, which the API server
// of the story lacks: it reports each deployment of a namespace as ready. It
// returns when it watches, and ends with ctx.
func runDeployments(ctx context.Context, api client.WithWatch, namespace string) error {
	events, err := api.Watch(ctx, &appsv1.DeploymentList{}, client.InNamespace(namespace))
	if err != nil {
		return err
	}
	go func() {
		defer events.Stop()
		for event := range events.ResultChan() {
			d, ok := event.Object.(*appsv1.Deployment)
			if !ok || event.Type == watch.Deleted || d.Status.ObservedGeneration == d.Generation {
				continue
			}
			n := *d.Spec.Replicas
			d.Status = appsv1.DeploymentStatus{
				ObservedGeneration: d.Generation, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n,
				Conditions: []appsv1.DeploymentCondition{
					{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable"},
					{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
				},
			}
			// A conflict has a later event, which comes to this loop.
			_ = api.Status().Update(ctx, d)
		}
	}()
	return nil
}
