package otelx

// ScopeVersion is a version for tests. A test binary has none of its own.
const ScopeVersion = "1.2.3-test"

func init() { scopeVersion = ScopeVersion }
