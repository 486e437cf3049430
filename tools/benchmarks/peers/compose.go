package main

// composers compose ten links and an end into a function that can be called.
// Peers that compose in each call, or that make a whole client, are left out.
var composers = []struct {
	key, name string
	compose   func()
}{
	{"hand", "closures nested by hand", func() { nest(10) }},
	{"windlass", "**windlass**, New and Then", func() { newChain(10).Then(end) }},
	{"windlass-then", "**windlass**, Then of an existing chain", then(10)},
	{"alice", "alice, New and Then", func() { newAlice(10) }},
	{"chi", "chi, Chain and Handler", func() { newChi(10) }},
	{"gokit", "go-kit, Chain and its call", func() { newGokit(10) }},
}

func then(n int) func() {
	c := newChain(n)
	return func() { c.Then(end) }
}
