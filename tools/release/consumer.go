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

	gomodule "golang.org/x/mod/module"
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
func (r *repo) checkConsumers(progress io.Writer) (err error) {
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
	command, err := newGo(proxy)
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range released.released() {
		fmt.Fprintln(progress, "release: consumer of", m.path)
		errs = append(errs, m.checkConsumer(command, version, filepath.Join(dir, "consumers", m.dir, "consumer")))
		defer func() { err = errors.Join(err, command.forget(m.path, version)) }()
	}
	return errors.Join(errs...)
}

// checkConsumer builds and tests a consumer of the module in a new folder.
func (m *module) checkConsumer(g *goCommand, version, dir string) error {
	// The go.mod of a tidy module does not change when its siblings are
	// downloaded instead of replaced.
	if _, err := g.run(m.repo.file(m.dir), "mod", "tidy", "-diff"); err != nil {
		return err
	}
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
	mod, err := m.mod()
	if err != nil {
		return err
	}
	if mod.Go == nil {
		return fmt.Errorf("the go.mod of %s names no version of Go", m.path)
	}
	for name, text := range map[string]string{
		"go.mod":            fmt.Sprintf("module consumer.test\n\ngo %s\n\nrequire %s %s\n", mod.Go.Version, m.path, version),
		"empty/consumer.go": "package empty\n", // a module without a program has a package, too
	} {
		if err := writeFile(filepath.Join(dir, name), []byte(text)); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"build", m.path + "/..."}, {"vet", "./..."}, {"test", "./..."}} {
		if _, err := g.run(dir, args...); err != nil {
			return fmt.Errorf("the consumer of %s: %w", m.path, err)
		}
	}
	mains, err := g.run(m.repo.file(m.dir), "list", "-f", `{{if eq .Name "main"}}{{.ImportPath}}{{end}}`, "./...")
	if err == nil && strings.TrimSpace(mains) != "" {
		in := &goCommand{env: append(slices.Clone(g.env), "GOBIN="+filepath.Join(dir, "bin"))}
		_, err = in.run(filepath.Dir(m.repo.dir), "install", m.path+"/...@"+version)
	}
	return err
}

// goCommand is the go command with the environment of consumers.
type goCommand struct {
	env   []string
	cache string // the folder of downloaded modules
}

// newGo returns a go command that downloads the released modules from proxy, and
// other modules from the proxies of this machine.
func newGo(proxy string) (*goCommand, error) {
	out, err := output(".", nil, "go", "env", "GOPROXY", "GOFLAGS", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	settings := strings.Split(out, "\n")
	return &goCommand{
		env: []string{
			"GOWORK=off",
			"GOSUMDB=off", // the go.sum files of the modules hold the sums
			"GOPROXY=file://" + filepath.ToSlash(proxy) + "," + settings[0],
			"GOFLAGS=" + strings.TrimSpace(settings[1]+" -mod=mod -modcacherw"),
		},
		cache: settings[2],
	}, nil
}

func (g *goCommand) run(dir string, args ...string) (string, error) {
	return output(dir, g.env, "go", args...)
}

// forget removes a rehearsed version from the module cache. The go command stored
// it with -modcacherw, so that its folders can be removed.
func (g *goCommand) forget(module, version string) error {
	escaped, err := gomodule.EscapePath(module)
	if err != nil {
		return err
	}
	name := filepath.FromSlash(escaped)
	err = os.RemoveAll(filepath.Join(g.cache, name+"@"+version))
	files, _ := filepath.Glob(filepath.Join(g.cache, "cache", "download", name, "@v", version+".*"))
	for _, f := range files {
		err = errors.Join(err, os.Remove(f))
	}
	return err
}
