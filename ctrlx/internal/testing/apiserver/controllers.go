package apiserver

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// program is the program with the controllers of Kubernetes.
const program = "kube-controller-manager"

var controllers struct {
	once    sync.Once
	err     error  // of the start
	folder  string // with the file that has the key of the API server
	process *exec.Cmd
	mu      sync.Mutex
	stopped bool
}

// StartControllers starts the controllers of Kubernetes on the server of
// [StartSecond], which runs. No kubelet and no scheduler run, so that a Pod only
// has the status that a test writes. The first call counts. A test fails if the
// program is missing or does not start. If the program ends before [Stop], no test
// has failed, and the process ends.
func StartControllers(t testing.TB) {
	t.Helper()
	controllers.once.Do(func() { controllers.err = startControllers() })
	if controllers.err != nil {
		t.Fatal(controllers.err)
	}
}

func startControllers() (err error) {
	path := filepath.Join(assets(), program)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no %s in %q: build it with: make envtest (or name a folder with it in KUBEBUILDER_ASSETS)", program, filepath.Dir(path))
	}
	if controllers.folder, err = os.MkdirTemp("", "controllers"); err != nil {
		return err
	}
	access := filepath.Join(controllers.folder, "kubeconfig")
	if err := os.WriteFile(access, second.server.KubeConfig, 0o600); err != nil {
		return err
	}
	p := exec.Command(path, "--kubeconfig="+access, "--secure-port=0", "--leader-elect=false", "--use-service-account-credentials=false",
		"--horizontal-pod-autoscaler-sync-period=1s", "--concurrent-gc-syncs=2", "--kube-api-qps=1000", "--kube-api-burst=1000", "--v=0")
	output := &bytes.Buffer{}
	p.Stdout, p.Stderr = output, output
	if err := p.Start(); err != nil {
		return err
	}
	controllers.process = p
	go func() {
		err := p.Wait() // the output is complete then
		controllers.mu.Lock()
		stopped := controllers.stopped
		controllers.mu.Unlock()
		if !stopped {
			fmt.Fprintf(os.Stderr, "%s\n", output.Bytes()[max(0, output.Len()-4000):])
			fail(fmt.Errorf("%s ended: %w", program, err))
		}
	}()
	return nil
}

func stopControllers() {
	if controllers.process != nil {
		controllers.mu.Lock()
		controllers.stopped = true
		controllers.mu.Unlock()
		_ = controllers.process.Process.Kill()
	}
	_ = os.RemoveAll(controllers.folder)
}
