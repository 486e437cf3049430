package kustomize

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/windlass-go/windlass/ctrlx/manifests"
)

// The folders of the files, and of the kustomization that overlay returns.
const (
	filesFolder   = "/files"
	overlayFolder = "/overlay"
)

// Base returns a generator of the kustomization in the folder dir of fsys,
// usually an embed.FS. P is the type of the value that GetSpec returns.
//
// The function overlay returns a kustomization for one component, such as a
// prefix of names, images, replicas and patches. Base adds dir to its resources.
// Its paths begin with ../files, which is fsys: a component in the folder tls
// is ../files/tls. If overlay is nil, the base is used as it is. Its values are
// typed, so a text of a user is data, unless overlay pastes it into a patch.
//
// Every path of a kustomization must be a file or a folder of fsys. Plugins
// (generators, transformers and validators) and Helm charts are errors. So nothing
// is downloaded.
//
// Base panics if dir has no kustomization, or fsys has one that is not valid.
// All generators share a lock, because Kustomize builds one set at a time.
func Base[P any](fsys fs.FS, dir string, overlay func(namespace, name string, parameters P) (types.Kustomization, error)) manifests.Generator {
	g := &generator[P]{files: map[string][]byte{}, dir: path.Join(filesFolder, dir), overlay: overlay}
	err := fs.WalkDir(fsys, ".", func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			g.files[path.Join(filesFolder, file)], err = fs.ReadFile(fsys, file)
		}
		return err
	})
	if err == nil {
		err = g.load()
	}
	if err != nil {
		panic(fmt.Sprintf("kustomize: Base: %q: %v", dir, err))
	}
	return manifests.GeneratorFunc[P](g.generate)
}

type generator[P any] struct {
	files   map[string][]byte
	dir     string
	overlay func(namespace, name string, parameters P) (types.Kustomization, error)
}

// building is held during each build: the schema of Kustomize is a variable of
// its package.
var building sync.Mutex

func (g *generator[P]) generate(ctx context.Context, namespace, name string, parameters P) ([]client.Object, error) {
	from, disk := g.dir, filesys.MakeFsInMemory()
	for file, text := range g.files {
		if err := disk.WriteFile(file, text); err != nil {
			return nil, err
		}
	}
	if g.overlay != nil {
		k, err := g.overlay(namespace, name, parameters)
		if err != nil {
			return nil, err
		}
		from = overlayFolder
		k.Resources = append([]string{".." + g.dir}, k.Resources...)
		text, err := yaml.Marshal(k)
		if err == nil {
			err = disk.WriteFile(path.Join(from, "kustomization.yaml"), text)
		}
		if err == nil {
			err = g.check(from, k)
		}
		if err != nil {
			return nil, fmt.Errorf("overlay: %w", err)
		}
	}
	building.Lock()
	defer building.Unlock()
	all, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, from)
	if err != nil {
		return nil, err
	}
	text, err := all.AsYaml()
	if err != nil {
		return nil, err
	}
	objects, err := manifests.ParseYAML(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return objects, ctx.Err()
}
