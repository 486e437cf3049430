module github.com/windlass-go/windlass/ctrlx

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/windlass-go/windlass v0.0.0
	pgregory.net/rapid v1.3.0
)

replace github.com/windlass-go/windlass => ..
