package main

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/exp/apidiff"
)

// diff prints the changes of exported names of each module since a commit or
// tag, as apidiff reports them: first the changes that break users, then the
// others.
func (r *repo) diff(ref string, w io.Writer) error {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	before, err := r.at(ref, dir)
	if err != nil {
		return err
	}
	for _, m := range r.released() {
		old := before.sibling(m.path)
		if old == nil || !m.promised() {
			continue
		}
		was, err := old.load()
		if err != nil {
			return err
		}
		is, err := m.load()
		if err != nil {
			return err
		}
		report := apidiff.ModuleChanges(&apidiff.Module{Path: m.path, Packages: was}, &apidiff.Module{Path: m.path, Packages: is})
		fmt.Fprintln(w, m.path)
		if err := report.Text(w); err != nil {
			return err
		}
	}
	return nil
}

// at writes the tree of a commit or tag into a folder.
func (r *repo) at(ref, dir string) (*repo, error) {
	archive, tree := filepath.Join(dir, "tree.zip"), filepath.Join(dir, "tree")
	if _, err := output(r.dir, nil, "git", "archive", "--format=zip", "--output="+archive, ref); err != nil {
		return nil, err
	}
	files, err := zip.OpenReader(archive)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.CopyFS(tree, files), files.Close()); err != nil {
		return nil, err
	}
	list, err := output(r.dir, nil, "git", "ls-tree", "-r", "-z", "--name-only", ref)
	if err != nil {
		return nil, err
	}
	return newRepo(tree, strings.Split(strings.TrimSuffix(list, "\x00"), "\x00"))
}
