// Package storage is a small object store with a gRPC API: accounts, buckets in
// accounts, and long-running operations. The client and the server are real and
// talk over loopback. The server keeps everything in memory and runs in virtual
// time.
//
// The API follows the usual form of Google's: a create returns an [Operation],
// GetOperation polls it, and an operation that is done has an error or has made
// its object. Errors are gRPC statuses with the details RetryInfo, ErrorInfo
// and QuotaFailure. The messages travel as JSON, so that the example needs no
// code generator.
package storage
