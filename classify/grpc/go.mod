module github.com/windlass-go/windlass/classify/grpc

go 1.26.0

require (
	github.com/windlass-go/windlass v0.0.0
	google.golang.org/genproto/googleapis/rpc v0.0.0-20261012220534-4341edf3f941
	google.golang.org/grpc v1.85.0
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/google/go-cmp v0.7.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/windlass-go/windlass => ../..
