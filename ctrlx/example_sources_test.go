package ctrlx_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

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
