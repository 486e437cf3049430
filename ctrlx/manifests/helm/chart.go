package helm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"helm.sh/helm/v4/pkg/chart/common"
	values "helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	"helm.sh/helm/v4/pkg/ignore"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/manifests"
)

// Chart returns a generator of the chart in the folder dir of fsys, usually an
// embed.FS. Embed it with all:, so that files whose name begins with _ are part
// of it. The chart includes its dependencies and all that its schemas refer to:
// nothing is downloaded. The reconciler is the name that component.New has:
// annotations of policies begin with it.
//
// The namespace and the name of the component are those of the release. The
// values are the parameters as JSON, over those of values.yaml. They must
// meet the schema of the chart. A template sees the first installation in each pass, and
// Kubernetes in the version that Helm was built for:
// .Release.IsInstall is true, and .Capabilities has its defaults.
//
// The result depends on the arguments only. So a template that executes one of
// these functions is an error: lookup, the functions of the time and of dates,
// and those that make random values, keys and certificates. The functions keys
// and values sort by the key. Values of a user are data, unless the chart gives
// them to tpl.
//
// The definitions in the folder crds are part of the set. A component upgrades
// and deletes them, and its link Guard keeps definitions that are in use.
//
// An object with the annotation helm.sh/resource-policy: keep gets the delete
// policy Orphan, unless the chart gives it another one.
//
// Hooks become objects of the set, with the annotations that the component
// knows. Those of pre-install and pre-upgrade are applied before all others,
// those of post-install and post-upgrade after them, in the order of their
// weights, from -9999 to 9999. A hook of all four is applied before all others. A
// hook of both install and upgrade runs again if the component changed. A hook
// of install runs once.
//
// The policy before-hook-creation, the default, is Recreate. With hook-succeeded
// a hook is purged after all hooks of its event. The policy hook-failed has no
// effect: a failed hook stays. No policy deletes a definition. Hooks of tests and
// rollbacks are left out. Other hooks and combinations are an error, such as
// those of a deletion and those of an upgrade alone: use the hooks of the
// component.
//
// Chart panics if the folder has no valid chart.
func Chart(reconciler string, fsys fs.FS, dir string) manifests.Generator {
	files, err := read(fsys, dir)
	var loaded *chart.Chart
	if err == nil {
		loaded, err = loader.LoadFiles(files)
	}
	if err == nil {
		err = offline(loaded)
	}
	if err != nil {
		panic(fmt.Sprintf("helm: Chart: %q: %v", dir, err))
	}
	return &generator{reconciler, files}
}

// read returns the files of a chart without those that .helmignore names.
func read(fsys fs.FS, dir string) (files []*archive.BufferedFile, err error) {
	if fsys, err = fs.Sub(fsys, dir); err != nil {
		return nil, err
	}
	rules := ignore.Empty()
	text, err := fs.ReadFile(fsys, ignore.HelmIgnore)
	if err == nil {
		rules, err = ignore.Parse(bytes.NewReader(text))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	rules.AddDefaults()
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case rules.Ignore(name, info) && d.IsDir():
			return fs.SkipDir
		case rules.Ignore(name, info) || d.IsDir():
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		files = append(files, &archive.BufferedFile{Name: name, Data: bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF"))})
		return err
	})
	return files, err
}

// offline returns an error if a schema refers to another file or to a server.
// Helm would read it in each pass.
func offline(c *chart.Chart) error {
	if c.Schema != nil {
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(c.Schema))
		compiler := jsonschema.NewCompiler()
		compiler.UseLoader(jsonschema.SchemeURLLoader{})
		if err == nil {
			err = compiler.AddResource("file:///values.schema.json", schema) // as Helm names it
		}
		if err == nil {
			_, err = compiler.Compile("file:///values.schema.json")
		}
		if err != nil {
			return fmt.Errorf("%s: values.schema.json: %w", c.Name(), err)
		}
	}
	for _, dependency := range c.Dependencies() {
		if err := offline(dependency); err != nil {
			return err
		}
	}
	return nil
}

type generator struct {
	reconciler string
	files      []*archive.BufferedFile
}

// Generate implements manifests.Generator. An error names the template.
func (g *generator) Generate(ctx context.Context, namespace, name string, parameters any) ([]client.Object, error) {
	loaded, err := loader.LoadFiles(g.files) // the values of a release change a chart
	if err != nil {
		return nil, err
	}
	given := map[string]any{}
	text, err := json.Marshal(parameters)
	if err == nil {
		err = utiljson.Unmarshal(text, &given) // whole numbers stay whole
	}
	if err != nil {
		return nil, fmt.Errorf("values: %w", err)
	}
	if err := util.ProcessDependencies(loaded, given); err != nil {
		return nil, fmt.Errorf("dependencies: %w", err)
	}
	release := common.ReleaseOptions{Name: name, Namespace: namespace, Revision: 1, IsInstall: true}
	all, err := values.ToRenderValues(loaded, given, release, nil)
	if err != nil {
		return nil, err
	}
	rendered, err := engine.Engine{CustomTemplateFuncs: functions}.RenderWithContext(ctx, loaded, all)
	if err != nil {
		return nil, err
	}
	for _, crd := range loaded.CRDObjects() {
		rendered[crd.Filename] = string(crd.File.Data)
	}
	objects := []client.Object{} // a chart without objects is no mistake
	for _, file := range slices.Sorted(maps.Keys(rendered)) {
		if strings.HasPrefix(path.Base(file), "_") || strings.HasSuffix(file, "NOTES.txt") {
			continue
		}
		parsed, err := manifests.ParseYAML(strings.NewReader(rendered[file]))
		for _, obj := range parsed {
			var kept bool
			if kept, err = g.hook(obj); err != nil {
				err = fmt.Errorf("%s %s: %w", obj.GetObjectKind().GroupVersionKind().Kind, obj.GetName(), err)
				break
			}
			if kept {
				objects = append(objects, obj)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return objects, ctx.Err()
}
