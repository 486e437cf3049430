package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/windlass-go/windlass/examples/operator/internal/controller"
	"github.com/windlass-go/windlass/examples/operator/internal/kusto"
)

// Story runs the actions of a person on a cluster and its databases, with an
// operator and a cloud.
type Story struct {
	person     client.WithWatch // the client of the person
	kubeconfig string           // the file of the person, for kubectl
	operator   *rest.Config     // the operator's connection to the API server
	namespace  string           // the namespace of all objects
	cloud      *kusto.Cloud
	traffic    *Traffic // the operator's requests to the API server
	line       *Timeline

	running  *controller.Operator
	endpoint string       // the address of its endpoint
	stop     func() error // stops it
	figures  Figures
}

// The objects of the story.
const (
	demo   = "Cluster demo"
	spare  = "Cluster spare"
	orders = "Database orders"
	clicks = "Database clicks"
	admin  = "Secret admin"
)

// NewStory returns a story that has not begun.
func NewStory(out io.Writer, person client.WithWatch, kubeconfig string, operator *rest.Config, namespace string) *Story {
	s := &Story{person: person, kubeconfig: kubeconfig, namespace: namespace, cloud: kusto.New(time.Now), traffic: &Traffic{}, line: NewTimeline(out)}
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
		s.databasesComeFirst, s.clusterIsCreated, s.secondCluster, s.operatorRestarts, s.clusterRuns, s.restartIsQuiet,
		s.passwordIsRotated, s.clusterIsStopped, s.clusterIsStarted, s.allIsDeleted,
	} {
		if err := chapter(ctx); err != nil {
			return err
		}
	}
	return nil
}

// start starts an operator without any state of the last one, like a new
// process.
func (s *Story) start(ctx context.Context) error {
	skip := true
	operator, err := controller.NewOperator(s.operator, s.cloud, ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{s.namespace: {}}},
		// Controller names must be unique in a process, because metrics use
		// them.
		Controller: ctrlconfig.Controller{SkipNameValidation: &skip},
	})
	if err != nil {
		return err
	}
	if s.endpoint, err = serveWhy(operator.Manager); err != nil {
		return err
	}
	s.running = operator
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- operator.Start(ctx) }()
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

func (s *Story) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.namespace, Name: name}
}

// create creates an object as a person.
func (s *Story) create(ctx context.Context, obj client.Object) error {
	object, _, _ := seen(obj)
	s.line.Say(object, "a person creates it")
	return s.person.Create(ctx, obj)
}

// delete deletes an object as a person.
func (s *Story) delete(ctx context.Context, obj client.Object) error {
	object, _, _ := seen(obj)
	s.line.Say(object, "a person deletes it")
	return s.person.Delete(ctx, obj)
}

// change patches an object as a person, and waits until the timeline has the new
// generation.
func (s *Story) change(ctx context.Context, obj client.Object, what, patch string) error {
	object, _, _ := seen(obj)
	s.line.Say(object, "%s", what)
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

func isGone(now Seen) bool { return now == Seen{} }

// woken prints the time from an event to the first request about a database
// after a start.
func (s *Story) woken(name string, start time.Time, event string, at func(first time.Time) time.Time) {
	for _, a := range s.cloud.Requests() {
		if a.ID == kusto.DatabaseID(s.namespace, "demo", name) && a.At.After(start) {
			took := a.At.Sub(at(a.At))
			s.line.Say("Database "+name, "was woken; its first request came %s after %s", took.Round(100*time.Microsecond), event)
			s.figures.Woken = append(s.figures.Woken, took)
			return
		}
	}
}

// clusterWritten returns the time of the last write to a cluster before a time.
func (s *Story) clusterWritten(before time.Time) (at time.Time) {
	for _, r := range s.traffic.Requests() {
		if r.Verb == "patch" && strings.HasPrefix(r.Resource, "clusters") && r.At.Before(before) {
			at = r.At
		}
	}
	return at
}
