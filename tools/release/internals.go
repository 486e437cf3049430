package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// checkInternals reports imports of another module's internal packages, also in
// tests. Such an import compiles, but any upgrade of the other module may break
// it.
func (r *repo) checkInternals() error {
	var errs []error
	for _, m := range r.modules {
		for _, f := range m.files {
			if path.Ext(f) != ".go" || strings.Contains("/"+f, "/testdata/") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), r.file(f), nil, parser.ImportsOnly)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			for _, spec := range file.Imports {
				imported, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", f, err))
					continue
				}
				if owner := r.owner(imported); internal(imported) && owner != nil && owner != m {
					errs = append(errs, fmt.Errorf("%s imports %s: that is internal to the module %s", f, imported, owner.path))
				}
			}
		}
	}
	return errors.Join(errs...)
}

// internal reports whether an import path or a folder is inside an internal
// folder.
func internal(pkg string) bool { return strings.Contains("/"+pkg+"/", "/internal/") }

// checkCopies reports internal helpers of nested modules that differ from the
// helpers with the same name in the root. They are copies, because no module
// imports another module's internal packages.
func (r *repo) checkCopies() error {
	var errs []error
	for _, m := range r.modules[1:] {
		for _, f := range m.files {
			original := strings.TrimPrefix(f, m.prefix())
			if !strings.HasPrefix(original, "internal/") || !slices.Contains(r.modules[0].files, original) {
				continue
			}
			copied, err := os.ReadFile(r.file(f))
			if err != nil {
				return err
			}
			data, err := os.ReadFile(r.file(original))
			if err != nil {
				return err
			}
			if !bytes.Equal(copied, data) {
				errs = append(errs, fmt.Errorf("%s differs from %s: make them the same, or rename one", f, original))
			}
		}
	}
	return errors.Join(errs...)
}
