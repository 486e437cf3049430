// Package apiserver prepares the API server of the demonstration and of the
// tests. Copy nothing from here.
package apiserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/examples/operator/config"
)

// NewClient returns the client of the person.
func NewClient(to *rest.Config) (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensions.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return client.NewWithWatch(to, client.Options{Scheme: scheme})
}

// Install installs the definitions of the kinds, and waits until objects of all
// kinds can be created.
func Install(ctx context.Context, api client.Client) error {
	files, err := config.Files.ReadDir("crd")
	if err != nil {
		return err
	}
	ended := make(chan error)
	for _, file := range files {
		go func() {
			data, err := config.Files.ReadFile("crd/" + file.Name())
			definition := &apiextensions.CustomResourceDefinition{}
			if err == nil {
				err = yaml.UnmarshalStrict(data, definition)
			}
			if err == nil {
				err = api.Create(ctx, definition)
			}
			if err == nil {
				err = served(ctx, api, definition.Spec)
			}
			if err != nil {
				err = fmt.Errorf("installing %s: %w", file.Name(), err)
			}
			ended <- err
		}()
	}
	for range files {
		err = errors.Join(err, <-ended)
	}
	return err
}

// served creates an object of a kind as a dry run, until the server accepts or
// validates it. That takes the server two seconds while a definition is new.
func served(ctx context.Context, api client.Client, of apiextensions.CustomResourceDefinitionSpec) error {
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		obj := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
		obj.SetAPIVersion(of.Group + "/" + of.Versions[0].Name)
		obj.SetKind(of.Names.Kind)
		obj.SetNamespace("default")
		obj.SetName("warm-up")
		err := api.Create(ctx, obj, client.DryRunAll)
		if err == nil || apierrors.IsInvalid(err) {
			return true, nil
		}
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			return false, nil
		}
		return false, err
	})
}
