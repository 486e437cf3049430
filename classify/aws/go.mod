module github.com/windlass-go/windlass/classify/aws

go 1.26.0

require (
	github.com/aws/smithy-go v1.28.8
	github.com/windlass-go/windlass v0.0.0
)

require github.com/google/go-cmp v0.7.0 // indirect

replace github.com/windlass-go/windlass => ../..
