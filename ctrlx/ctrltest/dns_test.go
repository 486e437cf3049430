package ctrltest_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"pgregory.net/rapid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/ctrlx/ctrltest"
)

var dns = schema.GroupVersion{Group: "dns.example.com", Version: "v1"}

const finalizer = "dns.example.com/record"

// object has the fields of both kinds.
type object struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              spec   `json:"spec"`
	Status            status `json:"status,omitempty"`
}

type spec struct {
	Enabled bool   `json:"enabled,omitempty"` // of zones
	Zone    string `json:"zone,omitempty"`
	TTL     int    `json:"ttl,omitempty"`
}

type status struct {
	ID         string             `json:"id,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

func (o *object) copied() object {
	out := *o
	o.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = append([]metav1.Condition(nil), o.Status.Conditions...)
	return out
}

type (
	Zone        struct{ object }
	Record      struct{ object }
	list[T any] struct {
		metav1.TypeMeta `json:",inline"`
		metav1.ListMeta `json:"metadata,omitempty"`
		Items           []T `json:"items"`
	}
)

func (z *Zone) DeepCopyObject() runtime.Object   { return &Zone{z.copied()} }
func (r *Record) DeepCopyObject() runtime.Object { return &Record{r.copied()} }
func (l *list[T]) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = append([]T(nil), l.Items...)
	return &out
}

// fakeDNS is a cloud in memory: records by ID.
type fakeDNS struct {
	*ctrltest.Cloud
	mu      sync.Mutex
	records map[string]int
}

// put:

// put creates or changes a record.
func (f *fakeDNS) put(id string, ttl int) error {
	return f.Do(fmt.Sprintf("PUT %s with TTL %d", id, ttl), func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.records[id] = ttl
		f.End(id, true)
		return nil
	})
}

// :put

func (f *fakeDNS) get(id string) (ttl int, found bool, err error) {
	err = f.Do("GET "+id, func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		ttl, found = f.records[id]
		return nil
	})
	return ttl, found, err
}

func (f *fakeDNS) remove(id string) error {
	return f.Do("DELETE "+id, func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.records, id)
		f.End(id, false)
		return nil
	})
}

// The well-known mistakes.
const (
	none             = "none"
	lostWakeUp       = "wake-up lost between the read and its registration"
	lateFinalizer    = "finalizer added after the create"
	swallowed        = "conflict of the status swallowed"
	staleCache       = "decision by a stale cache"
	silentDeletion   = "error of a deletion ignored"
	swallowedAbsence = "404 of a kind that is not served taken for a deleted object"
	statusEveryPass  = "status written on every pass"
)

// records is a reconciler written by hand, with a mistake.
type records struct {
	client.Client
	cloud   *fakeDNS
	mistake string

	mu      sync.Mutex
	waiters map[string]map[types.NamespacedName]bool // by zone
	made    int
}

func (r *records) register(zone string, waiter types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiters[zone] == nil {
		r.waiters[zone] = map[types.NamespacedName]bool{}
	}
	r.waiters[zone][waiter] = true
}

// wake returns the records that wait for a zone.
func (r *records) wake(_ context.Context, zone client.Object) (all []reconcile.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for waiter := range r.waiters[zone.GetName()] {
		all = append(all, reconcile.Request{NamespacedName: waiter})
	}
	return all
}

// Reconcile implements reconcile.Reconciler.
func (r *records) Reconcile(ctx context.Context, q ctrl.Request) (ctrl.Result, error) {
	o := &Record{}
	if err := r.Get(ctx, q.NamespacedName, o); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	id := "record-" + string(o.UID)
	if r.mistake == staleCache {
		id = o.Status.ID
	}
	if o.DeletionTimestamp != nil {
		if !controllerutil.ContainsFinalizer(o, finalizer) {
			return ctrl.Result{}, nil
		}
		if err := r.cloud.remove(id); err != nil && r.mistake != silentDeletion {
			return ctrl.Result{}, err
		}
		controllerutil.RemoveFinalizer(o, finalizer)
		err := r.Update(ctx, o)
		if r.mistake == swallowedAbsence {
			err = client.IgnoreNotFound(err)
		}
		return ctrl.Result{}, err
	}
	if r.mistake != lateFinalizer && controllerutil.AddFinalizer(o, finalizer) {
		if err := r.Update(ctx, o); err != nil {
			return ctrl.Result{}, err
		}
	}

	if r.mistake != lostWakeUp {
		r.register(o.Spec.Zone, q.NamespacedName)
	}
	zone := &Zone{}
	err := r.Get(ctx, client.ObjectKey{Namespace: q.Namespace, Name: o.Spec.Zone}, zone)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	if err != nil || !meta.IsStatusConditionTrue(zone.Status.Conditions, "Ready") {
		err := r.report(ctx, &o.object, o, metav1.ConditionFalse, "WaitingForZone", "waiting for Zone "+o.Spec.Zone)
		r.register(o.Spec.Zone, q.NamespacedName)
		return ctrl.Result{}, err
	}

	if id == "" {
		r.mu.Lock()
		r.made++
		id = fmt.Sprintf("record-%d-%s", r.made, o.UID)
		r.mu.Unlock()
	}
	ttl, found, err := r.cloud.get(id)
	if err == nil && (!found || ttl != o.Spec.TTL) {
		err = r.cloud.put(id, o.Spec.TTL)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if r.mistake == lateFinalizer && controllerutil.AddFinalizer(o, finalizer) {
		if err := r.Update(ctx, o); err != nil {
			return ctrl.Result{}, err
		}
	}
	o.Status.ID = id
	return ctrl.Result{}, r.report(ctx, &o.object, o, metav1.ConditionTrue, "Exists", "")
}

// report writes the status, if it changes.
func (r *records) report(ctx context.Context, o *object, as client.Object, ready metav1.ConditionStatus, reason, message string) error {
	changed := meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{Type: "Ready", Status: ready, Reason: reason, Message: message, ObservedGeneration: o.Generation})
	if r.mistake == statusEveryPass {
		o.Status.Conditions[0].LastTransitionTime = metav1.NewTime(time.Now())
		changed = true
	}
	if !changed {
		return nil
	}
	err := r.Status().Update(ctx, as)
	if r.mistake == swallowed && apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// zones is a reconciler that makes enabled zones Ready.
type zones struct{ records }

// Reconcile implements reconcile.Reconciler.
func (r *zones) Reconcile(ctx context.Context, q ctrl.Request) (ctrl.Result, error) {
	o := &Zone{}
	if err := r.Get(ctx, q.NamespacedName, o); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !o.Spec.Enabled {
		return ctrl.Result{}, r.report(ctx, &o.object, o, metav1.ConditionFalse, "Disabled", "spec.enabled is false")
	}
	return ctrl.Result{}, r.report(ctx, &o.object, o, metav1.ConditionTrue, "Enabled", "")
}

// runDNS is the main function of the operator.
func runDNS(ctx context.Context, c *rest.Config, cloud *fakeDNS, mistake string) error {
	scheme := runtime.NewScheme()
	for kind, o := range map[string]runtime.Object{"Zone": &Zone{}, "Record": &Record{}, "ZoneList": &list[Zone]{}, "RecordList": &list[Record]{}} {
		scheme.AddKnownTypeWithName(dns.WithKind(kind), o)
	}
	metav1.AddToGroupVersion(scheme, dns)
	skip := true
	mgr, err := ctrl.NewManager(c, ctrl.Options{
		Scheme: scheme, Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: &skip},
	})
	if err != nil {
		return err
	}
	r := &records{Client: mgr.GetClient(), cloud: cloud, mistake: mistake, waiters: map[string]map[types.NamespacedName]bool{}}
	var changes []builder.ForOption
	if mistake == swallowed {
		changes = append(changes, builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	}
	if err := ctrl.NewControllerManagedBy(mgr).Named("records").For(&Record{}, changes...).Watches(&Zone{}, handler.EnqueueRequestsFromMapFunc(r.wake)).Complete(r); err != nil {
		return err
	}
	if err := ctrl.NewControllerManagedBy(mgr).Named("zones").For(&Zone{}).Complete(&zones{records{Client: mgr.GetClient()}}); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// operator is the operator of these tests, with a mistake.
func operator(mistake string) ctrltest.Operator {
	var cloud *fakeDNS
	zone := &Zone{object{TypeMeta: metav1.TypeMeta{APIVersion: dns.String(), Kind: "Zone"}, ObjectMeta: metav1.ObjectMeta{Name: "z"}, Spec: spec{Enabled: true}}}
	record := &Record{object{TypeMeta: metav1.TypeMeta{APIVersion: dns.String(), Kind: "Record"}, ObjectMeta: metav1.ObjectMeta{Name: "www"}, Spec: spec{Zone: "z", TTL: 60}}}
	return ctrltest.Operator{
		// operator:
		Cloud: func(c *ctrltest.Cloud) { cloud = &fakeDNS{Cloud: c, records: map[string]int{}} },
		Start: func(ctx context.Context, c *rest.Config) error { return runDNS(ctx, c, cloud, mistake) },
		CRDs:  []string{"testdata"},
		World: []client.Object{zone, record},
		Edit: func(t *rapid.T, o client.Object) {
			switch o := o.(type) {
			case *Zone:
				o.Spec.Enabled = rapid.Bool().Draw(t, "enabled")
			case *Record:
				o.Spec.TTL = rapid.IntRange(1, 3).Draw(t, "ttl")
			}
		},
		// :operator
	}
}
