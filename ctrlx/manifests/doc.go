// Package manifests makes the objects of a component: from Go templates
// ([Templates]), from a function ([GeneratorFunc]), or from the YAML text of other
// software ([ParseYAML]):
//
//	shops := component.New[*v1.Shop]("shop.example.com", manifests.Templates(files, "*.yaml"))
//
// For a Helm chart or a Kustomize base, call their library in a [GeneratorFunc].
package manifests
