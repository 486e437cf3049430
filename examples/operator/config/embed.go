// Package config has the definitions, roles and samples, for the demonstration and the
// tests.
package config

import "embed"

// Files has the folders of this package.
//
//go:embed crd/*.yaml rbac/*.yaml samples/*.yaml
var Files embed.FS
