// Package helm makes the objects of a component from a Helm chart:
//
//	//go:embed all:chart
//	var files embed.FS
//
//	shops := component.New[*v1.Shop]("shop.example.com", helm.Chart("shop.example.com", files, "chart"))
//
// The result of GetSpec, as JSON, is the values. Give the chart others in a
// manifests.GeneratorFunc that calls it. No release is stored: the inventory of
// the component has its place.
package helm
