package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	gomodule "golang.org/x/mod/module"
)

// programs is the folder with the programs of consumers. The folder of each is
// named after that of its module, or root. A consumer also imports every
// package of its module.
const programs = "tools/release/testdata/consumers/"

// readmeProgram is the folder of the program that the README shows. The program
// joins the consumer of the root.
const readmeProgram = "examples/first/"

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
	command, err := newGo(proxy, r.modules[0].path)
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
	mains, packages, err := m.packages(g)
	if err != nil {
		return err
	}
	files, err := m.consumerFiles()
	if err != nil {
		return err
	}
	if len(packages) > 0 {
		files["consumer.go"] = []byte("package consumer\n\nimport (\n\t_ \"" + strings.Join(packages, "\"\n\t_ \"") + "\"\n)\n")
	}
	if len(files) > 0 {
		files["go.mod"] = fmt.Appendf(nil, "module consumer.test\n\ngo %s\n\nrequire %s %s\n", m.goVersion(), m.path, version)
		files["go.sum"] = m.repo.sums()
		for name, data := range files {
			if err := writeFile(filepath.Join(dir, filepath.FromSlash(name)), data); err != nil {
				return err
			}
		}
		for _, args := range [][]string{{"vet", "./..."}, {"test", "./..."}} {
			if _, err := g.run(dir, args...); err != nil {
				return fmt.Errorf("the consumer of %s: %w", m.path, err)
			}
		}
	}
	if mains {
		bin := "GOBIN=" + filepath.Join(dir, "bin")
		if _, err := g.with(bin).run(filepath.Dir(m.repo.dir), "install", m.path+"/...@"+version); err != nil {
			return err
		}
	}
	return nil
}

// consumerFiles returns the program of the consumer of the module, by file
// name.
func (m *module) consumerFiles() (map[string][]byte, error) {
	folders := map[string]string{programs + m.dir + "/": ""}
	if m.dir == "." {
		folders = map[string]string{programs + "root/": "", readmeProgram: "readme/"}
	}
	files := map[string][]byte{}
	for _, f := range m.repo.files {
		for folder, to := range folders {
			name, ok := strings.CutPrefix(f, folder)
			if !ok {
				continue
			}
			data, err := os.ReadFile(m.repo.file(f))
			if err != nil {
				return nil, err
			}
			files[to+name] = data
		}
	}
	return files, nil
}

// packages reports whether the module has programs, and returns the sorted import
// paths of the packages that users can import.
func (m *module) packages(g *goCommand) (mains bool, packages []string, err error) {
	out, err := g.run(m.repo.file(m.dir), "list", "-f", "{{if .GoFiles}}{{.Name}} {{.ImportPath}}{{end}}", "./...")
	if err != nil {
		return false, nil, err
	}
	for line := range strings.Lines(out) {
		name, pkg, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case pkg == "" || internal(pkg):
		case name == "main":
			mains = true
		default:
			packages = append(packages, pkg)
		}
	}
	return mains, packages, nil
}

// goVersion returns the Go version that the module requires.
func (m *module) goVersion() string {
	if mod, err := m.mod(); err == nil && mod.Go != nil {
		return mod.Go.Version
	}
	return "1.26"
}

// sums returns the lines of all go.sum files of the repository, so that
// consumers need not download known checksums.
func (r *repo) sums() []byte {
	var all []byte
	for _, m := range r.released() {
		data, err := os.ReadFile(r.file(m.prefix() + "go.sum"))
		if err == nil { // a module without requirements has no such file
			all = append(all, data...)
		}
	}
	return all
}

// goCommand is the go command with the environment of consumers.
type goCommand struct {
	env   []string
	cache string // the folder of downloaded modules
}

// newGo returns a go command that downloads root and the modules below it from
// proxy, and other modules from the proxies of this machine.
func newGo(proxy, root string) (*goCommand, error) {
	out, err := output(".", nil, "go", "env", "GOPROXY", "GONOSUMDB", "GOFLAGS", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	settings := strings.Split(out, "\n")
	return &goCommand{
		env: []string{
			"GOWORK=off",
			"GOPROXY=file://" + filepath.ToSlash(proxy) + "," + settings[0],
			"GONOSUMDB=" + settings[1] + "," + root,
			"GOFLAGS=" + strings.TrimSpace(settings[2]+" -mod=mod -modcacherw"),
		},
		cache: settings[3],
	}, nil
}

func (g *goCommand) with(env ...string) *goCommand {
	return &goCommand{append(slices.Clone(g.env), env...), g.cache}
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
