// Package controlplane is an API server with its etcd in one process. It starts
// within a second.
//
// It is the part of kube-apiserver that serves custom resources, with storage,
// conflicts, validation, the status subresource, watches and finalizers. [Start]
// adds the built-in kinds that operators read and write. Their objects are stored
// as they are sent, without admission, validation and defaults. Server-side apply
// works for custom resources only. There are no users and no roles, and no
// controller of Kubernetes runs.
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// patience is the longest time that each part may take to start.
const patience = 2 * time.Minute

// Start starts a control plane on free ports of the loopback interface. The file
// kubeconfig connects to it. stop stops it and removes its data.
func Start() (kubeconfig string, stop func() error, err error) {
	dir, err := os.MkdirTemp("", "windlass-controlplane-")
	if err != nil {
		return "", nil, err
	}
	undo := []func() error{func() error { return os.RemoveAll(dir) }}
	stop = func() (err error) {
		for i := len(undo) - 1; i >= 0; i-- {
			err = errors.Join(err, undo[i]())
		}
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("starting the control plane: %w", errors.Join(err, stop()))
		}
	}()
	etcd, err := startEtcd(dir)
	if err != nil {
		return "", stop, err
	}
	undo = append(undo, func() error { etcd.Close(); return nil })

	server, config, err := newServer("http://" + etcd.Clients[0].Addr().String())
	if err != nil {
		return "", stop, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	prepared := server.PrepareRun()
	go func() { ended <- prepared.RunWithContext(ctx) }()
	undo = append(undo, func() error { cancel(); return <-ended })
	if err := ready(ctx, config); err != nil {
		return "", stop, err
	}
	kubeconfig = filepath.Join(dir, "kubeconfig")
	return kubeconfig, stop, writeKubeconfig(kubeconfig, config)
}

func writeKubeconfig(file string, config *rest.Config) error {
	all := clientcmdapi.NewConfig()
	all.Clusters["local"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData, TLSServerName: config.ServerName}
	all.AuthInfos["person"] = &clientcmdapi.AuthInfo{Token: config.BearerToken}
	all.Contexts["local"] = &clientcmdapi.Context{Cluster: "local", AuthInfo: "person"}
	all.CurrentContext = "local"
	return clientcmd.WriteToFile(*all, file)
}

// startEtcd starts an etcd without durable storage.
func startEtcd(dir string) (*embed.Etcd, error) {
	anywhere := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config := embed.NewConfig()
	config.Dir = dir
	config.LogLevel = "fatal" // otherwise it prints an error with a stack at each start
	config.UnsafeNoFsync = true
	config.TickMs, config.ElectionMs = 10, 100 // a single member elects itself
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{anywhere}, []url.URL{anywhere}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{anywhere}, []url.URL{anywhere}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err = <-etcd.Err():
	case <-time.After(patience):
		err = fmt.Errorf("etcd is not ready within %s", patience)
	}
	etcd.Close()
	return nil, err
}

// newServer returns the API server and a configuration that connects to it.
func newServer(etcd string) (*genericapiserver.GenericAPIServer, *rest.Config, error) {
	// It uses only the options that need no other server: no delegated
	// authentication and no admission plugins.
	opts := options.NewCustomResourceDefinitionsServerOptions(os.Stderr, os.Stderr).RecommendedOptions
	opts.Etcd.StorageConfig.Transport.ServerList = []string{etcd}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	opts.SecureServing.ServerCert.CertDirectory = "" // the certificate stays in memory
	opts.SecureServing.Listener = listener
	opts.SecureServing.BindPort = listener.Addr().(*net.TCPAddr).Port
	err = opts.SecureServing.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, nil, err
	}

	config := genericapiserver.NewRecommendedConfig(apiserver.Codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(
		openapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(openAPI), openapinamer.NewDefinitionNamer(apiserver.Scheme, scheme))
	config.MergedResourceConfig = apiserver.DefaultAPIResourceConfigSource()
	config.Authentication.Authenticator = anonymous.NewAuthenticator(nil)
	config.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	if err := opts.Etcd.ApplyTo(&config.Config); err != nil {
		return nil, nil, err
	}
	if err := opts.SecureServing.ApplyTo(&config.SecureServing, &config.LoopbackClientConfig); err != nil {
		return nil, nil, err
	}
	all := apiserver.Config{GenericConfig: config, ExtraConfig: apiserver.ExtraConfig{
		CRDRESTOptionsGetter: options.NewCRDRESTOptionsGetter(*opts.Etcd, config.ResourceTransformers, config.StorageObjectCountTracker),
	}}
	made, err := all.Complete().New(genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, nil, err
	}
	server := made.GenericAPIServer
	if err := serveBuiltIn(server, *opts.Etcd); err != nil {
		return nil, nil, err
	}
	discover(server)

	client := rest.CopyConfig(server.LoopbackClientConfig)
	// The loopback client uses protobuf, which custom resources do not have.
	// The server would panic.
	client.ContentType, client.AcceptContentTypes = "application/json", "application/json"
	client.QPS = -1 // no limit, as in ctrl.GetConfig
	return server, client, nil
}

// discover serves the discovery of kinds. In a cluster the aggregator serves
// it. Without it controller-runtime fails with "failed to get server groups".
// Only the aggregated form has the groups of custom resources.
func discover(server *genericapiserver.GenericAPIServer) {
	mux, groups, legacy := server.Handler.NonGoRestfulMux, server.AggregatedDiscoveryGroupManager, server.AggregatedLegacyDiscoveryGroupManager
	mux.Unregister("/apis")
	mux.Handle("/apis", aggregated.WrapAggregatedDiscoveryToHandler(server.DiscoveryGroupManager, groups, groups))
	mux.Handle("/api", aggregated.WrapAggregatedDiscoveryToHandler(legacy, legacy, legacy))
}

// ready waits until the server reports that it is ready.
func ready(ctx context.Context, config *rest.Config) error {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		answer, err := client.Get(config.Host + "/readyz")
		if err != nil {
			return false, nil
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK, nil
	})
}
