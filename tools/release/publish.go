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
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// publish writes a version into the go.mod and go.sum files of the released
// modules of r, a copy of the repository. It unpacks the zip of each, as users get it.
func (r *repo) publish(version, to string) error {
	if semver.Canonical(version) != version {
		return fmt.Errorf("%q is not a version such as v1.2.3", version)
	}
	sums := map[string][]string{} // by module path
	for _, m := range r.released() {
		err := r.require(m, version, sums)
		if err == nil {
			sums[m.path()], err = r.unpack(m, version, to)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.path(), err)
		}
	}
	return nil
}

// require makes the module require its siblings at a version instead of
// replacing them. The siblings must have been published before.
func (r *repo) require(m *module, version string, sums map[string][]string) error {
	var lines []string
	for _, req := range slices.Clone(m.mod.Require) {
		name := req.Mod.Path
		if r.owner(name) == nil {
			continue
		}
		if sums[name] == nil {
			return fmt.Errorf("it requires %s, which is not released before it", name)
		}
		lines = append(lines, sums[name]...)
		if err := errors.Join(m.mod.AddRequire(name, version), m.mod.DropReplace(name, "")); err != nil {
			return err
		}
	}
	if m.mod.Cleanup(); len(m.mod.Replace)+len(m.mod.Exclude) > 0 {
		return errors.New("a replace or an exclude directive remains: users could not install its programs")
	}
	text, err := m.mod.Format()
	if err != nil {
		return err
	}
	sum := r.file(m.dir + "/go.sum")
	data, err := os.ReadFile(sum)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for line := range strings.Lines(string(data)) {
		if name, _, _ := strings.Cut(line, " "); r.owner(name) == nil {
			lines = append(lines, line)
		}
	}
	slices.SortStableFunc(lines, func(a, b string) int { // versions keep their order
		return strings.Compare(strings.Fields(a)[0], strings.Fields(b)[0])
	})
	if len(lines) > 0 {
		if err := writeFile(sum, []byte(strings.Join(lines, ""))); err != nil {
			return err
		}
	}
	return writeFile(r.file(m.dir+"/go.mod"), text)
}

// folder returns the name of the folder of the unpacked zip.
func (m *module) folder() string { return strings.ReplaceAll(m.path(), "/", "_") }

// unpack makes the zip of the module as a module proxy does, and unpacks it. Like
// the go command, it adds the licence of the repository to a module without one.
// It returns the lines of go.sum.
func (r *repo) unpack(m *module, version, to string) (sums []string, err error) {
	licence, err := os.ReadFile(r.file("LICENSE"))
	if _, has := os.Stat(r.file(m.dir + "/LICENSE")); has != nil && err == nil {
		if err := writeFile(r.file(m.dir+"/LICENSE"), licence); err != nil {
			return nil, err
		}
	}
	file, err := os.CreateTemp(filepath.Dir(to), "*.zip")
	if err != nil {
		return nil, err
	}
	v, unpacked := gomodule.Version{Path: m.path(), Version: version}, filepath.Join(to, m.folder())
	if err := errors.Join(zip.CreateFromDir(file, v, r.file(m.dir)), file.Close()); err != nil {
		return nil, err
	}
	if err := zip.Unzip(unpacked, v, file.Name()); err != nil {
		return nil, err
	}
	all, err := dirhash.HashDir(unpacked, v.String(), dirhash.Hash1)
	if err != nil {
		return nil, err
	}
	mod, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return os.Open(filepath.Join(unpacked, "go.mod")) })
	return []string{
		fmt.Sprintf("%s %s %s\n", m.path(), version, all),
		fmt.Sprintf("%s %s/go.mod %s\n", m.path(), version, mod),
	}, err
}

// write writes a version into the working tree and prints its tags.
func (r *repo) write(version string, w io.Writer) error {
	return r.published(version, func(released *repo, _ string) error {
		for _, m := range released.released() {
			for _, name := range []string{"go.mod", "go.sum"} {
				data, err := os.ReadFile(released.file(m.dir + "/" + name))
				if err == nil {
					err = os.WriteFile(r.file(m.dir+"/"+name), data, 0o644)
				}
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
			fmt.Fprintln(w, strings.TrimPrefix(m.dir+"/"+version, "./"))
		}
		return nil
	})
}

// published calls do with a copy of the repository at a version, and with the
// folder of the unpacked zips.
func (r *repo) published(version string, do func(released *repo, unpacked string) error) error {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	released, err := r.copyTo(filepath.Join(dir, "repo"))
	if err != nil {
		return err
	}
	unpacked := filepath.Join(dir, "zips")
	if err := released.publish(version, unpacked); err != nil {
		return err
	}
	return do(released, unpacked)
}
