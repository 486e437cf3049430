package otelx

import (
	"runtime/debug"
	"testing"
)

// ScopeVersion replaces the version in tests, because a test binary has none.
const ScopeVersion = "1.2.3-test"

func init() { scopeVersion = ScopeVersion }

func TestVersionIn(t *testing.T) {
	of := func(main string, deps ...*debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: module, Version: main}, Deps: deps}
	}
	other := func(m *debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: "example.com/operator", Version: "v9.9.9"}, Deps: []*debug.Module{{Path: "example.com/x", Version: "v8.8.8"}, m}}
	}
	cases := map[string]struct {
		reason string
		info   *debug.BuildInfo
		want   string
	}{
		"None":       {"a program without build information has no version", nil, ""},
		"Dependency": {"the version is that of the dependency", other(&debug.Module{Path: module, Version: "v1.2.3"}), "1.2.3"},
		"Replaced":   {"a replaced module has the version of the replacement", other(&debug.Module{Path: module, Version: "v1.2.3", Replace: &debug.Module{Path: "example.com/fork", Version: "v1.3.0"}}), "1.3.0"},
		"Folder":     {"a folder has no version", other(&debug.Module{Path: module, Version: "v1.2.3", Replace: &debug.Module{Path: "../windlass"}}), ""},
		"Main":       {"the module's own programs have its version", of("v1.2.3"), "1.2.3"},
		"Devel":      {"a working copy has no version", of("(devel)"), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := versionIn(tc.info); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
