package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// programs is the folder with the programs of consumers. The folder of each is
// named after that of its module, or root. A consumer also builds every package
// of its module.
const programs = "tools/release/testdata/consumers/"

// readmeProgram is the folder of the program that the README shows. The program
// joins the consumer of the root.
const readmeProgram = "examples/first"

// checkConsumers builds and tests a consumer of each module, outside of the
// repository and without its workspace. The modules are those that a proxy would
// have after a release.
func (r *repo) checkConsumers(progress io.Writer) error {
	const version = "v0.0.0-rehearsal"
	return r.published(version, func(released *repo, unpacked string) error {
		var errs []error
		for _, m := range released.released() {
			fmt.Fprintln(progress, "release: consumer of", m.path())
			if err := released.checkConsumer(m, version, unpacked); err != nil {
				errs = append(errs, fmt.Errorf("the consumer of %s: %w", m.path(), err))
			}
		}
		return errors.Join(errs...)
	})
}

// checkConsumer builds and tests a consumer of the module in a new folder.
func (r *repo) checkConsumer(m *module, version, unpacked string) error {
	dir := filepath.Join(filepath.Dir(unpacked), "consumers", m.dir, "consumer")
	folders := map[string]string{programs + m.dir: "."}
	if m.dir == "." {
		folders = map[string]string{programs + "root": ".", readmeProgram: "readme"}
	}
	for from, to := range folders {
		if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(r.file(from))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	// A module without a program has a package, too.
	if err := writeFile(filepath.Join(dir, "empty", "consumer.go"), []byte("package empty\n")); err != nil {
		return err
	}
	edit := []string{"mod", "edit", "-require=" + m.path() + "@" + version}
	for _, sibling := range r.released() {
		edit = append(edit, "-replace="+sibling.path()+"="+filepath.Join(unpacked, sibling.folder()))
	}
	env := []string{"GOWORK=off", "GOSUMDB=off"} // the modules are folders, so no server knows their sums
	for _, args := range [][]string{
		{"mod", "init", "consumer.test"}, edit, {"build", "-mod=mod", m.path() + "/..."}, {"vet", "-mod=mod", "./..."}, {"test", "-mod=mod", "./..."},
	} {
		if _, err := output(dir, env, "go", args...); err != nil {
			return err
		}
	}
	return nil
}
