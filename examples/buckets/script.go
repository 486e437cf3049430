package main

import (
	"time"

	"google.golang.org/grpc/codes"

	"github.com/windlass-go/windlass/examples/buckets/internal/storage"
)

// account is the name of the account that owns all buckets.
const account = "acme"

// The durations of creates, and the time at which the operation of archive
// fails.
const (
	accountTakes = time.Minute
	bucketTakes  = 4 * time.Minute
	failsAt      = 4*time.Minute + 15*time.Second
)

// outage is a period in which the service refuses to poll the operation of a
// bucket. The operation itself continues.
type outage struct {
	bucket   string
	from, to time.Duration
	refusal  func(left time.Duration) error
}

var outages = []outage{
	{"logs", 3 * time.Minute, 5 * time.Minute, func(left time.Duration) error {
		return storage.Unavailable("the region restarts", left)
	}},
	{"media", 5 * time.Minute, 6*time.Minute + 40*time.Second, func(left time.Duration) error {
		return storage.Throttled("too many calls", left)
	}},
}

// story is the script of a run: the buckets, and the faults and people that
// affect them.
type story struct {
	buckets []string
	happens func(*Simulation)
}

// refused has refused polls and a quota.
var refused = story{[]string{"logs", "media", "backup"}, func(s *Simulation) {
	verify(s)
	for _, o := range outages {
		s.cloud.Rule(func(r storage.Request) error {
			now := s.engine.Elapsed()
			if r.Method != "GetOperation" || r.Object != account+"/"+o.bucket || now < o.from || now >= o.to {
				return nil
			}
			return o.refusal(o.to - now)
		})
	}
	s.cloud.Quota(2)
	s.engine.At(11*time.Minute, "Account "+account, "a person raises its quota to 3", func() { s.cloud.Quota(3) })
}}

// failed has a failed operation.
var failed = story{[]string{"archive"}, func(s *Simulation) {
	verify(s)
	s.engine.At(failsAt, "Bucket archive", "its operation fails", func() {
		s.cloud.Fail(account+"/archive", codes.FailedPrecondition, "the encryption key of the bucket is disabled")
	})
}}

// verify makes the account active after a while. A person does that, and the
// engine receives an event.
func verify(s *Simulation) {
	s.cloud.Takes(accountTakes)
	s.engine.At(2*time.Minute, "Account "+account, "a person verifies it", func() {
		s.cloud.Takes(bucketTakes)
		s.cloud.Verify(account)
		s.engine.Edit(accountRef(account))
	})
}
