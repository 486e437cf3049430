package main

import (
	"context"
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

// Story runs the actions of a person on a shop, with an operator. After the first
// error, no action is done.
type Story struct {
	*place
	ctx     context.Context
	out     io.Writer
	writes  Writes
	printed int // the number of writes that the story has printed
	err     error
}

// NewStory returns a story that has not begun.
func NewStory(out io.Writer, p *place) *Story { return &Story{place: p, out: out} }

// limit is the limit for the story.
const limit = 2 * time.Minute

// Tell runs the story. Its error names the chapter that failed.
func (s *Story) Tell(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("out of time after %s", limit))
	defer cancel()
	s.ctx = ctx
	skip := true
	mgr, err := NewOperator(s.writes.Of(s.operator), ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		// Controller names must be unique in a process, because metrics use them.
		Controller: ctrlconfig.Controller{SkipNameValidation: &skip},
	})
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	defer func() { cancel(); err = errors.Join(err, <-ended) }()
	chapters := []struct {
		title string
		tell  func()
	}{
		{"The plan for a new shop", func() { s.plan(s.corner()) }},
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
		if chapter.tell(); s.err != nil {
			return fmt.Errorf("%s: %w", chapter.title, s.err)
		}
	}
	return nil
}

// plan prints the plan for a shop.
func (s *Story) plan(shop *v1.Shop) {
	s.do(func() error {
		p, err := planOf(s.ctx, s.api, shop)
		if err != nil {
			return err
		}
		for line := range strings.Lines(p.String()) {
			fmt.Fprintf(s.out, "      %s", line)
		}
		return nil
	})
}

func (s *Story) isCreated() {
	s.say("person", "creates Shop corner")
	s.create(s.corner())
	s.until(because("Processing", "Deployment"))
	s.say("cluster", "starts the web servers")
	s.do(func() error { return runDeployments(s.ctx, s.api, namespace) })
	s.until(isReady)
}

// drifts changes an object, and deletes it.
func (s *Story) drifts() {
	settings := &corev1.ConfigMap{ObjectMeta: metaOf("corner-settings")}
	s.say("person", "changes the greeting in the ConfigMap to Bye")
	began := time.Now()
	s.patch(settings, `{"data":{"greeting":"Bye"}}`, "person")
	s.greets("Welcome")
	s.say("ConfigMap", "has the greeting Welcome again, after %d ms", time.Since(began).Milliseconds())
	s.say("person", "deletes the ConfigMap")
	s.delete(settings)
	s.greets("Welcome")
}

// isChanged plans a change from outside of the operator, and then makes it.
func (s *Story) isChanged() {
	s.say("person", "asks for the plan of the greeting Ciao")
	changed := s.corner()
	changed.Spec.Greeting = "Ciao"
	s.plan(changed)
	s.say("person", "changes the greeting of the Shop to Ciao")
	s.patch(s.corner(), `{"spec":{"greeting":"Ciao"}}`, "person")
	s.greets("Ciao")
	s.until(isReady)
}

// isContested lets an autoscaler set a field that the template sets, too.
func (s *Story) isContested() {
	s.grows(5)
	s.scaled(2)
	s.grows(5)
	s.until(because("DependentContested", "autoscaler"))
}

func (s *Story) isAutoscaled() {
	s.say("person", "sets autoscaled in the Shop; its template then has %s/update-policy: SsaMerge, and no replicas", name)
	s.patch(s.corner(), `{"spec":{"autoscaled":true}}`, "person")
	s.until(isReady)
	s.scaled(5)
	s.grows(6)
	s.say("person", "changes the greeting to Salve")
	s.patch(s.corner(), `{"spec":{"greeting":"Salve"}}`, "person")
	s.greets("Salve")
	s.until(isReady)
	s.scaled(6)
}

func (s *Story) isBlocked() {
	s.say("customer", "creates Coupon summer")
	s.create(coupon())
	s.say("person", "deletes the Shop")
	s.delete(s.corner())
	s.until(because("DeletionBlocked", "summer"))
}

func (s *Story) isDeleted() {
	s.say("customer", "deletes Coupon summer")
	s.delete(coupon())
	s.wait("is gone", func() (bool, string, error) {
		err := s.api.Get(s.ctx, client.ObjectKeyFromObject(s.corner()), &v1.Shop{})
		return apierrors.IsNotFound(err), "it exists", client.IgnoreNotFound(err)
	})
	s.say("Shop", "is gone")
}

// The objects of the story.

func metaOf(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func (s *Story) corner() *v1.Shop { return &v1.Shop{ObjectMeta: metaOf("corner")} }

func server() *appsv1.Deployment { return &appsv1.Deployment{ObjectMeta: metaOf("corner-server")} }

func coupon() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "shop.example.com/v1", "kind": "Coupon",
		"metadata": map[string]any{"namespace": namespace, "name": "summer"}, "spec": map[string]any{"percent": int64(20)},
	}}
}

// The actions of the story.

// do does an action, unless there was an error.
func (s *Story) do(action func() error) {
	if s.err == nil {
		s.err = action()
	}
}

func (s *Story) create(obj client.Object) {
	s.do(func() error { return s.api.Create(s.ctx, obj) })
}

func (s *Story) delete(obj client.Object) {
	s.do(func() error { return s.api.Delete(s.ctx, obj) })
}

func (s *Story) patch(obj client.Object, patch, manager string) {
	change := client.RawPatch("application/merge-patch+json", []byte(patch))
	s.do(func() error { return s.api.Patch(s.ctx, obj, change, client.FieldOwner(manager)) })
}

// grows lets an autoscaler set the replicas.
func (s *Story) grows(replicas int) {
	s.say("autoscaler", "sets the replicas of the Deployment to %d", replicas)
	s.patch(server(), fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas), "autoscaler")
}

// say prints a line after the new writes of the operator.
func (s *Story) say(who, format string, args ...any) {
	if s.flush(); s.err == nil {
		fmt.Fprintf(s.out, "  %-10s  %s\n", who, fmt.Sprintf(format, args...))
	}
}

// flush prints the new writes of the operator.
func (s *Story) flush() {
	writes := s.writes.After(s.printed)
	s.printed += len(writes)
	for _, what := range writes {
		fmt.Fprintf(s.out, "  operator    %s\n", what)
	}
}

// until waits until the condition Ready of the shop has a state, and prints it.
func (s *Story) until(wanted func(metav1.Condition) bool) {
	var ready metav1.Condition
	s.wait("reports it", func() (bool, string, error) {
		shop := s.corner()
		if err := s.api.Get(s.ctx, client.ObjectKeyFromObject(shop), shop); err != nil {
			return false, "", err
		}
		c := meta.FindStatusCondition(shop.Status.Conditions, "Ready")
		if c == nil {
			return false, "it has no condition Ready", nil
		}
		ready = *c
		return c.ObservedGeneration == shop.Generation && wanted(*c), fmt.Sprintf("it is %s: %s: %s", c.Status, c.Reason, c.Message), nil
	})
	if isReady(ready) {
		s.say("Shop", "is ready")
	} else {
		s.say("Shop", "is not ready: %s: %s", ready.Reason, ready.Message)
	}
}

func isReady(c metav1.Condition) bool { return c.Status == metav1.ConditionTrue }

func because(reason, text string) func(metav1.Condition) bool {
	return func(c metav1.Condition) bool { return c.Reason == reason && strings.Contains(c.Message, text) }
}

// greets waits until the operator has written a greeting into the ConfigMap.
func (s *Story) greets(greeting string) {
	s.wait("has the greeting "+greeting, func() (bool, string, error) {
		settings := &corev1.ConfigMap{}
		err := s.api.Get(s.ctx, client.ObjectKey{Namespace: namespace, Name: "corner-settings"}, settings)
		written := len(s.writes.After(s.printed)) > 0
		return written && settings.Data["greeting"] == greeting, fmt.Sprint("it has ", settings.Data), client.IgnoreNotFound(err)
	})
	s.flush()
}

// scaled waits until the Deployment has a number of replicas.
func (s *Story) scaled(n int32) {
	s.wait(fmt.Sprintf("has %d replicas", n), func() (bool, string, error) {
		d := server()
		err := s.api.Get(s.ctx, client.ObjectKeyFromObject(d), d)
		return d.Spec.Replicas != nil && *d.Spec.Replicas == n, "it has others", err
	})
	s.say("Deployment", "has %d replicas", n)
}

// wait waits for a state of the cluster.
func (s *Story) wait(what string, done func() (bool, string, error)) {
	if s.err != nil {
		return
	}
	now := ""
	err := wait.PollUntilContextCancel(s.ctx, 10*time.Millisecond, true, func(context.Context) (ok bool, err error) {
		ok, now, err = done()
		return ok, err
	})
	if err != nil {
		s.err = fmt.Errorf("waiting until it %s: %s: %w", what, now, errors.Join(err, context.Cause(s.ctx)))
	}
}
