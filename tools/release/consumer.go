package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// programs is the folder with the programs of consumers. The folder of each is
// named after that of its module, or root. A consumer also builds every package
// of its module.
const programs = "tools/release/testdata/consumers/"

// readmeProgram is the folder of the program that the README shows. The program
// joins the consumer of the root.
const readmeProgram = "examples/first"

// checkConsumers publishes a copy of the repository to a module proxy on disk.
// It builds and tests a consumer of each module, outside of the repository and
// without its workspace.
func (r *repo) checkConsumers(progress io.Writer) error {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	released, err := r.copyTo(filepath.Join(dir, "repo"))
	if err != nil {
		return err
	}
	// The go command caches downloads, so each rehearsal has its own version.
	version := "v0.0.0-rehearsal" + strings.TrimPrefix(filepath.Base(dir), "release")
	proxy := filepath.Join(dir, "proxy")
	if err := released.publish(version, proxy); err != nil {
		return err
	}
	out, err := output(".", nil, "go", "env", "GOPROXY", "GOFLAGS", "GOMODCACHE")
	if err != nil {
		return err
	}
	settings := strings.Split(out, "\n")
	env := []string{
		"GOWORK=off",
		"GOSUMDB=off", // the go.sum files of the modules hold the sums
		"GOPROXY=file://" + filepath.ToSlash(proxy) + "," + settings[0],
		"GOFLAGS=" + strings.TrimSpace(settings[1]+" -mod=mod -modcacherw"), // forget can remove folders that are writable
	}
	var errs []error
	for _, m := range released.released() {
		fmt.Fprintln(progress, "release: consumer of", m.path)
		errs = append(errs, m.checkConsumer(env, version, filepath.Join(dir, "consumers", m.dir, "consumer")))
	}
	for _, m := range released.released() {
		errs = append(errs, forget(settings[2], m.path, version))
	}
	return errors.Join(errs...)
}

// checkConsumer builds and tests a consumer of the module in a new folder, and
// installs the programs of the module.
func (m *module) checkConsumer(env []string, version, dir string) error {
	folders := map[string]string{programs + m.dir: "."}
	if m.dir == "." {
		folders = map[string]string{programs + "root": ".", readmeProgram: "readme"}
	}
	for from, to := range folders {
		err := os.CopyFS(filepath.Join(dir, to), os.DirFS(m.repo.file(from)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	// A module without a program has a package, too.
	if err := writeFile(filepath.Join(dir, "empty", "consumer.go"), []byte("package empty\n")); err != nil {
		return err
	}
	programs := append(slices.Clone(env), "GOBIN="+filepath.Join(dir, "bin"))
	for _, c := range []struct { // install refuses a module with replace or exclude directives
		dir  string
		env  []string
		args []string
	}{
		// A tidy module does not change when its siblings are downloaded.
		{m.repo.file(m.dir), env, []string{"mod", "tidy", "-diff"}},
		{dir, env, []string{"mod", "init", "consumer.test"}},
		{dir, env, []string{"get", m.path + "@" + version}},
		{dir, env, []string{"build", m.path + "/..."}},
		{dir, env, []string{"vet", "./..."}},
		{dir, env, []string{"test", "./..."}},
		{filepath.Dir(m.repo.dir), programs, []string{"install", m.path + "/...@" + version}},
	} {
		if _, err := output(c.dir, c.env, "go", c.args...); err != nil {
			return fmt.Errorf("the consumer of %s: %w", m.path, err)
		}
	}
	return nil
}

// forget removes a version of a module from the module cache.
func forget(cache, module, version string) (err error) {
	name := filepath.FromSlash(module)
	files, _ := filepath.Glob(filepath.Join(cache, "cache", "download", name, "@v", version+".*"))
	for _, f := range append(files, filepath.Join(cache, name+"@"+version)) {
		err = errors.Join(err, os.RemoveAll(f))
	}
	return err
}
