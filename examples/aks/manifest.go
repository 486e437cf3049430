package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/windlass-go/windlass/checks"
)

//go:embed manifests/*.yaml
var shipped embed.FS

// Manifests holds the resources of the files, in order.
type Manifests struct {
	Clusters []*Cluster
	Pools    []*AgentPool
	Subnets  []*Subnet
	places   map[string]string // the document of each resource, by its Ref in lower case
}

// LoadManifests reads the YAML files of a folder, or the embedded ones if dir
// is empty. An error is one line that names the file, the document and the
// field.
func LoadManifests(dir string) (*Manifests, error) {
	if dir == "" {
		return readManifests(shipped, "manifests", "manifests")
	}
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: the folder does not exist", dir)
	case err != nil:
		return nil, fmt.Errorf("%s: the folder cannot be read: %w", dir, err)
	case !info.IsDir():
		return nil, fmt.Errorf("%s: this is a file; use its folder", dir)
	}
	return readManifests(os.DirFS(dir), ".", dir)
}

// readManifests reads the folder at of fsys. Errors call it name.
func readManifests(fsys fs.FS, at, name string) (*Manifests, error) {
	entries, err := fs.ReadDir(fsys, at)
	if err != nil {
		return nil, fmt.Errorf("%s: the folder cannot be read: %w", name, err)
	}
	all := &Manifests{places: map[string]string{}}
	files := 0
	for _, e := range entries {
		if ext := path.Ext(e.Name()); e.IsDir() || ext != ".yaml" && ext != ".yml" {
			continue
		}
		files++
		shown := name + "/" + e.Name()
		text, err := fs.ReadFile(fsys, path.Join(at, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("%s: the file cannot be read: %w", shown, err)
		}
		if err := all.read(shown, text); err != nil {
			return nil, err
		}
	}
	switch {
	case files == 0:
		return nil, fmt.Errorf("%s: no *.yaml or *.yml file in this folder", name)
	case len(all.Clusters)+len(all.Pools) == 0:
		return nil, fmt.Errorf("%s: no resource to reconcile; add at least one %s or %s", name, clusterKind, poolKind)
	}
	return all, nil
}

// read adds the documents of one file. It decodes each document twice: into a
// node, for its kind, and strictly into the type of that kind. A single decoder
// reads the whole file, so the lines in errors are those of the file.
func (m *Manifests) read(file string, text []byte) error {
	loose, strict := yaml.NewDecoder(bytes.NewReader(text)), yaml.NewDecoder(bytes.NewReader(text))
	strict.KnownFields(true)
	for n := 1; ; n++ {
		place := fmt.Sprintf("%s: document %d", file, n)
		var doc yaml.Node
		err := loose.Decode(&doc)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: not YAML: %s", place, oneLine(err, nil))
		}
		if err := m.document(place, &doc, strict); err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
	}
}

// resource is implemented by all kinds.
type resource interface {
	Ref() checks.Ref
	validate() error
}

func (m *Manifests) document(place string, doc *yaml.Node, strict *yaml.Decoder) error {
	decode := func(into resource) error {
		if err := strict.Decode(into); err != nil {
			return errors.New(oneLine(err, doc))
		}
		if err := into.validate(); err != nil {
			return err
		}
		return m.add(into.Ref().String(), place)
	}
	if empty(doc) { // only comments
		return strict.Decode(new(any))
	}
	kind, err := kindOf(doc)
	if err != nil {
		return err
	}
	switch kind {
	case clusterKind:
		c := &Cluster{Meta: Meta{Generation: 1}}
		m.Clusters = append(m.Clusters, c)
		return decode(c)
	case poolKind:
		p := &AgentPool{Meta: Meta{Generation: 1}}
		m.Pools = append(m.Pools, p)
		return decode(p)
	case subnetKind:
		s := &Subnet{Meta: Meta{Generation: 1}}
		m.Subnets = append(m.Subnets, s)
		return decode(s)
	}
	return fmt.Errorf("kind: unknown kind %q: use %s, %s and %s", kind, clusterKind, poolKind, subnetKind)
}

// add records the document of a resource. Names in Azure compare without case.
func (m *Manifests) add(resource, place string) error {
	key := strings.ToLower(resource)
	if other, twice := m.places[key]; twice {
		return fmt.Errorf("metadata.name: %s is already defined in %s", resource, other)
	}
	m.places[key] = place
	return nil
}
