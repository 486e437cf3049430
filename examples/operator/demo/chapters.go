package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx"
	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/examples/operator/internal/kusto"
)

// quietFor is the period in which requests are counted: of waiting databases,
// and after a restart.
const quietFor = time.Second

// databasesComeFirst creates databases without a cluster. One names its cluster,
// and the other one belongs to the only cluster of the namespace. Waiting sends
// no requests.
func (s *Story) databasesComeFirst() {
	s.start()
	s.create(s.secret())
	named := s.database("orders")
	named.Spec.Cluster, named.Spec.PasswordSecret = "demo", "admin"
	s.create(named)
	s.create(s.database("clicks"))
	s.because("OwnerNotFound", orders, clicks)
	s.quiet()      // events are written later
	for range 10 { // a slow machine may still send what it had to send before
		before := len(s.traffic.Requests())
		s.pause(quietFor)
		if s.figures.WhileBlocked = len(s.traffic.Requests()) - before; s.figures.WhileBlocked == 0 {
			break
		}
	}
	s.why("database/orders")
}

// quiet waits until the operator sends no requests to the API server.
func (s *Story) quiet() { s.do(func() error { return s.traffic.Quiet(s.ctx, 300*time.Millisecond) }) }

// clusterIsCreated creates the cluster. Its databases wait for its operation,
// which ends after the restart.
func (s *Story) clusterIsCreated() {
	s.clock.hold(s.clock.now())
	s.create(s.cluster("demo"))
	s.because("InProgress", demo)
	s.because("OwnerNotReady", orders, clicks)
}

// secondCluster creates another cluster. The database that names no cluster then
// belongs to none of them, until a person deletes one.
func (s *Story) secondCluster() {
	s.create(s.cluster("spare"))
	s.because("OwnerAmbiguous", clicks)
	// Its first pass creates it in the cloud. A deletion before that would need
	// no request.
	s.until("reported", func(now Seen) bool { return now.Ready != "" }, spare)
	s.delete(s.cluster("spare"))
}

// clusterRuns waits until the cluster runs and its databases are woken.
func (s *Story) clusterRuns() {
	s.until("ready", isReady, demo)
	s.until("gone", isGone, spare)
	s.until("ready", isReady, orders, clicks)
	for _, name := range []string{"orders", "clicks"} {
		s.woken(name, time.Time{}, "a cluster was written", s.clusterWritten)
	}
}

// passwordIsRotated changes the Secret. The Ready database follows it.
func (s *Story) passwordIsRotated() {
	last, err := s.running.Databases.Explain(s.ctx, client.ObjectKey{Namespace: s.namespace, Name: "orders"})
	for err != nil && s.err == nil { // its first pass after the restart is not over
		s.pause(10 * time.Millisecond)
		last, err = s.running.Databases.Explain(s.ctx, client.ObjectKey{Namespace: s.namespace, Name: "orders"})
	}
	s.line.Say(orders, "is ready, and follows %s", strings.Trim(fmt.Sprint(last.Following), "[]"))
	before, changed := len(s.cloud.Requests()), time.Now()
	s.change(s.secret(), "a person changes the password", `{"data":{"password":"c3VtbWVy"}}`)
	s.because("InProgress", orders)
	s.until("ready", isReady, orders)
	s.woken("orders", changed, "the Secret was changed", func(time.Time) time.Time { return changed })
	s.countNeedless(before)
	password := s.cloud.Password(kusto.DatabaseID(s.namespace, "demo", "orders"))
	s.line.Say("cloud", "has the password %q", password)
	if password != "summer" {
		s.do(func() error { return fmt.Errorf("the cloud has the password %q", password) })
	}
}

// clusterIsStopped stops the cluster. It is Ready, because its spec asks for
// that. A changed database waits.
func (s *Story) clusterIsStopped() {
	before := len(s.cloud.Requests())
	s.change(s.cluster("demo"), "a person stops it", `{"spec":{"stopped":true}}`)
	s.until("ready and stopped", func(now Seen) bool { return isReady(now) && now.State == v1.StateStopped }, demo)
	s.change(s.database("orders"), "a person changes its retention to 30 days", `{"spec":{"retentionDays":30}}`)
	s.because("OwnerNotRunning", orders)
	for _, a := range s.cloud.Requests()[before:] {
		if !kusto.IsCluster(a.ID) {
			s.figures.WhileStopped++
		}
	}
}

// clusterIsStarted starts the cluster. Only the waiting database is woken.
func (s *Story) clusterIsStarted() {
	before, start := len(s.cloud.Requests()), time.Now()
	s.change(s.cluster("demo"), "a person starts it", `{"spec":{"stopped":false}}`)
	s.until("ready", isReady, orders) // after the cluster
	s.woken("orders", start, "a cluster was written", s.clusterWritten)
	s.countNeedless(before)
}

// countNeedless counts the requests about the database clicks since a number of
// requests: nothing that concerns it has changed.
func (s *Story) countNeedless(before int) {
	for _, a := range s.cloud.Requests()[before:] {
		if a.ID == kusto.DatabaseID(s.namespace, "demo", "clicks") {
			s.figures.NeedlessRequests++
		}
	}
}

// allIsDeleted deletes the cluster, which waits for its databases, and then all
// other objects. The Secret waits for the database that uses it.
func (s *Story) allIsDeleted() {
	s.delete(s.cluster("demo"))
	s.because("InUse", demo)
	for _, obj := range []client.Object{s.database("orders"), s.database("clicks"), s.secret()} {
		s.delete(obj)
	}
	s.until("gone", isGone, orders, clicks, admin, demo)
}

// operatorRestarts stops the operator during the operation. The next operator
// has only the state in the objects.
func (s *Story) operatorRestarts() {
	s.do(s.stop)
	s.do(func() error {
		c := s.cluster("demo")
		if err := s.person.Get(s.ctx, client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		stored := meta.FindStatusCondition(c.Status.Conditions, ctrlx.ConditionRecord)
		if stored == nil {
			return errors.New("the cluster has no token after the operator stopped")
		}
		_, token, _ := strings.Cut(stored.Message, "operation.token=")
		token, _, _ = strings.Cut(token, ";")
		s.line.Say("operator", "stops; the status of the cluster stores the operation %s", token)
		return nil
	})
	s.start()
	s.clock.hold(s.clock.now().Add(kusto.ClusterTakes))
	s.because("NotSettled", demo)
	s.clock.release()
}

// restartIsQuiet restarts the operator while all objects are Ready. Each object
// has a pass, and no pass sends a request.
func (s *Story) restartIsQuiet() {
	s.quiet() // the guard has changed the Secret
	s.do(s.stop)
	s.line.Say("operator", "stops; all objects are ready")
	calls, requests := len(s.cloud.Requests()), len(s.traffic.Requests())
	s.start()
	count := func(counts func(Request) bool) (n int) {
		for _, r := range s.traffic.Requests()[requests:] {
			if counts(r) {
				n++
			}
		}
		return n
	}
	for _, kind := range []string{"clusters", "databases"} {
		for s.err == nil && count(func(r Request) bool { return r.Verb == "watch" && r.Resource == kind }) == 0 {
			s.pause(10 * time.Millisecond)
		}
	}
	s.pause(quietFor)
	s.figures.AfterRestart = len(s.cloud.Requests()) - calls
	s.figures.WrittenAfterRestart = count(func(r Request) bool { return r.Verb == "patch" || r.Verb == "create" || r.Verb == "update" })
	s.line.Say("operator", "sent %d requests to the cloud in %s", s.figures.AfterRestart, quietFor)
}
