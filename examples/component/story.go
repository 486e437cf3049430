package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/windlass-go/windlass/examples/component/api/v1"
)

// Story runs the actions of a person on a shop, with an operator.
type Story struct {
	*place
	out     io.Writer
	writes  *Writes
	printed int // the number of writes that the story has printed

	stop func() error // stops the operator
}

// NewStory returns a story that has not begun.
func NewStory(out io.Writer, p *place) *Story {
	return &Story{place: p, out: out, writes: NewWrites(), stop: func() error { return nil }}
}

// Tell runs the story. Its error names the chapter that failed.
func (s *Story) Tell(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := s.start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	chapters := []struct {
		title string
		tell  func(context.Context) error
	}{
		{"The plan for a new shop", s.isPlanned},
		{"The shop is created in waves", s.isCreated},
		{"Drift is corrected at once", s.drifts},
		{"The plan for a change", s.isChanged},
		{"A field is contested", s.isContested},
		{"An annotation changes the update policy", s.isAutoscaled},
		{"A foreign object of a managed type blocks the deletion", s.isBlocked},
		{"The objects are deleted in their order", s.isDeleted},
	}
	for i, chapter := range chapters {
		fmt.Fprintf(s.out, "\n%d. %s\n\n", i+1, chapter.title)
		if err := chapter.tell(ctx); err != nil {
			return fmt.Errorf("%s: %w", strings.ToLower(chapter.title[:1])+chapter.title[1:], err)
		}
	}
	return nil
}

// isPlanned prints the plan for a shop that does not exist.
func (s *Story) isPlanned(ctx context.Context) error { return s.plan(ctx, s.corner()) }

// plan prints the plan for a shop.
func (s *Story) plan(ctx context.Context, shop *v1.Shop) error {
	p, err := planOf(ctx, s.api, shop)
	if err != nil {
		return err
	}
	s.quote(p.String())
	return nil
}

func (s *Story) isCreated(ctx context.Context) error {
	s.say("person", "creates Shop corner")
	if err := s.api.Create(ctx, s.corner()); err != nil {
		return err
	}
	if s.local { // a real cluster starts the web servers itself
		if err := s.until(ctx, because("Processing", "Deployment")); err != nil {
			return err
		}
		s.say("cluster", "starts the web servers")
		if err := runDeployments(ctx, s.api, s.namespace); err != nil {
			return err
		}
	}
	return s.until(ctx, isReady)
}

// drifts changes an object, and deletes it.
func (s *Story) drifts(ctx context.Context) error {
	settings := &corev1.ConfigMap{ObjectMeta: s.meta("corner-settings")}
	s.say("person", "changes the greeting in the ConfigMap to Bye")
	began := time.Now()
	if err := s.patch(ctx, settings, `{"data":{"greeting":"Bye"}}`, "person"); err != nil {
		return err
	}
	if err := s.greets(ctx, "Welcome"); err != nil {
		return err
	}
	s.say("ConfigMap", "has the greeting Welcome again, after %d ms", time.Since(began).Milliseconds())
	s.say("person", "deletes the ConfigMap")
	if err := s.api.Delete(ctx, settings); err != nil {
		return err
	}
	return s.greets(ctx, "Welcome")
}

// isChanged plans a change from outside of the operator, and then makes it.
func (s *Story) isChanged(ctx context.Context) error {
	s.say("person", "asks for the plan of the greeting Ciao")
	changed := s.corner()
	changed.Spec.Greeting = "Ciao"
	if err := s.plan(ctx, changed); err != nil {
		return err
	}
	s.say("person", "changes the greeting of the Shop to Ciao")
	if err := s.patch(ctx, s.corner(), `{"spec":{"greeting":"Ciao"}}`, "person"); err != nil {
		return err
	}
	if err := s.greets(ctx, "Ciao"); err != nil {
		return err
	}
	return s.until(ctx, isReady)
}

// isContested lets an autoscaler set a field that the template sets, too.
func (s *Story) isContested(ctx context.Context) error {
	grow := func() error {
		s.say("autoscaler", "sets the replicas of the Deployment to 5")
		return s.patch(ctx, s.server(), `{"spec":{"replicas":5}}`, "autoscaler")
	}
	if err := grow(); err != nil {
		return err
	}
	if err := s.scaled(ctx, 2); err != nil {
		return err
	}
	if err := grow(); err != nil {
		return err
	}
	return s.until(ctx, because("DependentContested", "autoscaler"))
}

func (s *Story) isAutoscaled(ctx context.Context) error {
	s.say("person", "sets autoscaled in the Shop; its template then has %s/update-policy: SsaMerge, and no replicas", name)
	if err := s.patch(ctx, s.corner(), `{"spec":{"autoscaled":true}}`, "person"); err != nil {
		return err
	}
	if err := s.until(ctx, isReady); err != nil {
		return err
	}
	if err := s.scaled(ctx, 5); err != nil {
		return err
	}
	s.say("autoscaler", "sets the replicas of the Deployment to 6")
	if err := s.patch(ctx, s.server(), `{"spec":{"replicas":6}}`, "autoscaler"); err != nil {
		return err
	}
	s.say("person", "changes the greeting to Salve")
	if err := s.patch(ctx, s.corner(), `{"spec":{"greeting":"Salve"}}`, "person"); err != nil {
		return err
	}
	if err := s.greets(ctx, "Salve"); err != nil {
		return err
	}
	if err := s.until(ctx, isReady); err != nil {
		return err
	}
	return s.scaled(ctx, 6)
}

func (s *Story) isBlocked(ctx context.Context) error {
	s.say("customer", "creates Coupon summer")
	if err := s.api.Create(ctx, s.coupon()); err != nil {
		return err
	}
	s.say("person", "deletes the Shop")
	if err := s.api.Delete(ctx, s.corner()); err != nil {
		return err
	}
	return s.until(ctx, because("DeletionBlocked", "summer"))
}

func (s *Story) isDeleted(ctx context.Context) error {
	s.say("customer", "deletes Coupon summer")
	if err := s.api.Delete(ctx, s.coupon()); err != nil {
		return err
	}
	err := s.wait(ctx, "is gone", func(ctx context.Context) (bool, string, error) {
		err := s.api.Get(ctx, client.ObjectKeyFromObject(s.corner()), &v1.Shop{})
		return apierrors.IsNotFound(err), "it exists", client.IgnoreNotFound(err)
	})
	if err != nil {
		return err
	}
	s.flush()
	s.say("Shop", "is gone")
	return nil
}

// start starts the operator.
func (s *Story) start(ctx context.Context) error {
	skip := true
	mgr, err := NewOperator(s.writes.Of(s.operator), ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{s.namespace: {}}},
		// Controller names must be unique in a process, because metrics use them.
		Controller: ctrlconfig.Controller{SkipNameValidation: &skip},
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	s.stop = func() error { cancel(); return <-ended }
	return nil
}

// The objects of the story.

func (s *Story) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.namespace, Name: name}
}

func (s *Story) corner() *v1.Shop { return &v1.Shop{ObjectMeta: s.meta("corner")} }

func (s *Story) server() *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: s.meta("corner-server")}
}

func (s *Story) coupon() *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"percent": int64(20)}}}
	u.SetAPIVersion("shop.example.com/v1")
	u.SetKind("Coupon")
	u.SetNamespace(s.namespace)
	u.SetName("summer")
	return u
}

func (s *Story) patch(ctx context.Context, obj client.Object, patch, manager string) error {
	return s.api.Patch(ctx, obj, client.RawPatch("application/merge-patch+json", []byte(patch)), client.FieldOwner(manager))
}

// say prints a line after the writes before it.
func (s *Story) say(who, format string, args ...any) {
	s.flush()
	fmt.Fprintf(s.out, "  %-10s  %s\n", who, fmt.Sprintf(format, args...))
}

func (s *Story) quote(text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(s.out, "      %s", line)
	}
}

// seen returns all writes so far.
func (s *Story) seen() []string {
	all, _ := s.writes.After(0)
	return all
}

// flush prints the new writes of the operator.
func (s *Story) flush() {
	all := s.seen()[s.printed:]
	s.printed += len(all)
	for _, what := range all {
		s.say("operator", "%s", what)
	}
}

// until waits until the condition Ready of the shop has a state, and prints it.
func (s *Story) until(ctx context.Context, wanted func(metav1.Condition) bool) error {
	var ready metav1.Condition
	err := s.wait(ctx, "reports it", func(ctx context.Context) (bool, string, error) {
		shop := &v1.Shop{}
		if err := s.api.Get(ctx, client.ObjectKeyFromObject(s.corner()), shop); err != nil {
			return false, "", err
		}
		c := meta.FindStatusCondition(shop.Status.Conditions, "Ready")
		if c == nil {
			return false, "it has no condition Ready", nil
		}
		ready = *c
		return c.ObservedGeneration == shop.Generation && wanted(*c), fmt.Sprintf("it is %s: %s: %s", c.Status, c.Reason, c.Message), nil
	})
	if err != nil {
		return err
	}
	s.flush()
	if ready.Status == metav1.ConditionTrue {
		s.say("Shop", "is ready")
		return nil
	}
	first, rest, _ := strings.Cut(ready.Message, "\n")
	s.say("Shop", "is not ready: %s: %s", ready.Reason, first)
	s.quote(rest)
	return nil
}

func isReady(c metav1.Condition) bool { return c.Status == metav1.ConditionTrue }

func because(reason, text string) func(metav1.Condition) bool {
	return func(c metav1.Condition) bool { return c.Reason == reason && strings.Contains(c.Message, text) }
}

// greets waits until the operator has written a greeting into the ConfigMap.
func (s *Story) greets(ctx context.Context, greeting string) error {
	return s.wrote(ctx, "the ConfigMap has the greeting "+greeting, func(ctx context.Context) (bool, string, error) {
		settings := &corev1.ConfigMap{}
		err := s.api.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: "corner-settings"}, settings)
		text, _ := json.Marshal(settings.Data)
		return settings.Data["greeting"] == greeting, "it has " + string(text), client.IgnoreNotFound(err)
	})
}

// scaled waits until the Deployment has a number of replicas.
func (s *Story) scaled(ctx context.Context, n int32) error {
	d := s.server()
	err := s.wait(ctx, fmt.Sprintf("has %d replicas", n), func(ctx context.Context) (bool, string, error) {
		err := s.api.Get(ctx, client.ObjectKeyFromObject(d), d)
		return d.Spec.Replicas != nil && *d.Spec.Replicas == n, "it has others", err
	})
	if err == nil {
		s.say("Deployment", "has %d replicas", n)
	}
	return err
}

// wrote waits for a state that a write of the operator causes.
func (s *Story) wrote(ctx context.Context, what string, done func(context.Context) (bool, string, error)) error {
	err := s.wait(ctx, what, func(ctx context.Context) (bool, string, error) {
		if len(s.seen()) == s.printed {
			return false, "the operator has written nothing", nil
		}
		return done(ctx)
	})
	s.flush()
	return err
}

// wait waits for a state of the cluster.
func (s *Story) wait(ctx context.Context, what string, done func(context.Context) (bool, string, error)) error {
	now := ""
	err := wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(ctx context.Context) (ok bool, err error) {
		ok, now, err = done(ctx)
		return ok, err
	})
	if err != nil {
		return fmt.Errorf("waiting until it %s: %s: %w", what, now, err)
	}
	return nil
}
