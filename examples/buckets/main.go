// Command buckets reconciles an account and its buckets against a service outside
// Azure, whose errors are those of gRPC and whose creates are long-running
// operations.
//
// Read simulate first: one line reads the errors of the service. bucketExtensions
// has the checks and the rule of a bucket. How to start and poll an operation is
// in docs/howto/long-running-operations.md.
package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/grpc"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// bucketExtensions returns the checks and rules of buckets. No request about a
// bucket is sent before its account is ready and ACTIVE, the final state of this
// service.
func bucketExtensions() flow.Extensions[*Bucket] {
	return flow.Extensions[*Bucket]{
		OwnerCheck: chain.New(
			checks.OwnerReady(),
			checks.OwnerProvisioningState(func(a *Account) *string { return &a.State }, checks.WithAllowed("ACTIVE")),
		),
		Classify: overQuota.Chain(),
	}
}

// overQuota separates an exceeded quota from throttling. Both have the code
// ResourceExhausted, but a person must raise the quota.
var overQuota = classify.Table{{Name: "OverQuota", InnerCode: "QUOTA_EXCEEDED", Retry: classify.VerySlow}}

// Account owns buckets.
type Account struct{ Name, State string }

func (a *Account) Ref() checks.Ref          { return checks.Ref{Kind: "Account", Name: a.Name} }
func (a *Account) Desired() sim.Properties  { return nil }
func (a *Account) Observe(p sim.Properties) { a.State = p["state"] }
func (a *Account) Shown() string            { return a.State }

// Bucket belongs to an account.
type Bucket struct{ Name, Account, Class string }

func (b *Bucket) Ref() checks.Ref         { return checks.Ref{Kind: "Bucket", Name: b.Name} }
func (b *Bucket) OwnerRef() checks.Ref    { return checks.Ref{Kind: "Account", Name: b.Account} }
func (b *Bucket) Desired() sim.Properties { return sim.Properties{"class": b.Class} }
func (b *Bucket) Observe(sim.Properties)  {}
func (b *Bucket) Shown() string           { return "" }

// simulate sets up a run.
func simulate(reader bool) *sim.Engine {
	e := sim.NewEngine()
	e.Service = "the service"
	cloud := service(e)
	options := e.Options(10)
	if reader {
		options = append(options, flow.WithErrors(grpc.Errors())) // the line that this example is about
	}
	sim.Add(e, flow.New("Account", sim.Operations[*Account](cloud, nil), flow.Extensions[*Account]{}, options...), &Account{Name: "acme"})
	buckets := flow.New("Bucket", sim.Operations(cloud, (*Bucket).OwnerRef), bucketExtensions(), options...)
	for _, name := range []string{"logs", "media", "archive", "backup"} {
		sim.Add(e, buckets, &Bucket{Name: name, Account: "acme", Class: "STANDARD"})
	}
	return e
}

// service returns the service, which has three faults. It refuses to poll the
// operations of logs and media for a while: the operations continue. The operation
// of archive fails: the next pass starts another one. A quota refuses backup.
func service(e *sim.Engine) *sim.Cloud {
	account := (&Account{Name: "acme"}).Ref()
	cloud := sim.NewCloud(e)
	cloud.Takes["Account"], cloud.Takes["Bucket"] = time.Minute, 4*time.Minute
	cloud.Code = func(err error) string { return status.Code(err).String() }
	cloud.NotFound = func(ref checks.Ref) error {
		return status.Errorf(codes.NotFound, "%s %q not found", strings.ToLower(ref.Kind), ref.Name)
	}
	cloud.Created = func(ref checks.Ref, p sim.Properties) {
		if ref == account {
			p["state"] = "VERIFYING"
		}
	}
	quota := false // raised
	cloud.Rules = append(cloud.Rules, func(r sim.Request) error {
		now := e.Elapsed()
		down := func(from, to time.Duration) bool { return r.Verb == "POLL" && now >= from && now < to }
		switch {
		case r.Ref.Name == "logs" && down(3*time.Minute, 5*time.Minute):
			return with(codes.Unavailable, "the region restarts", retryIn(5*time.Minute-now))
		case r.Ref.Name == "media" && down(5*time.Minute, 6*time.Minute+40*time.Second):
			return with(codes.ResourceExhausted, "too many calls", reason("RATE_LIMIT_EXCEEDED"), retryIn(6*time.Minute+40*time.Second-now))
		case r.Ref.Name == "backup" && r.Verb == http.MethodPut && !quota:
			return with(codes.ResourceExhausted, `account "acme" may have 3 buckets`, reason("QUOTA_EXCEEDED"))
		}
		return nil
	})
	e.At(2*time.Minute, account.String(), "a person verifies it", func() {
		cloud.Change(account, func(p sim.Properties) { p["state"] = "ACTIVE" })
		e.Edit(account)
	})
	archive := (&Bucket{Name: "archive"}).Ref()
	e.At(4*time.Minute+15*time.Second, archive.String(), "its operation fails", func() {
		cloud.Fail(archive, status.Error(codes.FailedPrecondition, "the encryption key of the bucket is disabled"))
	})
	e.At(11*time.Minute, account.String(), "a person raises its quota to 4", func() { quota = true })
	return cloud
}

// with returns an error of gRPC with details.
func with(code codes.Code, message string, details ...protoadapt.MessageV1) error {
	s, err := status.New(code, message).WithDetails(details...)
	if err != nil {
		panic(fmt.Sprintf("the code is OK: %v", err))
	}
	return s.Err()
}

func reason(word string) protoadapt.MessageV1 {
	return protoadapt.MessageV1Of(&errdetails.ErrorInfo{Reason: word, Domain: "storage.example.com"})
}

func retryIn(d time.Duration) protoadapt.MessageV1 {
	return protoadapt.MessageV1Of(&errdetails.RetryInfo{RetryDelay: durationpb.New(d)})
}

var program = sim.Program{
	Name: "buckets", Runs: [2]string{"with reader", "without reader"}, New: simulate, Each: true,
	About: `Reconciles the Account acme and its buckets, Bucket logs, media, archive and backup. The service refuses some polls,
because it is unavailable or throttles, and one create because of a quota. One operation fails. The first run reads the
errors of gRPC with one line: flow.WithErrors(...). The second run has no such line. Neither starts a second operation
because a poll fails: a failed poll does not mean that the operation has failed.
`,
}

func main() { program.Main() }
