// Package manifests makes the objects of a component: from Go templates
// ([Templates]), from a function ([GeneratorFunc]), or from the YAML text of other
// software ([ParseYAML]). The modules below it make them from a Helm chart
// (helm) and from a Kustomize base (kustomize):
//
//	shops := component.New[*v1.Shop]("shop.example.com", manifests.Templates(files, "*.yaml"))
package manifests
