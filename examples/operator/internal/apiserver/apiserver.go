// Package apiserver prepares the API server of the demonstration and of the
// tests. Copy nothing from here.
package apiserver

import (
	"errors"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/examples/operator/config"
)

// Connect installs the definitions of the kinds, and returns the client of the
// person.
func Connect(to *rest.Config) (client.WithWatch, error) {
	var definitions []*apiextensions.CustomResourceDefinition
	for _, file := range []string{"crd/kusto.example.com_clusters.yaml", "crd/kusto.example.com_databases.yaml"} {
		data, err := config.Files.ReadFile(file)
		definition := &apiextensions.CustomResourceDefinition{}
		if err := errors.Join(err, yaml.UnmarshalStrict(data, definition)); err != nil {
			return nil, err
		}
		definitions = append(definitions, definition)
	}
	if _, err := envtest.InstallCRDs(to, envtest.CRDInstallOptions{CRDs: definitions, MaxTime: time.Minute}); err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	return client.NewWithWatch(to, client.Options{Scheme: scheme})
}
