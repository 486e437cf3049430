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

// api is the exported API of a package: a line for each name, by its key.
//
// A key is a name, or a type and its field or method as in "Request.Resource".
// It has no names of parameters, because callers do not depend on them.
type api map[string]string

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

// apiOf returns the exported API of a package.
func apiOf(pkg *types.Package) api {
	p := &printer{pkg: pkg, api: api{}}
	for _, name := range pkg.Scope().Names() {
		if obj := pkg.Scope().Lookup(name); obj.Exported() {
			p.object(obj)
		}
	}
	return p.api
}

// printer prints the objects of a package.
type printer struct {
	pkg *types.Package
	api api
}

func (p *printer) object(obj types.Object) {
	switch obj := obj.(type) {
	case *types.Const:
		p.api[obj.Name()] = fmt.Sprintf("const %s %s = %s", obj.Name(), p.typ(obj.Type()), obj.Val().ExactString())
	case *types.Var:
		p.api[obj.Name()] = fmt.Sprintf("var %s %s", obj.Name(), p.typ(obj.Type()))
	case *types.Func:
		p.api[obj.Name()] = "func " + obj.Name() + p.signature(obj.Signature())
	case *types.TypeName:
		p.typeName(obj)
	}
}

func (p *printer) typeName(obj *types.TypeName) {
	name := obj.Name()
	if alias, ok := obj.Type().(*types.Alias); ok {
		p.api[name] = fmt.Sprintf("type %s%s = %s", name, p.params(alias.TypeParams()), p.typ(alias.Rhs()))
		return
	}
	named, ok := obj.Type().(*types.Named)
	if !ok {
		return
	}
	line := "type " + name + p.params(named.TypeParams()) + " "
	switch t := named.Underlying().(type) {
	case *types.Struct:
		line += "struct"
		for f := range t.Fields() {
			if f.Exported() {
				embedded := ""
				if f.Embedded() {
					embedded = " (embedded)"
				}
				p.api[name+"."+f.Name()] = fmt.Sprintf("field %s.%s %s%s", name, f.Name(), p.typ(f.Type()), embedded)
			}
		}
	case *types.Interface:
		line += p.interfaceType(t)
	default:
		line += p.typ(t)
	}
	p.api[name] = line
	if types.IsInterface(named) {
		return
	}
	for sel := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		m, ok := sel.Obj().(*types.Func)
		if !ok || !m.Exported() {
			continue
		}
		receiver := name
		if types.NewMethodSet(named).Lookup(m.Pkg(), m.Name()) == nil {
			receiver = "*" + name
		}
		sig, ok := sel.Type().(*types.Signature)
		if ok {
			p.api[name+"."+m.Name()] = fmt.Sprintf("method (%s) %s%s", receiver, m.Name(), p.signature(sig))
		}
	}
}

// interfaceType prints an interface with all its methods, since a new one
// breaks implementations.
func (p *printer) interfaceType(t *types.Interface) string {
	var parts []string
	hidden := false
	for m := range t.Methods() {
		if m.Exported() {
			parts = append(parts, m.Name()+p.signature(m.Signature()))
		} else {
			hidden = true
		}
	}
	slices.Sort(parts)
	for e := range t.EmbeddedTypes() {
		if !types.IsInterface(e) || !isMethods(e) {
			parts = append(parts, p.typ(e))
		}
	}
	if hidden {
		parts = append(parts, "unexported methods")
	}
	if len(parts) == 0 {
		return "interface{}"
	}
	return "interface{ " + strings.Join(parts, "; ") + " }"
}

// isMethods reports whether an embedded interface adds only methods. They are
// in the list of Methods.
func isMethods(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.IsMethodSet()
}

func (p *printer) signature(sig *types.Signature) string {
	text := p.params(sig.TypeParams()) + "(" + p.tuple(sig.Params(), sig.Variadic()) + ")"
	switch results := sig.Results(); results.Len() {
	case 0:
		return text
	case 1:
		return text + " " + p.typ(results.At(0).Type())
	default:
		return text + " (" + p.tuple(results, false) + ")"
	}
}

func (p *printer) tuple(t *types.Tuple, variadic bool) string {
	var parts []string
	for i := range t.Len() {
		typ := t.At(i).Type()
		if slice, ok := typ.(*types.Slice); ok && variadic && i == t.Len()-1 {
			parts = append(parts, "..."+p.typ(slice.Elem()))
			continue
		}
		parts = append(parts, p.typ(typ))
	}
	return strings.Join(parts, ", ")
}

func (p *printer) params(list *types.TypeParamList) string {
	if list.Len() == 0 {
		return ""
	}
	var parts []string
	for t := range list.TypeParams() {
		parts = append(parts, t.Obj().Name()+" "+p.typ(t.Constraint()))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func (p *printer) typ(t types.Type) string {
	if sig, ok := t.(*types.Signature); ok {
		return "func" + p.signature(sig)
	}
	return types.TypeString(t, func(other *types.Package) string {
		if other == p.pkg {
			return ""
		}
		return other.Name()
	})
}

// gone returns the sorted keys of old that are missing in now or have another
// text there. For a missing type it does not list the fields and methods.
func (now api) gone(old api) []string {
	var keys []string
	for key, line := range old {
		owner, _, member := strings.Cut(key, ".")
		if _, kept := now[owner]; now[key] != line && (!member || kept) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// goldenFile is the file that records the API of a package.
func (m *module) goldenFile(pkg string) string {
	rel := strings.TrimPrefix(strings.TrimPrefix(pkg, m.path), "/")
	name := path.Join(m.dir, rel)
	if name == "." {
		name = path.Base(m.path)
	}
	return apiDir + name + ".txt"
}
