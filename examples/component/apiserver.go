package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// startServer starts the kube-apiserver and the etcd that make envtest builds,
// and returns a connection for an administrator. Their data are in a temporary
// folder.
func startServer() (config *rest.Config, stop func() error, err error) {
	folder, err := binaries()
	if err != nil {
		return nil, nil, err
	}
	server := &envtest.Environment{BinaryAssetsDirectory: folder}
	if config, err = server.Start(); err != nil {
		return nil, nil, fmt.Errorf("starting the API server: %w", err)
	}
	config.QPS = -1 // no limit, as in ctrl.GetConfig
	return config, server.Stop, nil
}

// binaries returns the folder with the programs: that of KUBEBUILDER_ASSETS, or
// bin/envtest of the repository.
func binaries() (string, error) {
	if folder := os.Getenv("KUBEBUILDER_ASSETS"); folder != "" {
		return folder, nil
	}
	for _, root := range []string{".", "../.."} {
		folder, err := filepath.Abs(filepath.Join(root, "bin", "envtest"))
		if err != nil {
			return "", err
		}
		if _, err := os.Stat(filepath.Join(folder, "kube-apiserver")); err == nil {
			return folder, nil
		}
	}
	return "", errors.New("there is no kube-apiserver in bin/envtest: run make envtest in the root of the repository (it takes some minutes " +
		"the first time), set KUBEBUILDER_ASSETS to a folder that has one, or give -kubeconfig FILE")
}
