package main

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
)

// repo is a tree of files with its modules.
type repo struct {
	dir     string
	files   []string  // relative to dir, with slashes
	modules []*module // the root first, then in the order of their folders
}

// module is a folder with a go.mod file.
type module struct {
	dir string // relative to the repository, with slashes; "." for the root
	mod *modfile.File
}

func (m *module) path() string { return m.mod.Module.Mod.Path }

// private reports whether the module is never released, because it is used only
// in clones of the repository.
func (m *module) private() bool { return strings.HasPrefix(m.dir+"/", "tools/") }

// promised reports whether VERSIONING.md makes promises for the module.
// Examples are copied, not imported.
func (m *module) promised() bool { return !m.private() && !strings.HasPrefix(m.dir+"/", "examples/") }

// open returns the repository in dir: the tracked files and those that git
// would add.
func open(dir string) (*repo, error) {
	out, err := output(dir, nil, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
	if err != nil {
		return nil, err
	}
	files := slices.DeleteFunc(strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"), func(f string) bool {
		_, err := os.Lstat(filepath.Join(dir, f))
		return errors.Is(err, fs.ErrNotExist) // a tracked file that was deleted
	})
	return newRepo(dir, files)
}

func newRepo(dir string, files []string) (*repo, error) {
	r := &repo{dir: dir, files: files}
	for _, f := range files {
		if path.Base(f) != "go.mod" {
			continue
		}
		data, err := os.ReadFile(r.file(f))
		if err != nil {
			return nil, err
		}
		mod, err := modfile.Parse(r.file(f), data, nil)
		if err != nil {
			return nil, err
		}
		r.modules = append(r.modules, &module{path.Dir(f), mod})
	}
	slices.SortFunc(r.modules, func(a, b *module) int { return strings.Compare(a.path(), b.path()) })
	if len(r.modules) == 0 || r.modules[0].dir != "." {
		return nil, fmt.Errorf("%s has no go.mod file", dir)
	}
	for _, m := range r.modules {
		if want := path.Join(r.modules[0].path(), m.dir); m.path() != want {
			return nil, fmt.Errorf("%s/go.mod names the module %s, want %s", m.dir, m.path(), want)
		}
	}
	return r, nil
}

func (r *repo) file(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

// owner returns the module of a package, or of a module, by its import path, or
// nil for one of another repository.
func (r *repo) owner(pkg string) *module {
	for _, m := range slices.Backward(r.modules) { // nested modules come later
		if pkg == m.path() || strings.HasPrefix(pkg, m.path()+"/") {
			return m
		}
	}
	return nil
}

// released returns the modules that users can require, each after the modules
// of the repository that it requires.
func (r *repo) released() (sorted []*module) {
	var add func(*module)
	add = func(m *module) {
		if m == nil || m.private() || slices.Contains(sorted, m) {
			return
		}
		for _, req := range m.mod.Require {
			if sibling := r.owner(req.Mod.Path); sibling != m {
				add(sibling)
			}
		}
		sorted = append(sorted, m)
	}
	for _, m := range r.modules {
		add(m)
	}
	return sorted
}

// copyTo copies the repository into an empty folder.
func (r *repo) copyTo(dir string) (*repo, error) {
	for _, f := range r.files {
		data, err := os.ReadFile(r.file(f))
		if err == nil {
			err = writeFile(filepath.Join(dir, filepath.FromSlash(f)), data)
		}
		if err != nil {
			return nil, err
		}
	}
	return newRepo(dir, r.files)
}

// checkInternals reports imports of another module's internal packages. Such an
// import compiles, but any upgrade of the other module may break it. Tests, other
// helpers of tests and the examples may import helpers of tests, because users
// import none of them.
func (r *repo) checkInternals() error {
	const testHelpers = "/internal/testing/"
	var errs []error
	for _, f := range r.files {
		if path.Ext(f) != ".go" || strings.Contains("/"+f, "/testdata/") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), r.file(f), nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		m := r.owner(path.Join(r.modules[0].path(), f))
		for _, spec := range file.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value) // the parser accepts valid texts only
			owner := r.owner(imported)
			if owner == nil || owner == m || !internal(imported) ||
				strings.Contains(imported, testHelpers) && (strings.HasSuffix(f, "_test.go") || strings.Contains(f, testHelpers) || !m.promised()) {
				continue
			}
			errs = append(errs, fmt.Errorf("%s imports %s: that is internal to the module %s", f, imported, owner.path()))
		}
	}
	return errors.Join(errs...)
}

// internal reports whether an import path is inside an internal folder.
func internal(pkg string) bool { return strings.Contains("/"+pkg+"/", "/internal/") }

// writeFile writes a file and makes its folders.
func writeFile(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}
