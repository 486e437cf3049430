package sim

// Stopped says in a line how the pass ended, and why if that is to be told; the why of another pass tells whether it is
// the same once more.
func (p Pass) Stopped() (what, why string) { return stopped(p) }

// Comeback says when the resource is tried again after a block or an error, and what makes that sooner.
func (p Pass) Comeback() string { return again(p) }
