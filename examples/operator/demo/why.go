package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/cmd/kubectl-windlass/plugin"
	"github.com/windlass-go/windlass/ctrlx"
)

// serveWhy adds a server of the endpoint to a manager and returns its address. A
// deployed operator adds the endpoint to the metrics server, see cmd/main.go.
func serveWhy(mgr ctrl.Manager) (address string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	mux := http.NewServeMux()
	mux.Handle(ctrlx.WhyPath, ctrlx.Why(mgr))
	return "http://" + listener.Addr().String(), mgr.Add(&manager.Server{
		Name: "why", Listener: listener, Server: &http.Server{Handler: mux, ReadHeaderTimeout: time.Second},
	})
}

// why prints the output of kubectl windlass why, as a person sees it in a
// terminal. The plugin is part of this program.
func (s *Story) why(object string) {
	s.do(func() error {
		cache, err := os.MkdirTemp("", "windlass-operator-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(cache) }()
		var out, notes bytes.Buffer
		code := plugin.Run(s.ctx, []string{"why", object, "-n", s.namespace, "--kubeconfig", s.kubeconfig, "--address", s.endpoint, "--cache-dir", cache},
			genericiooptions.IOStreams{In: os.Stdin, Out: &out, ErrOut: &notes}, time.Now)
		s.line.Show(fmt.Sprintf("$ kubectl windlass why %s\n%s%s", object, &notes, &out))
		if code != 1 || notes.Len() > 0 { // 1: the object waits
			return fmt.Errorf("kubectl windlass why %s has the exit code %d: %s", object, code, &notes)
		}
		return nil
	})
}
