package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// publish writes a version into the go.mod and go.sum files of the released
// modules. It writes their zips into a folder with the layout of a module
// proxy.
func (r *repo) publish(version, proxy string) error {
	if semver.Canonical(version) != version {
		return fmt.Errorf("%q is not a version such as v1.2.3", version)
	}
	sums := map[string][]string{} // by module path
	for _, m := range r.released() {
		if err := m.require(version, sums); err != nil {
			return err
		}
		lines, err := m.zip(version, proxy)
		if err != nil {
			return err
		}
		sums[m.path] = lines
	}
	return nil
}

// require makes the module require its siblings at a version instead of
// replacing them. The siblings must have been published before.
func (m *module) require(version string, sums map[string][]string) error {
	mod, err := m.mod()
	if err != nil {
		return err
	}
	var lines []string
	for _, req := range slices.Clone(mod.Require) {
		path := req.Mod.Path
		if m.repo.owner(path) == nil {
			continue
		}
		if sums[path] == nil {
			return fmt.Errorf("%s requires %s, which is not released before it", m.path, path)
		}
		lines = append(lines, sums[path]...)
		if err := mod.AddRequire(path, version); err != nil {
			return err
		}
	}
	for _, rep := range slices.Clone(mod.Replace) {
		if m.repo.owner(rep.Old.Path) == nil {
			continue
		}
		if err := mod.DropReplace(rep.Old.Path, rep.Old.Version); err != nil {
			return err
		}
	}
	mod.Cleanup()
	text, err := mod.Format()
	if err != nil {
		return err
	}
	if err := os.WriteFile(m.repo.file(m.prefix()+"go.mod"), text, 0o644); err != nil {
		return err
	}
	return m.addSums(lines)
}

// addSums replaces the lines of siblings in the module's go.sum file.
func (m *module) addSums(lines []string) error {
	name := m.repo.file(m.prefix() + "go.sum")
	data, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for line := range strings.Lines(string(data)) {
		if path, _, _ := strings.Cut(line, " "); m.repo.owner(path) == nil {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	slices.SortStableFunc(lines, func(a, b string) int { // versions keep their order
		return strings.Compare(strings.Fields(a)[0], strings.Fields(b)[0])
	})
	return writeFile(filepath.Clean(name), []byte(strings.Join(lines, "")))
}
