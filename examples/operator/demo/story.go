package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/examples/operator/internal/controller"
	"github.com/windlass-go/windlass/examples/operator/internal/kusto"
)

// Story runs the actions of a person on a cluster and its databases, with an
// operator and a cloud. After the first error, no action is done.
type Story struct {
	ctx        context.Context
	err        error
	person     client.WithWatch // the client of the person
	kubeconfig string           // the file of the person, for kubectl
	operator   *rest.Config     // the operator's connection to the API server
	namespace  string           // the namespace of all objects
	cloud      *kusto.Cloud
	clock      *clock   // of the cloud
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
	s := &Story{person: person, kubeconfig: kubeconfig, namespace: namespace, clock: &clock{}, traffic: &Traffic{}, line: NewTimeline(out)}
	s.cloud = kusto.New(s.clock.now)
	s.operator = s.traffic.Of(operator)
	s.stop = func() error { return nil }
	return s
}

// Tell runs the story. Its error names the step that failed.
func (s *Story) Tell(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.ctx, s.err = ctx, s.line.Watch(ctx, s.person, s.namespace)
	for _, chapter := range []func(){
		s.databasesComeFirst, s.clusterIsCreated, s.secondCluster, s.operatorRestarts, s.clusterRuns, s.restartIsQuiet,
		s.passwordIsRotated, s.clusterIsStopped, s.clusterIsStarted, s.allIsDeleted,
	} {
		if s.err == nil {
			chapter()
		}
	}
	return errors.Join(s.err, s.stop())
}

// do does an action, unless there was an error.
func (s *Story) do(action func() error) {
	if s.err == nil {
		s.err = action()
	}
}

// start starts an operator without any state of the last one, like a new
// process.
func (s *Story) start() {
	s.do(func() error {
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
		ctx, cancel := context.WithCancel(s.ctx)
		ended := make(chan error, 1)
		go func() { ended <- operator.Start(ctx) }()
		s.stop = func() error {
			cancel()
			s.stop = func() error { return nil }
			return <-ended
		}
		s.line.Say("operator", "starts")
		return nil
	})
}

// pause waits for d or until the story ends.
func (s *Story) pause(d time.Duration) { s.do(func() error { return sleep(s.ctx, d) }) }

func (s *Story) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.namespace, Name: name}
}

func (s *Story) cluster(name string) *v1.Cluster {
	return &v1.Cluster{ObjectMeta: s.meta(name), Spec: v1.ClusterSpec{Size: 2}}
}

func (s *Story) database(name string) *v1.Database { return &v1.Database{ObjectMeta: s.meta(name)} }

func (s *Story) secret() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: s.meta("admin"), Data: map[string][]byte{"password": []byte("spring")}}
}

// create creates an object as a person.
func (s *Story) create(obj client.Object) {
	object, _, _ := seen(obj)
	s.line.Say(object, "a person creates it")
	s.do(func() error { return s.person.Create(s.ctx, obj) })
}

// delete deletes an object as a person.
func (s *Story) delete(obj client.Object) {
	object, _, _ := seen(obj)
	s.line.Say(object, "a person deletes it")
	s.do(func() error { return s.person.Delete(s.ctx, obj) })
}

// change patches an object as a person, and waits until the timeline has the new
// generation.
func (s *Story) change(obj client.Object, what, patch string) {
	object, _, _ := seen(obj)
	s.line.Say(object, "%s", what)
	s.do(func() error {
		return s.person.Patch(s.ctx, obj, client.RawPatch("application/merge-patch+json", []byte(patch)))
	})
	s.until("changed", func(now Seen) bool { return now.Generation >= obj.GetGeneration() }, object)
}

// until waits until objects fulfil a condition, one after the other.
func (s *Story) until(what string, done func(Seen) bool, objects ...string) {
	for _, object := range objects {
		s.do(func() error { return s.line.Until(s.ctx, object, what, done) })
	}
}

// because waits until objects have a reason.
func (s *Story) because(reason string, objects ...string) {
	s.until(reason, func(now Seen) bool { return now.Ready == metav1.ConditionFalse && now.Reason == reason }, objects...)
}

func isReady(now Seen) bool { return now.Ready == metav1.ConditionTrue }

func isGone(now Seen) bool { return now == Seen{} }

// wakesWithin is the limit for a wake-up, even on a machine that runs much else.
// Without a wake-up a database waits for the resync of an hour.
const wakesWithin = 10 * time.Minute

// woken prints the time from an event to the first request about a database
// after a start.
func (s *Story) woken(name string, start time.Time, event string, at func(first time.Time) time.Time) {
	s.do(func() error {
		for _, a := range s.cloud.Requests() {
			if a.ID != kusto.DatabaseID(s.namespace, "demo", name) || !a.At.After(start) {
				continue
			}
			took := a.At.Sub(at(a.At))
			s.line.Say("Database "+name, "was woken; its first request came %s after %s", took.Round(100*time.Microsecond), event)
			if took < wakesWithin {
				return nil
			}
			return fmt.Errorf("the database %s was woken after %s, which is too late for a wake-up", name, took)
		}
		return fmt.Errorf("the database %s was not woken", name)
	})
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
