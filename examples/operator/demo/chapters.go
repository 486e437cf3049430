package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/examples/operator/internal/kusto"
)

// databasesComeFirst creates databases without a cluster. One names its cluster,
// and the other one belongs to the only cluster of the namespace. Waiting sends
// no requests.
func (s *Story) databasesComeFirst(ctx context.Context) error {
	if err := s.start(ctx); err != nil {
		return err
	}
	for _, obj := range []client.Object{
		&corev1.Secret{ObjectMeta: s.meta("admin"), Data: map[string][]byte{"password": []byte("spring")}},
		&v1.Database{ObjectMeta: s.meta("orders"), Spec: v1.DatabaseSpec{Cluster: "demo", PasswordSecret: "admin"}},
		&v1.Database{ObjectMeta: s.meta("clicks")},
	} {
		if err := s.create(ctx, obj); err != nil {
			return err
		}
	}
	if err := s.both(ctx, "OwnerNotFound", because("OwnerNotFound")); err != nil {
		return err
	}
	if err := s.traffic.Quiet(ctx, 300*time.Millisecond); err != nil { // events are written later
		return err
	}
	before := len(s.traffic.Requests())
	if err := pause(ctx, quietFor); err != nil {
		return err
	}
	s.figures.WhileBlocked = len(s.traffic.Requests()) - before
	return s.why(ctx, "database/orders")
}

// quietFor is the period in which requests are counted: of waiting databases,
// and after a restart.
const quietFor = time.Second

// clusterIsCreated creates the cluster. Its databases wait for its operation.
func (s *Story) clusterIsCreated(ctx context.Context) error {
	if err := s.create(ctx, &v1.Cluster{ObjectMeta: s.meta("demo"), Spec: v1.ClusterSpec{Size: 2}}); err != nil {
		return err
	}
	if err := s.line.Until(ctx, demo, "InProgress", because("InProgress")); err != nil {
		return err
	}
	return s.both(ctx, "OwnerNotReady", because("OwnerNotReady"))
}

// secondCluster creates another cluster. The database that names no cluster then
// belongs to none of them, until a person deletes one.
func (s *Story) secondCluster(ctx context.Context) error {
	second := &v1.Cluster{ObjectMeta: s.meta("spare"), Spec: v1.ClusterSpec{Size: 2}}
	if err := s.create(ctx, second); err != nil {
		return err
	}
	if err := s.line.Until(ctx, clicks, "OwnerAmbiguous", because("OwnerAmbiguous")); err != nil {
		return err
	}
	// Its first pass creates it in the cloud. A deletion before that would need
	// no request.
	if err := s.line.Until(ctx, spare, "reported", func(now Seen) bool { return now.Ready != "" }); err != nil {
		return err
	}
	return s.delete(ctx, second)
}

// clusterRuns waits until the cluster runs and its databases are woken.
func (s *Story) clusterRuns(ctx context.Context) error {
	for _, wait := range []error{
		s.line.Until(ctx, demo, "ready", isReady), s.line.Until(ctx, spare, "gone", isGone), s.both(ctx, "ready", isReady),
	} {
		if wait != nil {
			return wait
		}
	}
	for _, name := range []string{"orders", "clicks"} {
		s.woken(name, time.Time{}, "a cluster was written", s.clusterWritten)
	}
	return nil
}

// passwordIsRotated changes the Secret. The Ready database follows it.
func (s *Story) passwordIsRotated(ctx context.Context) error {
	name := client.ObjectKey{Namespace: s.namespace, Name: "orders"}
	last, err := s.running.Databases.Explain(ctx, name)
	for err != nil { // its first pass after the restart is not over
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
		last, err = s.running.Databases.Explain(ctx, name)
	}
	s.line.Say(orders, "is ready, and follows %s", strings.Trim(fmt.Sprint(last.Following), "[]"))
	before, changed := len(s.cloud.Requests()), time.Now()
	secret := &corev1.Secret{ObjectMeta: s.meta("admin")}
	if err := s.change(ctx, secret, "a person changes the password", `{"data":{"password":"c3VtbWVy"}}`); err != nil {
		return err
	}
	if err := s.line.Until(ctx, orders, "InProgress", because("InProgress")); err != nil {
		return err
	}
	if err := s.line.Until(ctx, orders, "ready", isReady); err != nil {
		return err
	}
	s.woken("orders", changed, "the Secret was changed", func(time.Time) time.Time { return changed })
	s.countNeedless(before)
	s.figures.Password = s.cloud.Password(kusto.DatabaseID(s.namespace, "demo", "orders"))
	s.line.Say("cloud", "has the password %q", s.figures.Password)
	return nil
}

// clusterIsStopped stops the cluster. It is Ready, because its spec asks for
// that. A changed database waits.
func (s *Story) clusterIsStopped(ctx context.Context) error {
	before := len(s.cloud.Requests())
	if err := s.change(ctx, &v1.Cluster{ObjectMeta: s.meta("demo")}, "a person stops it", `{"spec":{"stopped":true}}`); err != nil {
		return err
	}
	err := s.line.Until(ctx, demo, "ready and stopped", func(now Seen) bool { return isReady(now) && now.State == v1.StateStopped })
	if err != nil {
		return err
	}
	err = s.change(ctx, &v1.Database{ObjectMeta: s.meta("orders")}, "a person changes its retention to 30 days", `{"spec":{"retentionDays":30}}`)
	if err != nil {
		return err
	}
	if err := s.line.Until(ctx, orders, "OwnerNotRunning", because("OwnerNotRunning")); err != nil {
		return err
	}
	for _, a := range s.cloud.Requests()[before:] {
		if !kusto.IsCluster(a.ID) {
			s.figures.WhileStopped++
		}
	}
	return nil
}

// clusterIsStarted starts the cluster. Only the waiting database is woken.
func (s *Story) clusterIsStarted(ctx context.Context) error {
	before, start := len(s.cloud.Requests()), time.Now()
	if err := s.change(ctx, &v1.Cluster{ObjectMeta: s.meta("demo")}, "a person starts it", `{"spec":{"stopped":false}}`); err != nil {
		return err
	}
	// The database becomes ready after the cluster.
	if err := s.line.Until(ctx, orders, "ready", isReady); err != nil {
		return err
	}
	s.woken("orders", start, "a cluster was written", s.clusterWritten)
	s.countNeedless(before)
	return nil
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
func (s *Story) allIsDeleted(ctx context.Context) error {
	if err := s.delete(ctx, &v1.Cluster{ObjectMeta: s.meta("demo")}); err != nil {
		return err
	}
	if err := s.line.Until(ctx, demo, "InUse", because("InUse")); err != nil {
		return err
	}
	for _, obj := range []client.Object{
		&v1.Database{ObjectMeta: s.meta("orders")}, &v1.Database{ObjectMeta: s.meta("clicks")}, &corev1.Secret{ObjectMeta: s.meta("admin")},
	} {
		if err := s.delete(ctx, obj); err != nil {
			return err
		}
	}
	for _, object := range []string{orders, clicks, admin, demo} {
		if err := s.line.Until(ctx, object, "gone", isGone); err != nil {
			return err
		}
	}
	return nil
}
