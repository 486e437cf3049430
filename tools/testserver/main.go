// Command testserver is the API server of tests and of examples/operator. It
// prints the path of a kubeconfig as soon as it is ready, and ends when its
// standard input ends, so that it never outlives its user. It is a module of its
// own, so that its users inherit no etcd.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/klog/v2"

	"github.com/windlass-go/windlass/tools/testserver/controlplane"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "testserver:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	klog.SetLogger(klog.Logger{}) // the tests report what goes wrong
	kubeconfig, stopServer, err := controlplane.Start()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopServer()) }()
	fmt.Println(kubeconfig)
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	return nil
}
