package manager

import (
	"os"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	v1 "github.com/windlass-go/windlass/examples/howto/api/v1"
	"github.com/windlass-go/windlass/internal/testing/smallserver"
)

// Server starts a small API server with the kinds of the how-to pages.
func Server(t *testing.T) *rest.Config {
	t.Helper()
	file, stop, err := smallserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	t.Cleanup(func() { _ = os.Remove(file) })
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		t.Fatal(err)
	}
	_, err = envtest.InstallCRDs(config, envtest.CRDInstallOptions{CRDs: []*apiextensions.CustomResourceDefinition{
		definition("Cluster", "clusters"), definition("Database", "databases")}})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func definition(kind, plural string) *apiextensions.CustomResourceDefinition {
	open := true
	return &apiextensions.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + v1.GroupVersion.Group},
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: v1.GroupVersion.Group,
			Names: apiextensions.CustomResourceDefinitionNames{Kind: kind, ListKind: kind + "List", Plural: plural},
			Scope: apiextensions.NamespaceScoped,
			Versions: []apiextensions.CustomResourceDefinitionVersion{{
				Name: v1.GroupVersion.Version, Served: true, Storage: true,
				Schema: &apiextensions.CustomResourceValidation{OpenAPIV3Schema: &apiextensions.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &open}},
				Subresources: &apiextensions.CustomResourceSubresources{Status: &apiextensions.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}
