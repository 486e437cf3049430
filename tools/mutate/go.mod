// Mutation testing. It is a module of its own so that users of the library do not download what it requires.
module github.com/windlass-go/windlass/tools/mutate

go 1.26.0

require golang.org/x/tools v0.52.0

require (
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
)
