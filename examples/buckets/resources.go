package main

import "github.com/windlass-go/windlass/checks"

// The kinds of the example.
const (
	accountKind = "Account"
	bucketKind  = "Bucket"
)

// Account owns buckets.
type Account struct {
	Name  string
	State string // the state that the service reported last, or ""
}

// Bucket belongs to an account.
type Bucket struct {
	Name, Account string
	Class         string // the storage class, such as "STANDARD"
}

func accountRef(name string) checks.Ref { return checks.Ref{Kind: accountKind, Name: name} }

func bucketRef(name string) checks.Ref { return checks.Ref{Kind: bucketKind, Name: name} }
