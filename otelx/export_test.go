package otelx

// ScopeVersion replaces the version in tests, because a test binary has none.
const ScopeVersion = "1.2.3-test"

func init() { scopeVersion = ScopeVersion }
