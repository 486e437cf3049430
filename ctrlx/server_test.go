package ctrlx_test

import (
	"sync"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// The API server of all tests that need one. startServer sets config and api.
var (
	config *rest.Config
	scheme = apiserver.Scheme(apiextensions.AddToScheme)
	api    client.WithWatch // without a cache
)

func TestMain(m *testing.M) { apiserver.Main(m) }

var startServer = sync.OnceFunc(func() { config, api = apiserver.Start(scheme, append(testv1.Definitions(), definitionOfApps())) })

// namespace makes a namespace for a test.
func namespace(t testing.TB) string {
	t.Helper()
	startServer()
	return apiserver.Namespace(t, api)
}
