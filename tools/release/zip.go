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
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// zipped is a file of a module's zip.
type zipped struct{ path, file string }

func (z zipped) Path() string                 { return z.path }
func (z zipped) Lstat() (os.FileInfo, error)  { return os.Lstat(z.file) }
func (z zipped) Open() (io.ReadCloser, error) { return os.Open(z.file) }

// zipFiles returns the files of the module's zip. Like the go command, it adds
// the licence of the repository to modules without one.
func (m *module) zipFiles() []zip.File {
	var files []zip.File
	for _, f := range m.files {
		files = append(files, zipped{strings.TrimPrefix(f, m.prefix()), m.repo.file(f)})
	}
	const licence = "LICENSE"
	if !slices.Contains(m.files, m.prefix()+licence) && slices.Contains(m.repo.files, licence) {
		files = append(files, zipped{licence, m.repo.file(licence)})
	}
	return files
}

// zip writes the zip of a version into a folder with the layout of a module
// proxy. It returns its lines of go.sum.
func (m *module) zip(version, proxy string) (sums []string, err error) {
	escaped, err := gomodule.EscapePath(m.path)
	if err != nil {
		return nil, err
	}
	base := filepath.Join(proxy, filepath.FromSlash(escaped), "@v")
	data, err := os.ReadFile(m.repo.file(m.prefix() + "go.mod"))
	if err != nil {
		return nil, err
	}
	for name, text := range map[string]string{
		"list":            version + "\n",
		version + ".info": fmt.Sprintf(`{"Version":%q,"Time":"2000-01-01T00:00:00Z"}`, version),
		version + ".mod":  string(data),
	} {
		if err := writeFile(filepath.Join(base, name), []byte(text)); err != nil {
			return nil, err
		}
	}
	name := filepath.Join(base, version+".zip")
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	err = errors.Join(zip.Create(file, gomodule.Version{Path: m.path, Version: version}, m.zipFiles()), file.Close())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.path, err)
	}
	all, err := dirhash.HashZip(name, dirhash.Hash1)
	if err != nil {
		return nil, err
	}
	mod, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return os.Open(filepath.Join(base, version+".mod"))
	})
	if err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("%s %s %s\n", m.path, version, all),
		fmt.Sprintf("%s %s/go.mod %s\n", m.path, version, mod),
	}, nil
}
