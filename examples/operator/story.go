package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/windlass-go/windlass/ctrlx"
	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
)

// Story runs the actions of a person on a cluster and its databases, with an
// operator and a cloud.
type Story struct {
	person    client.WithWatch // the client of the person
	operator  *rest.Config     // the operator's connection to the API server
	namespace string           // the namespace of all objects
	cloud     *Cloud
	traffic   *Traffic // the operator's requests to the API server
	line      *Timeline

	stop    func() error // stops the running operator
	figures Figures
}

// The objects of the story.
const (
	demo   = "Cluster demo"
	orders = "Database orders"
	clicks = "Database clicks"
)

// NewStory returns a story that has not begun.
func NewStory(out io.Writer, person client.WithWatch, operator *rest.Config, namespace string) *Story {
	s := &Story{person: person, namespace: namespace, cloud: NewCloud(), traffic: &Traffic{}, line: NewTimeline(out)}
	s.operator = s.traffic.Of(operator)
	s.stop = func() error { return nil }
	return s
}

// Tell runs the story. Its error names the step that failed.
func (s *Story) Tell(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.line.Watch(ctx, s.person, s.namespace); err != nil {
		return err
	}
	for _, chapter := range []func(context.Context) error{
		s.databasesComeFirst, s.clusterIsCreated, s.operatorRestarts, s.clusterRuns, s.restartIsQuiet, s.clusterIsStopped, s.clusterIsStarted, s.allIsDeleted,
	} {
		if err := chapter(ctx); err != nil {
			return err
		}
	}
	return nil
}

// databasesComeFirst creates databases without a cluster. Waiting sends no
// requests.
func (s *Story) databasesComeFirst(ctx context.Context) error {
	if err := s.start(ctx); err != nil {
		return err
	}
	for _, d := range []*v1.Database{s.database("orders"), s.database("clicks")} {
		s.line.Say("Database "+d.Name, "a person creates it")
		if err := s.person.Create(ctx, d); err != nil {
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
	return nil
}

// quietFor is the period in which requests are counted: of waiting databases,
// and after a restart.
const quietFor = time.Second

// clusterIsCreated creates the cluster. Its databases wait for its operation.
func (s *Story) clusterIsCreated(ctx context.Context) error {
	s.line.Say(demo, "a person creates it")
	c := &v1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "demo"}, Spec: v1.ClusterSpec{Size: 2}}
	if err := s.person.Create(ctx, c); err != nil {
		return err
	}
	if err := s.line.Until(ctx, demo, "InProgress", because("InProgress")); err != nil {
		return err
	}
	return s.both(ctx, "OwnerNotReady", because("OwnerNotReady"))
}

// operatorRestarts stops the operator during the operation. The next operator
// has only the state in the objects.
func (s *Story) operatorRestarts(ctx context.Context) error {
	if err := pause(ctx, clusterTakes/3); err != nil {
		return err
	}
	if err := s.stop(); err != nil {
		return err
	}
	c := &v1.Cluster{}
	if err := s.person.Get(ctx, s.key("demo"), c); err != nil {
		return err
	}
	stored := meta.FindStatusCondition(c.Status.Conditions, ctrlx.ConditionOperation)
	if s.figures.TokenStored = stored != nil; stored != nil {
		var operation struct{ Token string }
		if err := json.Unmarshal([]byte(stored.Message), &operation); err != nil {
			return err
		}
		s.line.Say("operator", "stops; the status of the cluster stores the operation %s", operation.Token)
	}
	if err := pause(ctx, clusterTakes/6); err != nil {
		return err
	}
	return s.start(ctx)
}

// clusterRuns waits until the cluster runs and its databases are woken.
func (s *Story) clusterRuns(ctx context.Context) error {
	if err := s.line.Until(ctx, demo, "ready", isReady); err != nil {
		return err
	}
	if err := s.both(ctx, "ready", isReady); err != nil {
		return err
	}
	s.woken("orders", "clicks")
	return nil
}

// restartIsQuiet restarts the operator while all objects are Ready. Each object
// has a pass, and no pass sends a request.
func (s *Story) restartIsQuiet(ctx context.Context) error {
	if err := s.stop(); err != nil {
		return err
	}
	s.line.Say("operator", "stops; all objects are ready")
	calls, requests := len(s.cloud.Requests()), len(s.traffic.Requests())
	if err := s.start(ctx); err != nil {
		return err
	}
	since := func() map[string]int {
		counts := map[string]int{}
		for _, r := range s.traffic.Requests()[requests:] {
			counts[r.Verb+" "+r.Resource]++
		}
		return counts
	}
	for now := since(); now["watch clusters"] == 0 || now["watch databases"] == 0; now = since() {
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	if err := pause(ctx, quietFor); err != nil {
		return err
	}
	s.figures.AfterRestart = len(s.cloud.Requests()) - calls
	for what, n := range since() {
		if verb, _, _ := strings.Cut(what, " "); verb == "patch" || verb == "create" || verb == "update" {
			s.figures.WrittenAfterRestart += n
		}
	}
	s.line.Say("operator", "sent %d requests to the cloud in %s", s.figures.AfterRestart, quietFor)
	return nil
}

// clusterIsStopped stops the cluster. It is Ready, because its spec asks for
// that. A changed database waits.
func (s *Story) clusterIsStopped(ctx context.Context) error {
	before := len(s.cloud.Requests())
	if err := s.change(ctx, demo, "a person stops it", &v1.Cluster{}, "demo", `{"spec":{"stopped":true}}`); err != nil {
		return err
	}
	err := s.line.Until(ctx, demo, "ready and stopped", func(now Seen) bool { return isReady(now) && now.State == v1.StateStopped })
	if err != nil {
		return err
	}
	err = s.change(ctx, orders, "a person changes its retention to 30 days", &v1.Database{}, "orders", `{"spec":{"retentionDays":30}}`)
	if err != nil {
		return err
	}
	if err := s.line.Until(ctx, orders, "OwnerNotRunning", because("OwnerNotRunning")); err != nil {
		return err
	}
	for _, a := range s.cloud.Requests()[before:] {
		if !isCluster(a.ID) {
			s.figures.WhileStopped++
		}
	}
	return nil
}

// clusterIsStarted starts the cluster. Only the waiting database is woken.
func (s *Story) clusterIsStarted(ctx context.Context) error {
	before := len(s.cloud.Requests())
	if err := s.change(ctx, demo, "a person starts it", &v1.Cluster{}, "demo", `{"spec":{"stopped":false}}`); err != nil {
		return err
	}
	// The database becomes ready after the cluster.
	if err := s.line.Until(ctx, orders, "ready", isReady); err != nil {
		return err
	}
	s.woken("orders")
	for _, a := range s.cloud.Requests()[before:] {
		if a.ID == databaseID(s.namespace, "demo", "clicks") {
			s.figures.NeedlessRequests++
		}
	}
	return nil
}

// allIsDeleted deletes all objects at once. The databases are gone before the
// cluster.
func (s *Story) allIsDeleted(ctx context.Context) error {
	for _, d := range []client.Object{s.cluster("demo"), s.database("orders"), s.database("clicks")} {
		object, _, _ := seen(d)
		s.line.Say(object, "a person deletes it")
		if err := s.person.Delete(ctx, d); err != nil {
			return err
		}
	}
	gone := func(now Seen) bool { return now == Seen{} }
	if err := s.both(ctx, "gone", gone); err != nil {
		return err
	}
	return s.line.Until(ctx, demo, "gone", gone)
}

// start starts an operator without any state of the last one, like a new
// process.
func (s *Story) start(ctx context.Context) error {
	skip := true
	mgr, err := NewOperator(s.operator, s.cloud, ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{s.namespace: {}}},
		// Controller names must be unique in a process, because metrics use
		// them.
		Controller: ctrlconfig.Controller{SkipNameValidation: &skip},
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	s.stop = func() error {
		cancel()
		s.stop = func() error { return nil }
		return <-ended
	}
	s.line.Say("operator", "starts")
	return nil
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Story) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: s.namespace, Name: name}
}

func (s *Story) cluster(name string) *v1.Cluster {
	return &v1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
}

func (s *Story) database(name string) *v1.Database {
	return &v1.Database{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec:       v1.DatabaseSpec{Cluster: "demo"},
	}
}

// change patches an object and waits until the timeline has the new generation.
func (s *Story) change(ctx context.Context, object, what string, obj client.Object, name, patch string) error {
	s.line.Say(object, "%s", what)
	obj.SetNamespace(s.namespace)
	obj.SetName(name)
	if err := s.person.Patch(ctx, obj, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		return err
	}
	return s.line.Until(ctx, object, "changed", func(now Seen) bool { return now.Generation >= obj.GetGeneration() })
}

// both waits for both databases.
func (s *Story) both(ctx context.Context, what string, wanted func(Seen) bool) error {
	return errors.Join(s.line.Until(ctx, orders, what, wanted), s.line.Until(ctx, clicks, what, wanted))
}

func isReady(now Seen) bool { return now.Ready == metav1.ConditionTrue }

func because(reason string) func(Seen) bool {
	return func(now Seen) bool { return now.Ready == metav1.ConditionFalse && now.Reason == reason }
}

// woken records the time from the write of the cluster's status to the first
// request about each database.
func (s *Story) woken(names ...string) {
	var written time.Time
	for _, r := range s.traffic.Requests() {
		if r.Verb == "patch" && r.Resource == "clusters/status" {
			written = r.At
		}
	}
	for _, name := range names {
		for _, a := range s.cloud.Requests() {
			if a.ID == databaseID(s.namespace, "demo", name) && a.At.After(written) {
				took := a.At.Sub(written)
				s.line.Say("Database "+name, "was woken; its first request came %s after the cluster's status was written",
					took.Round(100*time.Microsecond))
				s.figures.Woken = append(s.figures.Woken, took)
				break
			}
		}
	}
}
