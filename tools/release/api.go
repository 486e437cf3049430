package main

import (
	"errors"
	"fmt"
	"go/types"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// apiDir has a file with the exported names of each package that VERSIONING.md
// covers, so that a review shows their changes.
const apiDir = "tools/api/"

// promised reports whether VERSIONING.md makes promises for the module.
// Examples are copied, not imported.
func (m *module) promised() bool {
	return !m.private() && m.dir != "examples" && !strings.HasPrefix(m.dir, "examples/")
}

// load type-checks the packages of the module that users can import.
func (m *module) load() ([]*types.Package, error) {
	cfg := &packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedExportFile | packages.NeedTypes,
		Dir:  m.repo.file(m.dir),
		Env:  append(os.Environ(), "GOWORK=off"), // users have no workspace
	}
	loaded, err := packages.Load(cfg, "./...")
	if err != nil {
		return nil, err
	}
	var errs []error
	var pkgs []*types.Package
	for _, p := range loaded {
		for _, err := range p.Errors {
			errs = append(errs, err)
		}
		if p.Name != "main" && !internal(p.PkgPath) && p.Types != nil {
			pkgs = append(pkgs, p.Types)
		}
	}
	return pkgs, errors.Join(errs...)
}

// names returns the exported names of a package, one a line. A key is a name, or a
// type and its field or method as in "Request.Resource".
func names(pkg *types.Package) string {
	var lines []string
	short := func(other *types.Package) string {
		if other == pkg {
			return ""
		}
		return other.Name()
	}
	add := func(key string, obj types.Object, more string) {
		if obj.Exported() {
			lines = append(lines, key+": "+types.ObjectString(obj, short)+more+"\n")
		}
	}
	for _, name := range pkg.Scope().Names() {
		obj := pkg.Scope().Lookup(name)
		named, isNamed := obj.Type().(*types.Named)
		if _, isType := obj.(*types.TypeName); !isType || !isNamed || !obj.Exported() {
			value := ""
			if c, ok := obj.(*types.Const); ok {
				value = " = " + c.Val().ExactString()
			}
			add(name, obj, value)
			continue
		}
		kind := types.TypeString(named.Underlying(), short)
		s, ok := named.Underlying().(*types.Struct)
		if ok {
			kind = "struct"
			for f := range s.Fields() {
				add(name+"."+f.Name(), f, "")
			}
		}
		lines = append(lines, fmt.Sprintf("%s: type %s %s\n", name, types.TypeString(named, short), kind))
		for m := range types.NewMethodSet(types.NewPointer(named)).Methods() {
			if i := m.Index(); len(i) > 1 && s != nil && s.Field(i[0]).Exported() {
				continue // the line of the embedded type has it
			}
			add(name+"."+m.Obj().Name(), m.Obj(), "")
		}
	}
	slices.Sort(lines)
	return "# The exported names of " + pkg.Path() + ". make api writes this file.\n" + strings.Join(lines, "")
}

// apiFiles returns the texts of the files in apiDir, by name.
func (r *repo) apiFiles() (map[string]string, error) {
	files := map[string]string{}
	for _, m := range r.released() {
		if !m.promised() {
			continue
		}
		pkgs, err := m.load()
		if err != nil {
			return nil, err
		}
		for _, pkg := range pkgs {
			name := path.Join(m.dir, strings.TrimPrefix(pkg.Path(), m.path))
			if name == "." {
				name = path.Base(m.path)
			}
			if len(pkg.Scope().Names()) > 0 {
				files[apiDir+name+".txt"] = names(pkg)
			}
		}
	}
	return files, nil
}

// writeAPI writes the files of exported names.
func (r *repo) writeAPI() error {
	files, err := r.apiFiles()
	if err != nil {
		return err
	}
	if err := os.RemoveAll(r.file(apiDir)); err != nil {
		return err
	}
	for name, text := range files {
		err = errors.Join(err, writeFile(r.file(name), []byte(text)))
	}
	return err
}

// checkAPI reports stale files of exported names.
func (r *repo) checkAPI() error {
	files, err := r.apiFiles()
	if err != nil {
		return err
	}
	for _, f := range r.files { // of packages that are gone
		if _, ok := files[f]; !ok && strings.HasPrefix(f, apiDir) {
			files[f] = ""
		}
	}
	var errs []error
	for name, text := range files {
		have, err := os.ReadFile(r.file(name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if string(have) != text {
			errs = append(errs, fmt.Errorf("%s is stale, run make api", name))
		}
	}
	return errors.Join(errs...)
}
