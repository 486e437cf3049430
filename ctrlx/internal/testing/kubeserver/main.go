// Command kubeserver starts a kube-apiserver for the tests of several processes.
// It prints the path of its kubeconfig when it is ready, and stops when its
// standard input ends. tools/mutate starts it. The programs are in the folder
// KUBEBUILDER_ASSETS.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "kubeserver:", err)
		os.Exit(1)
	}
}

func serve() error {
	server := &envtest.Environment{ControlPlaneStartTimeout: 5 * time.Minute, ControlPlaneStopTimeout: time.Minute}
	if _, err := server.Start(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "kubeserver")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(path, server.KubeConfig, 0o600); err != nil {
		return err
	}
	fmt.Println(path)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return server.Stop()
}
