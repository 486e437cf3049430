package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// All tests share one API server, each in its own namespace. The definitions
// and roles are installed.
var (
	server *envtest.Environment
	config *rest.Config
	api    client.WithWatch
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		logs(false, os.Stderr)
		if _, err := os.Stat(filepath.Join(assets(), "kube-apiserver")); err != nil {
			fmt.Fprintf(os.Stderr, "no kube-apiserver in %s: build it with make envtest, or set KUBEBUILDER_ASSETS\n", assets())
			return 1
		}
		server = &envtest.Environment{BinaryAssetsDirectory: assets(), CRDDirectoryPaths: []string{"config/crd"}, ErrorIfCRDPathMissing: true}
		var err error
		if config, err = server.Start(); err != nil {
			fmt.Fprintln(os.Stderr, "the API server does not start:", err)
			return 1
		}
		defer func() { _ = server.Stop() }()
		config.QPS = -1
		if api, err = newClient(config); err == nil {
			err = apply("config/rbac/account.yaml", "config/rbac/role.yaml")
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// assets returns the folder with the binaries of the API server and of etcd.
func assets() string {
	if folder := os.Getenv("KUBEBUILDER_ASSETS"); folder != "" {
		return folder
	}
	folder, _ := filepath.Abs("../../bin/envtest")
	return folder
}

// apply creates the objects of files.
func apply(files ...string) error {
	for _, file := range files {
		objects, err := load(file)
		if err != nil {
			return err
		}
		for _, obj := range objects {
			if err := api.Create(context.Background(), obj); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	return nil
}

// load reads the objects of a file.
func load(file string) (all []*unstructured.Unstructured, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096); ; {
		obj := &unstructured.Unstructured{}
		switch err := decoder.Decode(obj); {
		case err == io.EOF:
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, obj)
	}
}

// namespace creates a namespace for a test.
func namespace(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := api.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// kubeconfig writes a configuration file for a server. as is the user; empty:
// an administrator.
func kubeconfig(t *testing.T, of *envtest.Environment, as, namespace string) string {
	t.Helper()
	c, err := clientcmd.Load(of.KubeConfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range c.AuthInfos {
		user.Impersonate = as
	}
	for _, context := range c.Contexts {
		context.Namespace = namespace
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// account is the user of the deployed operator.
const account = "system:serviceaccount:kusto-operator:kusto-operator"
