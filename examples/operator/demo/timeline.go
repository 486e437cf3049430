package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
)

// Timeline prints the changes of a namespace's objects, as a watch reports
// them: each verdict once. It stores the last state of each object for
// [Timeline.Until].
type Timeline struct {
	out   io.Writer
	start time.Time

	mu      sync.Mutex
	objects map[string]Seen // the key is "Cluster demo"
	changed chan struct{}   // closed at the next change
}

// Seen is the last known state of an object. It is zero for an object that does
// not exist.
type Seen struct {
	Ready      metav1.ConditionStatus // empty: not reported for this generation of the spec
	Reason     string
	Message    string
	State      v1.State // of clusters
	Generation int64
	Version    string // of Secrets
}

// NewTimeline returns a timeline that begins now.
func NewTimeline(out io.Writer) *Timeline {
	return &Timeline{out: out, start: time.Now(), objects: map[string]Seen{}, changed: make(chan struct{})}
}

// Say prints a line about an object.
func (t *Timeline) Say(object, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.say(object, fmt.Sprintf(format, args...))
}

func (t *Timeline) say(object, what string) {
	fmt.Fprintf(t.out, "%6d ms  %-16s  %s\n", time.Since(t.start).Milliseconds(), object, what)
}

// Show prints a text below the last line.
func (t *Timeline) Show(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for line := range strings.Lines(text) {
		fmt.Fprint(t.out, "           ", line)
	}
}

// Until waits until an object fulfils a condition.
func (t *Timeline) Until(ctx context.Context, object, what string, done func(Seen) bool) error {
	for {
		t.mu.Lock()
		now, changed := t.objects[object], t.changed
		t.mu.Unlock()
		if done(now) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%s must become %s, but is %s: %w", object, what, now, context.Cause(ctx))
		}
	}
}

// String describes the state for the timeline.
func (s Seen) String() string {
	what := "not ready: " + s.Reason
	switch {
	case s == Seen{}:
		return "not there"
	case s.Ready == "":
		what = "new"
	case s.Ready == metav1.ConditionTrue:
		what = "ready"
	case s.Message != "":
		what += ": " + s.Message
	}
	if s.State != "" {
		what += fmt.Sprintf(" [%s]", s.State)
	}
	return what
}

// Watch follows the objects of a namespace until the context ends.
func (t *Timeline) Watch(ctx context.Context, api client.WithWatch, namespace string) error {
	for _, list := range []client.ObjectList{&v1.ClusterList{}, &v1.DatabaseList{}, &corev1.SecretList{}} {
		events, err := api.Watch(ctx, list, client.InNamespace(namespace))
		if err != nil {
			return err
		}
		go func() {
			for event := range events.ResultChan() {
				t.event(event)
			}
		}()
	}
	return nil
}

func (t *Timeline) event(e watch.Event) {
	object, now, ok := seen(e.Object)
	if !ok {
		return
	}
	if e.Type == watch.Deleted {
		now = Seen{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.objects[object]
	if now == before {
		return
	}
	t.objects[object] = now
	close(t.changed)
	t.changed = make(chan struct{})
	switch {
	case now == Seen{}:
		t.say(object, "gone")
	case now.Ready != "" && before.String() != now.String():
		t.say(object, now.String())
	}
}

// seen returns the state of an event's object.
func seen(obj runtime.Object) (object string, s Seen, ok bool) {
	var conditions []metav1.Condition
	switch o := obj.(type) {
	case *v1.Cluster:
		object, s, conditions = "Cluster "+o.Name, Seen{State: o.Status.State, Generation: o.Generation}, o.Status.Conditions
	case *v1.Database:
		object, s, conditions = "Database "+o.Name, Seen{Generation: o.Generation}, o.Status.Conditions
	case *corev1.Secret:
		return "Secret " + o.Name, Seen{Version: o.ResourceVersion}, true
	default:
		return "", Seen{}, false
	}
	if ready := meta.FindStatusCondition(conditions, "Ready"); ready != nil && ready.ObservedGeneration == s.Generation {
		s.Ready, s.Reason, s.Message = ready.Status, ready.Reason, ready.Message
	}
	return object, s, true
}
