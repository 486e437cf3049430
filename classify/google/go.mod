module github.com/windlass-go/windlass/classify/google

go 1.26.0

require (
	github.com/windlass-go/windlass v0.0.0
	google.golang.org/api v0.305.0
)

require github.com/google/go-cmp v0.7.0 // indirect

replace github.com/windlass-go/windlass => ../..
