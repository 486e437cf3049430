// Package storage is a small object store with a gRPC API: accounts, buckets in
// accounts, and long-running operations. Client and server talk over loopback.
// The server stores everything in memory and uses virtual time.
//
// The API has the usual form of Google's APIs. A create returns an [Operation],
// and GetOperation polls it. A finished operation has an error or has created
// its object. Errors are gRPC statuses with the details RetryInfo, ErrorInfo
// and QuotaFailure. The messages are JSON, so the example needs no code
// generator.
package storage
