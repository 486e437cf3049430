package soak_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// server is an API server that can be killed and started again with the same
// flags, on the same etcd.
type server struct {
	env    *envtest.Environment
	config *rest.Config
	reach  reach
	binary string
	ran    started   // the first start
	again  *exec.Cmd // the process after a restart
	says   *tail
	dir    string
}

// reach is the address of an API server and the credentials for it, for other
// processes.
type reach struct {
	Host          string
	CA, Cert, Key []byte
}

func (r reach) config() *rest.Config {
	return &rest.Config{Host: r.Host, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: r.CA, CertData: r.Cert, KeyData: r.Key}}
}

// started records how a process was started.
type started struct {
	PID  int
	Args []string
}

const (
	binaryVariable = "WINDLASS_SOAK_APISERVER"
	noteVariable   = "WINDLASS_SOAK_NOTE"
)

// becomeAPIServer turns this process into the API server. It first records how
// the process was started, because envtest does not publish that.
func becomeAPIServer() int {
	note, err := json.Marshal(started{os.Getpid(), os.Args[1:]})
	if err == nil && len(os.Args) > 2 { // with a single argument, envtest only asks for the flags
		err = os.WriteFile(os.Getenv(noteVariable), note, 0o600)
	}
	if err == nil {
		err = syscall.Exec(os.Getenv(binaryVariable), append([]string{"kube-apiserver"}, os.Args[1:]...), os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func startServer(assets string) (*server, error) {
	s := &server{binary: filepath.Join(assets, "kube-apiserver")}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "soak"); err != nil {
		return nil, err
	}
	note := filepath.Join(s.dir, "apiserver")
	for name, value := range map[string]string{roleVariable: roleAPIServer, binaryVariable: s.binary, noteVariable: note} {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
		defer os.Unsetenv(name)
	}
	s.env = &envtest.Environment{
		BinaryAssetsDirectory: assets, CRDs: testv1.Definitions(), Scheme: newScheme(),
		ControlPlaneStartTimeout: time.Minute,
	}
	s.env.ControlPlane.GetAPIServer().Path = self
	if s.config, err = s.env.Start(); err != nil {
		return nil, err
	}
	s.config.QPS = -1
	s.reach = reach{s.config.Host, s.config.CAData, s.config.CertData, s.config.KeyData}
	data, err := os.ReadFile(note)
	if err == nil {
		err = json.Unmarshal(data, &s.ran)
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func (s *server) stop() {
	if s.again != nil {
		s.kill()
	}
	_ = s.env.Stop()
	_ = os.RemoveAll(s.dir)
}

// kill kills the API server, which has no time to clean up.
func (s *server) kill() {
	if s.again != nil {
		_ = s.again.Process.Kill()
		_ = s.again.Wait()
		return
	}
	p, err := os.FindProcess(s.ran.PID)
	if err != nil {
		return
	}
	_ = p.Kill()
	// The process is gone when envtest has waited for it.
	for end := time.Now().Add(10 * time.Second); p.Signal(syscall.Signal(0)) == nil && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// restart starts the API server with its former flags, and waits until it is
// ready.
func (s *server) restart() error {
	cmd := exec.Command(s.binary, s.ran.Args...)
	s.says = &tail{}
	cmd.Stdout, cmd.Stderr = s.says, s.says
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for the tests, which then stop the API server
	if err := cmd.Start(); err != nil {
		return err
	}
	s.again = cmd
	c, err := rest.HTTPClientFor(s.config)
	if err != nil {
		return err
	}
	c.Timeout = 2 * time.Second
	for end := time.Now().Add(time.Minute); ; {
		resp, err := c.Get(strings.TrimSuffix(s.config.Host, "/") + "/readyz")
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			err = fmt.Errorf("it answers %s", resp.Status)
		}
		if time.Now().After(end) {
			return fmt.Errorf("the API server does not become ready: %w: %s", err, s.says)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
