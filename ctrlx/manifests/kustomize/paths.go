//lint:file-ignore SA1019 bases of users may still have the deprecated fields

package kustomize

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
)

// load checks each kustomization of the files.
func (g *generator[P]) load() error {
	if !g.isBase(g.dir) {
		return errors.New("it has no kustomization.yaml")
	}
	for file := range g.files {
		dir, name := path.Split(file)
		if !slices.Contains(konfig.RecognizedKustomizationFileNames(), name) {
			continue
		}
		var k types.Kustomization
		err := k.Unmarshal(g.files[file])
		if err == nil {
			err = g.check(dir, k)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", strings.TrimPrefix(file, filesFolder+"/"), err)
		}
	}
	return nil
}

// isBase reports whether a folder has a kustomization.
func (g *generator[P]) isBase(dir string) bool {
	return slices.ContainsFunc(konfig.RecognizedKustomizationFileNames(), func(name string) bool {
		_, found := g.files[path.Join(dir, name)]
		return found
	})
}

// remote matches paths that Kustomize downloads, also if there is such a folder.
var remote = regexp.MustCompile(`(?i)^(git::)?github\.com[/:]|://`)

// check returns an error for each path of a kustomization in dir that is not part
// of the files: Kustomize would download it. It returns an error for plugins, too,
// because they have paths, and a kustomization may change a plugin.
func (g *generator[P]) check(dir string, k types.Kustomization) error {
	if plugins := slices.Concat(k.Generators, k.Transformers, k.Validators); len(plugins) > 0 {
		return fmt.Errorf("%q is a plugin, which may download files: use the fields of the kustomization", plugins[0])
	}
	paths := slices.Concat(k.Resources, k.Bases, k.Components, k.Crds, k.Configurations)
	if file, found := k.OpenAPI["path"]; found {
		paths = append(paths, file)
	}
	for _, patch := range k.PatchesStrategicMerge {
		if !strings.Contains(string(patch), "\n") { // else it is the patch itself
			paths = append(paths, string(patch))
		}
	}
	for _, patch := range slices.Concat(k.Patches, k.PatchesJson6902) {
		paths = append(paths, patch.Path)
	}
	for _, r := range k.Replacements {
		paths = append(paths, r.Path)
	}
	data := make([]types.KvPairSources, 0, len(k.ConfigMapGenerator)+len(k.SecretGenerator))
	for _, c := range k.ConfigMapGenerator {
		data = append(data, c.KvPairSources)
	}
	for _, s := range k.SecretGenerator {
		data = append(data, s.KvPairSources)
	}
	for _, d := range data {
		paths = append(append(paths, d.EnvSources...), d.EnvSource)
		for _, file := range d.FileSources {
			paths = append(paths, file[strings.Index(file, "=")+1:])
		}
	}
	for _, p := range paths {
		if p == "" { // a patch in the kustomization itself
			continue
		}
		_, isFile := g.files[path.Join(dir, p)]
		if !isFile && !g.isBase(path.Join(dir, p)) || path.IsAbs(p) || remote.MatchString(p) {
			return fmt.Errorf("%q is no file and no folder with a kustomization in the given files", p)
		}
	}
	return nil
}
