package storage

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// object returns the name of a call's object.
func (s *Server) object(req any) string {
	switch req := req.(type) {
	case *GetAccountRequest:
		return req.Name
	case *Account:
		return req.Name
	case *GetBucketRequest:
		return req.Account + "/" + req.Name
	case *Bucket:
		return req.Account + "/" + req.Name
	case *GetOperationRequest:
		if op := s.operation(req.Name); op != nil {
			return op.object
		}
	}
	return ""
}

func (s *Server) getAccount(req *GetAccountRequest) (*Account, error) {
	return found(s.accounts[req.Name], "account", req.Name)
}

func (s *Server) getBucket(req *GetBucketRequest) (*Bucket, error) {
	return found(s.buckets[s.object(req)], "bucket", s.object(req))
}

func (s *Server) getOperation(req *GetOperationRequest) (*Operation, error) {
	op := s.operation(req.Name)
	if op == nil {
		return nil, status.Errorf(codes.NotFound, "operation %q not found", req.Name)
	}
	return op.message(), nil
}

func (s *Server) createAccount(a *Account) (*Operation, error) {
	if s.accounts[a.Name] != nil {
		return nil, status.Errorf(codes.AlreadyExists, "account %q already exists", a.Name)
	}
	return s.start(a.Name, func() { s.accounts[a.Name] = &Account{Name: a.Name, State: StateVerifying} }), nil
}

func (s *Server) createBucket(b *Bucket) (*Operation, error) {
	object := s.object(b)
	account, err := found(s.accounts[b.Account], "account", b.Account)
	switch {
	case err != nil:
		return nil, err
	case account.State != StateActive:
		return nil, status.Errorf(codes.FailedPrecondition, "account %q is %s", b.Account, account.State)
	case s.buckets[object] != nil:
		return nil, status.Errorf(codes.AlreadyExists, "bucket %q already exists", object)
	case s.used(b.Account) >= s.quota:
		return nil, OverQuota(b.Account, s.quota)
	}
	return s.start(object, func() { s.buckets[object] = b }), nil
}

// used counts the buckets of an account, including those under way.
func (s *Server) used(account string) (n int) {
	for _, b := range s.buckets {
		if b.Account == account {
			n++
		}
	}
	for _, op := range s.operations {
		if !op.ended && strings.HasPrefix(op.object, account+"/") {
			n++
		}
	}
	return n
}

func found[T any](object *T, kind, name string) (*T, error) {
	if object == nil {
		return nil, status.Errorf(codes.NotFound, "%s %q not found", kind, name)
	}
	return object, nil
}
