// Package smallserver starts the API server of tools/testserver as a process of
// its own, so that no module of its users inherits etcd. It starts within a
// second.
//
// It has no rights, admission, defaults and server-side apply of built-in kinds.
package smallserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Start starts a server and returns the path of a kubeconfig that connects to it.
// The caller must call stop. The server also ends with this process, however this
// process ends, because its standard input ends then.
//
// Start builds bin/testserver if it is missing or older than its sources, which
// takes minutes the first time. Outside a clone of the repository it returns an
// error.
func Start() (kubeconfig string, stop func(), err error) {
	path, err := build()
	if err != nil {
		return "", nil, err
	}
	return StartProgram(path)
}

// StartProgram does the same with a program that prints the path of its
// kubeconfig, and stops when its standard input ends.
func StartProgram(path string) (kubeconfig string, stop func(), err error) {
	p, output := exec.Command(path), &bytes.Buffer{}
	p.Stderr = output
	in, err := p.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := p.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := p.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = p.Wait()
	}
	kubeconfig, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("%s ended before it was ready: %s", path, output)
	}
	return strings.TrimSpace(kubeconfig), stop, nil
}

// build returns the path of the server. The build is that of the workspace, whose
// cache has most packages of it.
func build() (string, error) {
	root := Repository()
	if root == "" {
		return "", errors.New("the sources of tools/testserver are missing: run this in a clone of the repository")
	}
	sources := filepath.Join(root, "tools", "testserver")
	path := filepath.Join(root, "bin", "testserver")
	built, err := os.Stat(path)
	stale := err != nil
	for _, pattern := range []string{"go.*", "*.go", "*/*.go", "../../go.work"} {
		files, err := filepath.Glob(filepath.Join(sources, pattern))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			source, err := os.Stat(file)
			if err != nil {
				return "", err
			}
			stale = stale || source.ModTime().After(built.ModTime())
		}
	}
	if !stale {
		return path, nil
	}
	// Several processes may build it at the same time: each renames its own file.
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	command := exec.Command("go", "build", "-o", fresh, ".")
	command.Dir = sources
	command.Env = append(os.Environ(), "GOWORK="+filepath.Join(root, "go.work"))
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s in %s: %w: %s", command, sources, err, output)
	}
	return path, os.Rename(fresh, path)
}

// Repository returns the root of the repository that has the working directory;
// empty: there is none.
func Repository() string {
	for dir, err := os.Getwd(); err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "tools", "testserver", "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return ""
}
