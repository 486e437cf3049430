package digest

// Valid is valid, whose input is a hash.
func Valid(h uint64) uint64 { return valid(h) }
