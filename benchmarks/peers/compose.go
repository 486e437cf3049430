package main

// composers make of ten links, given as a slice, and an end what can be called. Peers that compose in each call, or make a
// whole client, are left out.
var composers = []struct {
	key, name string
	compose   func()
}{
	{"hand", "closures nested by hand", func() { nest(10) }},
	{"windlass", "**windlass**, New and Then", func() { newChain(10).Then(end) }},
	{"windlass-then", "**windlass**, Then of a chain that is there", then(10)},
	{"alice", "alice, New and Then", func() { newAlice(10) }},
	{"chi", "chi, Chain and Handler", func() { newChi(10) }},
	{"gokit", "go-kit, Chain and its call", func() { newGokit(10) }},
}

func then(n int) func() {
	c := newChain(n)
	return func() { c.Then(end) }
}
