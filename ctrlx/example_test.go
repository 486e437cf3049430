package ctrlx_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// The main function of a kubebuilder project. Database stands for a type of yours whose status has conditions.
func Example() {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{Scheme: scheme})
	if err != nil {
		panic(err)
	}
	databases := ctrlx.New("Database", flow.Operations[*Database]{Apply: create, Delete: drop}, flow.Extensions[*Database]{
		OwnerCheck: chain.New(checks.OwnerReady()), // of the cluster that the controlling owner reference names
		PreCheck: chain.New(checks.ReferenceReady("network", func(d *Database) []checks.Ref {
			return []checks.Ref{{Group: "example.com", Kind: "Network", Name: d.Spec.Network}}
		})),
	})
	if err := databases.SetupWithManager(mgr); err != nil {
		panic(err)
	}
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		panic(err)
	}
}

// Database is a kind of the example's own.
type Database struct {
	testv1.Database
	Spec struct{ Network string }
}

func create(_ context.Context, req *flow.Request[*Database]) (flow.Progress, error) {
	req.Resource.Status.Size = 1 // a PUT to the cloud; what it answers goes into the status
	return flow.Done(), nil
}

func drop(context.Context, *flow.Request[*Database]) (flow.Progress, error) {
	return flow.Done(), nil // a DELETE; what is not there any more is done, too
}

// An existing reconciler gets a link that turns panics into errors.
func ExampleWrap() {
	var mgr ctrl.Manager
	var existing reconcile.Reconciler
	_ = ctrl.NewControllerManagedBy(mgr).For(&testv1.Database{}).Complete(ctrlx.Wrap(existing, chain.Recover))
}

func sourceIsPinned(context.Context, client.Client, *Database) error { return nil }

func noteRevision(context.Context, client.Client, *Database) error { return nil }

// Hooks are links: they are listed where they run, with the checks.
func ExampleReconciler_WithPostReadHook() {
	databases := ctrlx.New("Database", flow.Operations[*Database]{Apply: create, Delete: drop}, flow.Extensions[*Database]{}).
		WithPostReadHook(sourceIsPinned).
		WithPostReconcileHook(noteRevision)

	ext := databases.Flow().Extensions()
	fmt.Println("Pass:     ", ext.Pass)
	fmt.Println("PostCheck:", ext.PostCheck)
	// Output:
	// Pass:      PostReadHook(ctrlx_test.sourceIsPinned)
	// PostCheck: QuietRestart -> PostReconcileHook(ctrlx_test.noteRevision)
}

// A hook that comes too early says when to call it again, and why in a word.
func ExampleNewRetriableError() {
	credentials := func(ctx context.Context, c client.Client, d *Database) error {
		secret := &corev1.Secret{}
		key := client.ObjectKey{Namespace: d.Namespace, Name: "credentials"}
		if err := c.Get(ctx, key, secret); client.IgnoreNotFound(err) != nil {
			return err
		} else if err != nil {
			return ctrlx.NewRetriableError(err, ptr.To(10*time.Second)).WithReason("CredentialsMissing")
		}
		return nil
	}
	ctrlx.New("Database", flow.Operations[*Database]{Apply: create, Delete: drop}, flow.Extensions[*Database]{}).
		WithPreReconcileHook(credentials)

	var retriable ctrlx.RetriableError
	err := fmt.Errorf("the source: %w", ctrlx.NewRetriableError(errors.New("no digest yet"), ptr.To(time.Minute)))
	fmt.Println(errors.As(err, &retriable), retriable.RetryAfter(), err)
	// Output: true 1m0s the source: no digest yet
}

// Tuning is embedded in the spec of kinds whose users may say how often and how long to try, and when to stop.
type Tuning struct {
	RequeueInterval *metav1.Duration `json:"requeueInterval,omitempty"`
	RetryInterval   *metav1.Duration `json:"retryInterval,omitempty"`
	Timeout         *metav1.Duration `json:"timeout,omitempty"`
	Suspend         bool             `json:"suspend,omitempty"`
}

func (t *Tuning) GetRequeueInterval() time.Duration {
	return ptr.Deref(t.RequeueInterval, metav1.Duration{}).Duration
}
func (t *Tuning) GetRetryInterval() time.Duration {
	return ptr.Deref(t.RetryInterval, metav1.Duration{}).Duration
}
func (t *Tuning) GetTimeout() time.Duration { return ptr.Deref(t.Timeout, metav1.Duration{}).Duration }
func (t *Tuning) IsSuspended() bool         { return t.Suspend }

// Tuned is a kind with such a spec. That it has a time-out and can be suspended is found out by New.
type Tuned struct {
	Database
	Spec struct{ Tuning }
}

func ExampleSuspendConfiguration() {
	tuned := ctrlx.New("Tuned", flow.Operations[*Tuned]{
		Apply: func(context.Context, *flow.Request[*Tuned]) (flow.Progress, error) { return flow.Done(), nil },
	}, flow.Extensions[*Tuned]{})
	fmt.Println(tuned.Flow().Extensions().Pass)
	// Output: Suspended
}

// A link on Pass also runs for a resource that is suspended or paused. It counts
// these resources here.
func ExampleConditionPaused() {
	var held atomic.Int64
	count := chain.Named("CountHeld", func(next flow.PassHandler[*Tuned]) flow.PassHandler[*Tuned] {
		return func(ctx context.Context, t *Tuned) (flow.Outcome, error) {
			out, err := next(ctx, t)
			if out.Reason() == ctrlx.ReasonSuspended || out.Reason() == checks.ReasonPaused {
				held.Add(1)
			}
			return out, err
		}
	})
	tuned := ctrlx.New("Tuned", flow.Operations[*Tuned]{
		Apply: func(context.Context, *flow.Request[*Tuned]) (flow.Progress, error) { return flow.Done(), nil },
	}, flow.Extensions[*Tuned]{Pass: chain.New(count)})
	fmt.Println(tuned.Flow().Extensions().Pass)
	// Output: CountHeld -> Suspended
}

// The parts of a database are deployed with the rights of the service account of its
// namespace.
func ExampleWithImpersonation() {
	apply := func(ctx context.Context, req *flow.Request[*Database]) (flow.Progress, error) {
		target, err := ctrlx.ClientFromContext(ctx)
		if err != nil {
			return flow.Progress{}, err
		}
		settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: req.Resource.Namespace, Name: req.Resource.Name}}
		return flow.Done(), client.IgnoreAlreadyExists(target.Create(ctx, settings))
	}
	databases := ctrlx.New("Database", flow.Operations[*Database]{Apply: apply}, flow.Extensions[*Database]{},
		ctrlx.WithImpersonation(func(d *Database) rest.ImpersonationConfig {
			return rest.ImpersonationConfig{UserName: "system:serviceaccount:" + d.Namespace + ":deployer"}
		}))
	fmt.Println(databases.Flow().Extensions().Pass)
	// Output: WithImpersonation
}

// A database needs a token of the cloud, as the records of a DNS operator do. The check waits until the Secret has it, also
// while the database is in sync. Get and Apply read the same Secret, and a rotated token causes a pass.
func ExampleRead() {
	token := func(d *Database) []checks.Ref { return []checks.Ref{{Kind: "Secret", Name: d.Name + "-token"}} }
	hasToken := checks.ReferenceIs("token", token, func(_ *Database, s *corev1.Secret) string {
		if len(s.Data["token"]) == 0 {
			return `it has no key "token"; add it`
		}
		return ""
	})
	ctrlx.New("Database", flow.Operations[*Database]{
		Apply: func(ctx context.Context, req *flow.Request[*Database]) (flow.Progress, error) {
			secret, err := ctrlx.Read[*corev1.Secret](ctx, token(req.Resource)[0])
			if err != nil {
				return flow.Progress{}, err
			}
			return flow.Done(), putWith(ctx, secret.Data["token"], req.Resource)
		},
	}, flow.Extensions[*Database]{GetCheck: chain.New(hasToken)})
}

func putWith(context.Context, []byte, *Database) error { return nil }

// The parts of a database are deployed to the cluster whose kubeconfig is in a Secret of
// its namespace.
func ExampleWithTargetClient() {
	ctrlx.New("Database", flow.Operations[*Database]{Apply: create, Delete: drop}, flow.Extensions[*Database]{},
		ctrlx.WithTargetClient(func(ctx context.Context, _ client.Client, d *Database) (client.Client, error) {
			secret, err := ctrlx.Read[*corev1.Secret](ctx, checks.Ref{Kind: "Secret", Name: "kubeconfig"})
			if err != nil {
				return nil, err
			}
			return clientOf(secret)
		}))
}

func clientOf(*corev1.Secret) (client.Client, error) {
	return nil, errors.New("see clientcmd.RESTConfigFromKubeConfig")
}

// A webhook of the cloud reports that an operation ended. The handler must check
// who sent the event; that is left out here.
func ExampleReconciler_Poke() {
	databases := ctrlx.New("Database", flow.Operations[*testv1.Database]{Apply: put}, flow.Extensions[*testv1.Database]{})
	webhook := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var event struct{ Namespace, Name string }
		if err := json.NewDecoder(http.MaxBytesReader(w, req.Body, 1<<16)).Decode(&event); err != nil {
			http.Error(w, "the event is not readable", http.StatusBadRequest)
			return
		}
		if !databases.Poke(types.NamespacedName{Namespace: event.Namespace, Name: event.Name}) {
			http.Error(w, "another replica reconciles the object: send the event again", http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	})

	// This process is not the leader yet.
	answer := httptest.NewRecorder()
	webhook.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"namespace": "team", "name": "orders"}`)))
	fmt.Println(answer.Code, strings.TrimSpace(answer.Body.String()))
	// Output: 503 another replica reconciles the object: send the event again
}

// A database is reconciled when its plan changes, and when one of its labels
// changes. Checks need no such options: the manager watches what they read.
func ExampleWithWatches() {
	databasesOf := func(_ context.Context, plan client.Object) (all []reconcile.Request) {
		for name := range strings.FieldsSeq(plan.GetAnnotations()["databases"]) {
			all = append(all, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: plan.GetNamespace(), Name: name}})
		}
		return all
	}
	databases := ctrlx.New("Database", flow.Operations[*testv1.Database]{Apply: put}, flow.Extensions[*testv1.Database]{},
		ctrlx.WithWatches(&testv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(databasesOf), predicate.GenerationChangedPredicate{}),
		ctrlx.WithWatches(&testv1.Database{}, &handler.EnqueueRequestForObject{}, predicate.LabelChangedPredicate{}),
	)
	_ = databases.SetupWithManager // with the manager
	// Output:
}

// Databases have a class, which names the controller that is responsible, and an approver. The databases of other
// controllers get no finalizer and no condition. A denied one is finished. An approval wakes the database that waits
// for it.
func ExampleReconciler_decisions() {
	type Request = checks.Request[*testv1.Database]
	class := checks.Check("class", func(_ context.Context, req *Request) (checks.Result, error) {
		if class := req.Resource.Annotations["example.com/class"]; class != "mine" {
			return checks.Ignore(fmt.Sprintf("the class %q is of another controller", class)), nil
		}
		return checks.Proceed(), nil
	})
	approved := checks.Check("approved", func(_ context.Context, req *Request) (checks.Result, error) {
		all := req.Resource.Status.Conditions
		switch {
		case req.Deleting, meta.IsStatusConditionTrue(all, "Approved"):
			return checks.Proceed(), nil
		case meta.IsStatusConditionTrue(all, "Denied"):
			return checks.Block("Denied", "the approver denied the database", checks.WithRetry(classify.Never)), nil
		}
		return checks.Block("ApprovalPending", "the approver has not decided", checks.WithWaitingForSelf()), nil
	})
	retained := checks.Check("retained", func(_ context.Context, req *Request) (checks.Result, error) {
		if req.Resource.Annotations["example.com/policy"] == "Retain" {
			return checks.Release("the reclaim policy is Retain"), nil
		}
		return checks.Proceed(), nil
	})
	put := func(context.Context, *flow.Request[*testv1.Database]) (flow.Progress, error) { return flow.Done(), nil }
	databases := ctrlx.New("Database", flow.Operations[*testv1.Database]{Apply: put, Delete: put}, flow.Extensions[*testv1.Database]{
		EntryCheck:  chain.New(class, approved),
		DeleteCheck: chain.New(retained),
	})

	ext := databases.Flow().Extensions()
	fmt.Println("EntryCheck: ", ext.EntryCheck)
	fmt.Println("Apply:      ", ext.Apply)
	fmt.Println("DeleteCheck:", ext.DeleteCheck)
	// Output:
	// EntryCheck:  class -> approved -> Gate(OperationVerified)
	// Apply:       Finalizer
	// DeleteCheck: retained
}

// base returns the extensions that all kinds share.
func base[T client.Object]() flow.Extensions[T] {
	return flow.Extensions[T]{PreCheck: chain.New(checks.Paused(func(obj T) bool {
		return obj.GetAnnotations()["example.com/paused"] == "true"
	}))}
}

// operations are written once, for all kinds.
func operations[T client.Object](put func(context.Context, client.Object) error) flow.Operations[T] {
	return flow.Operations[T]{Apply: func(ctx context.Context, req *flow.Request[T]) (flow.Progress, error) {
		return flow.Done(), put(ctx, req.Resource)
	}}
}

// An operator for many kinds. The authors of a kind register its typed extensions. The operator has a line for
// each kind.
func ExampleSetupAll() {
	var registry flow.Registry[client.Object]
	flow.Register(&registry, "Cluster", base[*testv1.Cluster]())
	flow.Register(&registry, "Database", base[*testv1.Database]().Extend(flow.Extensions[*testv1.Database]{
		OwnerCheck: chain.New(checks.OwnerReady()),
	}))

	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{Scheme: scheme})
	if err != nil {
		panic(err)
	}
	put := func(context.Context, client.Object) error { return nil } // a request to the cloud
	err = ctrlx.SetupAll(mgr, &registry,
		ctrlx.NewKind("Cluster", operations[*testv1.Cluster](put)),
		ctrlx.NewKind("Database", operations[*testv1.Database](put), flow.WithExplanations(100)),
	)
	if err != nil {
		panic(err)
	}
}
