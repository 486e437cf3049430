package storage

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// fixture is a server with its client and its clock.
type fixture struct {
	*Server
	api *Client
	now time.Time
}

func start(t *testing.T) *fixture {
	t.Helper()
	w := &fixture{now: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)}
	var err error
	if w.Server, err = Start(func() time.Time { return w.now }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	if w.api, err = Dial(w.Address()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.api.Close() })
	return w
}

// account creates an active account.
func (w *fixture) account(t *testing.T) {
	t.Helper()
	if _, err := w.api.CreateAccount(t.Context(), &Account{Name: "acme"}); err != nil {
		t.Fatal(err)
	}
	w.Verify("acme")
}

func (w *fixture) create(ctx context.Context, bucket string) (*Operation, error) {
	return w.api.CreateBucket(ctx, &Bucket{Account: "acme", Name: bucket, Class: "STANDARD"})
}

func (w *fixture) poll(ctx context.Context, name string) (*Operation, error) {
	return w.api.GetOperation(ctx, &GetOperationRequest{Name: name})
}

func TestOperation(t *testing.T) {
	w := start(t)
	w.account(t)
	w.Takes(time.Minute)
	op, err := w.create(t.Context(), "logs")
	if diff := cmp.Diff(&Operation{Name: "op-2"}, op); diff != "" || err != nil {
		t.Fatalf("error %v; -want, +got:\n%s", err, diff)
	}
	if _, err := w.api.GetBucket(t.Context(), &GetBucketRequest{"acme", "logs"}); status.Code(err) != codes.NotFound {
		t.Errorf("want no bucket before its operation is done, got %v", err)
	}
	w.now = w.now.Add(time.Minute)
	if op, err = w.poll(t.Context(), op.Name); err != nil || !op.Done || op.Error != nil {
		t.Errorf("want a done operation after a minute, got %+v, error %v", op, err)
	}
	got, err := w.api.GetBucket(t.Context(), &GetBucketRequest{"acme", "logs"})
	if diff := cmp.Diff(&Bucket{"acme", "logs", "STANDARD"}, got); diff != "" || err != nil {
		t.Errorf("error %v; -want, +got:\n%s", err, diff)
	}
	if diff := cmp.Diff(Tally{
		Sent:     5,
		Methods:  map[string]int{"CreateAccount": 1, "CreateBucket": 1, "GetBucket": 2, "GetOperation": 1},
		Failures: map[string]int{"GetBucket NotFound": 1},
		Started:  map[string]int{"acme": 1, "acme/logs": 1},
	}, w.Tally()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestFailedOperation(t *testing.T) {
	w := start(t)
	w.account(t)
	w.Takes(time.Minute)
	op, err := w.create(t.Context(), "logs")
	if err != nil {
		t.Fatal(err)
	}
	w.Fail("acme/logs", codes.Aborted, "lost")
	op, err = w.poll(t.Context(), op.Name)
	want := &Operation{Name: "op-2", Done: true, Error: &OperationError{Code: codes.Aborted, Message: "lost"}}
	if diff := cmp.Diff(want, op); diff != "" || err != nil {
		t.Fatalf("want no error of the poll, got %v; -want, +got:\n%s", err, diff)
	}
	if got := op.Error.Err(); status.Code(got) != codes.Aborted {
		t.Errorf("want the code of the operation's error, got %v", got)
	}
	w.now = w.now.Add(time.Hour)
	if _, err := w.api.GetBucket(t.Context(), &GetBucketRequest{"acme", "logs"}); status.Code(err) != codes.NotFound {
		t.Errorf("want no bucket, got %v", err)
	}
}

// TestSecondOperation: the store accepts a second create during the first. So a
// test notices a client that loses its operation.
func TestSecondOperation(t *testing.T) {
	w := start(t)
	w.account(t)
	w.Takes(time.Minute)
	for range 2 {
		if _, err := w.create(t.Context(), "logs"); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.Tally().Started["acme/logs"]; got != 2 {
		t.Errorf("started %d, want 2", got)
	}
}

func TestRefusals(t *testing.T) {
	cases := map[string]struct {
		reason string
		set    func(*testing.T, *fixture)
		call   func(context.Context, *fixture) error
		code   codes.Code
		retry  time.Duration
		info   string
	}{
		"NoAccount": {
			reason: "a bucket needs an account",
			set:    func(*testing.T, *fixture) {},
			call:   func(ctx context.Context, w *fixture) error { _, err := w.create(ctx, "logs"); return err },
			code:   codes.NotFound,
		},
		"Verifying": {
			reason: "an account that is not active refuses buckets",
			set: func(t *testing.T, w *fixture) {
				if _, err := w.api.CreateAccount(t.Context(), &Account{Name: "acme"}); err != nil {
					t.Fatal(err)
				}
			},
			call: func(ctx context.Context, w *fixture) error { _, err := w.create(ctx, "logs"); return err },
			code: codes.FailedPrecondition,
		},
		"AccountExists": {
			reason: "an account's name is unique",
			set:    func(t *testing.T, w *fixture) { w.account(t) },
			call: func(ctx context.Context, w *fixture) error {
				_, err := w.api.CreateAccount(ctx, &Account{Name: "acme"})
				return err
			},
			code: codes.AlreadyExists,
		},
		"BucketExists": {
			reason: "a bucket's name is unique",
			set: func(t *testing.T, w *fixture) {
				w.account(t)
				if _, err := w.create(t.Context(), "logs"); err != nil {
					t.Fatal(err)
				}
			},
			call: func(ctx context.Context, w *fixture) error { _, err := w.create(ctx, "logs"); return err },
			code: codes.AlreadyExists,
		},
		"Quota": {
			reason: "a bucket under way counts for the quota",
			set: func(t *testing.T, w *fixture) {
				w.account(t)
				w.Quota(2)
				w.Takes(0)
				if _, err := w.create(t.Context(), "logs"); err != nil {
					t.Fatal(err)
				}
				w.Takes(time.Minute)
				if _, err := w.create(t.Context(), "media"); err != nil {
					t.Fatal(err)
				}
			},
			call: func(ctx context.Context, w *fixture) error { _, err := w.create(ctx, "backup"); return err },
			code: codes.ResourceExhausted, info: "QUOTA_EXCEEDED",
		},
		"Throttled": {
			reason: "a rule refuses and asks for a delay",
			set: func(_ *testing.T, w *fixture) {
				w.Rule(func(Request) error { return Throttled("too many calls", 40*time.Second) })
			},
			call: func(ctx context.Context, w *fixture) error { _, err := w.poll(ctx, "op-1"); return err },
			code: codes.ResourceExhausted, info: "RATE_LIMIT_EXCEEDED", retry: 40 * time.Second,
		},
		"Unavailable": {
			reason: "a rule sees the method and the object of a poll",
			set: func(t *testing.T, w *fixture) {
				w.account(t)
				w.Rule(func(r Request) error {
					if r == (Request{Method: "GetOperation", Object: "acme"}) {
						return Unavailable("down", time.Second)
					}
					return nil
				})
			},
			call: func(ctx context.Context, w *fixture) error { _, err := w.poll(ctx, "op-1"); return err },
			code: codes.Unavailable, retry: time.Second,
		},
		"NoOperation": {
			reason: "the operation does not exist",
			set:    func(*testing.T, *fixture) {},
			call:   func(ctx context.Context, w *fixture) error { _, err := w.poll(ctx, "op-1"); return err },
			code:   codes.NotFound,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			tc.set(t, w)
			s, _ := status.FromError(tc.call(t.Context(), w))
			var retry time.Duration
			var info string
			for _, detail := range s.Details() {
				switch detail := detail.(type) {
				case *errdetails.RetryInfo:
					retry = detail.GetRetryDelay().AsDuration()
				case *errdetails.ErrorInfo:
					info = detail.GetReason()
				}
			}
			if s.Code() != tc.code || retry != tc.retry || info != tc.info {
				t.Errorf("%s: got %s, retry in %s, reason %q; want %s, %s, %q", tc.reason, s, retry, info, tc.code, tc.retry, tc.info)
			}
		})
	}
}
