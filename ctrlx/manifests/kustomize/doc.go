// Package kustomize makes the objects of a component from a Kustomize base:
//
//	//go:embed base
//	var files embed.FS
//
//	shops := component.New[*v1.Shop]("shop.example.com", kustomize.Base(files, "base", overlay))
//
// The overlay is a function that makes a kustomization from the spec.
package kustomize
