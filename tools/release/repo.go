package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// repo is a tree of files with its modules.
type repo struct {
	dir     string
	files   []string  // relative to dir, with slashes, sorted
	modules []*module // the root first, then in the order of their folders
}

// module is a folder with a go.mod file.
type module struct {
	repo  *repo
	dir   string   // relative to the repository, with slashes; "." for the root
	path  string   // the import path
	files []string // the files of the module, without nested modules
}

// open returns the repository in dir: the tracked files and those that git
// would add.
func open(dir string) (*repo, error) {
	out, err := output(dir, nil, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	var files []string
	for _, f := range strings.Split(strings.TrimSuffix(out, "\x00"), "\x00") {
		_, err := os.Lstat(filepath.Join(dir, f))
		switch {
		case err == nil:
			files = append(files, f)
		case !errors.Is(err, fs.ErrNotExist): // a tracked file that was deleted
			return nil, err
		}
	}
	return newRepo(dir, files)
}

func newRepo(dir string, files []string) (*repo, error) {
	files = slices.Compact(slices.Sorted(slices.Values(files)))
	r := &repo{dir: dir, files: files}
	for _, f := range files {
		if path.Base(f) != "go.mod" {
			continue
		}
		data, err := os.ReadFile(r.file(f))
		if err != nil {
			return nil, err
		}
		m := &module{repo: r, dir: path.Dir(f), path: modfile.ModulePath(data)}
		if m.path == "" {
			return nil, fmt.Errorf("%s names no module", f)
		}
		r.modules = append(r.modules, m)
	}
	slices.SortFunc(r.modules, func(a, b *module) int { return strings.Compare(a.prefix(), b.prefix()) })
	if len(r.modules) == 0 || r.modules[0].dir != "." {
		return nil, fmt.Errorf("%s has no go.mod file", dir)
	}
	for _, f := range files {
		m := r.moduleOf(f)
		m.files = append(m.files, f)
	}
	return r, nil
}

func (r *repo) file(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

// prefix returns the folder of the module as the start of a file name.
func (m *module) prefix() string {
	if m.dir == "." {
		return ""
	}
	return m.dir + "/"
}

// moduleOf returns the innermost module that contains a file.
func (r *repo) moduleOf(file string) *module {
	for _, m := range slices.Backward(r.modules) { // nested modules come later
		if strings.HasPrefix(file, m.prefix()) {
			return m
		}
	}
	return nil
}

// owner returns the module of a package, or of a module, by its import path, or
// nil for one of another repository.
func (r *repo) owner(pkg string) *module {
	for _, m := range slices.Backward(r.modules) {
		if pkg == m.path || strings.HasPrefix(pkg, m.path+"/") {
			return m
		}
	}
	return nil
}

// released returns the modules that users can require, each after the modules
// of the repository that it requires.
func (r *repo) released() []*module {
	var sorted []*module
	var add func(*module)
	add = func(m *module) {
		if m == nil || m.private() || slices.Contains(sorted, m) {
			return
		}
		if mod, err := m.mod(); err == nil { // publish reports it
			for _, req := range mod.Require {
				if s := r.owner(req.Mod.Path); s != m {
					add(s)
				}
			}
		}
		sorted = append(sorted, m)
	}
	for _, m := range r.modules {
		add(m)
	}
	return sorted
}

// private reports whether the module is never released, because it is used only
// in clones of the repository.
func (m *module) private() bool { return strings.HasPrefix(m.dir+"/", "tools/") }

// mod reads the go.mod file of the module.
func (m *module) mod() (*modfile.File, error) {
	name := m.repo.file(m.prefix() + "go.mod")
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(name, data, nil)
}

// tag returns the git tag of a version of the module.
func (m *module) tag(version string) string { return m.prefix() + version }

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

// writeFile writes a file and makes its folders.
func writeFile(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}
