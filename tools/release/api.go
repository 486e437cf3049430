package main

import (
	"errors"
	"fmt"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// apiDir has a file with the exported names of each package that VERSIONING.md
// covers, so that a review shows their changes.
const apiDir = "tools/api"

// load type-checks the packages of a module that users can import.
func (r *repo) load(m *module) (pkgs []*types.Package, err error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedExportFile | packages.NeedTypes,
		Dir:  r.file(m.dir),
		Env:  append(os.Environ(), "GOWORK=off"), // users have no workspace
	}, "./...")
	for _, p := range loaded {
		for _, e := range p.Errors {
			err = errors.Join(err, e)
		}
		if p.Name != "main" && !internal(p.PkgPath) && p.Types != nil {
			pkgs = append(pkgs, p.Types)
		}
	}
	return pkgs, err
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

// writeAPI writes the files of exported names into a new folder. An old folder stays if a package does not compile.
func (r *repo) writeAPI(dir string) error {
	files := map[string]string{}
	for _, m := range r.released() {
		if !m.promised() {
			continue
		}
		pkgs, err := r.load(m)
		if err != nil {
			return err
		}
		for _, pkg := range pkgs {
			name := strings.TrimPrefix(pkg.Path(), r.modules[0].path()+"/")
			if pkg.Path() == r.modules[0].path() {
				name = path.Base(name)
			}
			if len(pkg.Scope().Names()) > 0 {
				files[name+".txt"] = names(pkg)
			}
		}
	}
	err := os.RemoveAll(dir)
	for name, text := range files {
		err = errors.Join(err, writeFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text)))
	}
	return err
}

// checkAPI reports stale files of exported names.
func (r *repo) checkAPI() error {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := r.writeAPI(filepath.Join(dir, "api")); err != nil {
		return err
	}
	if _, err := output(".", nil, "diff", "-ruN", r.file(apiDir), filepath.Join(dir, "api")); err != nil {
		return fmt.Errorf("%s is stale, run make api: %w", apiDir, err)
	}
	return nil
}
