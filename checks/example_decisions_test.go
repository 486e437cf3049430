package checks_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// CertificateRequest asks an issuer for a certificate. An approver approves or
// denies it.
type CertificateRequest struct {
	IssuerGroup      string
	Approved, Denied bool
}

func decide(req *CertificateRequest, check checks.Middleware[*CertificateRequest]) {
	res, err := checks.Compose(chain.New(check))(ctx, &checks.Request[*CertificateRequest]{Resource: req})
	fmt.Println(res, err)
}

// Certificate requests for issuers of other groups belong to other controllers.
func ExampleIgnore() {
	ours := checks.Check("ours", func(_ context.Context, req *checks.Request[*CertificateRequest]) (checks.Result, error) {
		if group := req.Resource.IssuerGroup; group != "issuers.example.org" {
			return checks.Ignore("the issuer is of the group " + group), nil
		}
		return checks.Proceed(), nil
	})
	decide(&CertificateRequest{IssuerGroup: "cert-manager.io"}, ours)
	decide(&CertificateRequest{IssuerGroup: "issuers.example.org"}, ours)
	// Output:
	// ignore: the issuer is of the group cert-manager.io <nil>
	// proceed <nil>
}

// A backup runs once. A complete backup needs no more work until its spec
// changes.
func ExampleFinished() {
	type Backup struct{ Phase string }
	complete := checks.Compose(chain.New(
		checks.Check("complete", func(_ context.Context, req *checks.Request[*Backup]) (checks.Result, error) {
			if req.Resource.Phase == "completed" {
				return checks.Finished("Completed", "the backup is complete"), nil
			}
			return checks.Proceed(), nil
		}),
	))
	fmt.Println(complete(ctx, &checks.Request[*Backup]{Resource: &Backup{Phase: "completed"}}))

	// A user can delete a finished backup.
	deletion := &checks.Request[*Backup]{Resource: &Backup{Phase: "completed"}}
	deletion.Deleting = true
	fmt.Println(complete(ctx, deletion))
	// Output:
	// finish Completed: the backup is complete <nil>
	// proceed <nil>
}

// The deletion of an object store also deletes its users. So a user without a
// store needs no deletion in the cloud.
func ExampleRelease() {
	type ObjectUser struct{ Name string }
	storeGone := checks.Compose(chain.New(
		checks.Check("store", func(_ context.Context, req *checks.Request[*ObjectUser]) (checks.Result, error) {
			if !req.Owner.Found() {
				return checks.Release("the object store " + req.Owner.Ref.Name + " does not exist"), nil
			}
			return checks.Proceed(), nil
		}),
	))
	req := &checks.Request[*ObjectUser]{Resource: &ObjectUser{Name: "alice"}}
	req.Owner.Ref, req.Deleting = checks.Ref{Kind: "ObjectStore", Name: "media"}, true
	fmt.Println(storeGone(ctx, req))
	// Output:
	// release: the object store media does not exist <nil>
}
