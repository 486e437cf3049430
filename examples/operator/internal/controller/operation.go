package controller

import (
	"errors"
	"fmt"
	"net/http"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/examples/operator/internal/kusto"
	"github.com/windlass-go/windlass/flow"
)

// advance sends one request of a long-running operation. Without a token it
// begins the operation; with a token it polls it. It never waits: the next pass
// uses the token. observe stores the thing after the beginning and after the end.
//
// A failed poll leaves the operation under way, because it may continue in the
// cloud. It ends when the cloud reports an error of the operation or does not
// know the operation.
func advance(cloud *kusto.Cloud, token, id string, begin func() (kusto.Thing, string, error), observe func(kusto.Thing)) (flow.Progress, error) {
	if token == "" {
		begun, token, err := begin()
		if err != nil {
			return flow.Progress{}, err
		}
		observe(begun)
		return flow.InProgress(token, kusto.AskAgainIn), nil
	}
	if p, err := poll(cloud, token); err != nil || !p.IsDone() {
		return p, err
	}
	found, err := cloud.Get(id)
	switch {
	case notThere(err): // it was deleted meanwhile and must be created again
		return flow.Progress{}, flow.Failed(err)
	case err != nil:
		return flow.Progress{}, err
	}
	observe(found)
	return flow.Done(), nil
}

// poll polls the operation of a token once.
func poll(cloud *kusto.Cloud, token string) (flow.Progress, error) {
	status, err := cloud.Poll(token)
	switch {
	case notThere(err):
		return flow.Progress{}, flow.Failed(err)
	case err != nil:
		return flow.Progress{}, err
	case status.Failed != nil:
		return flow.Progress{}, flow.Failed(status.Failed)
	case !status.Done:
		return flow.InProgress(token, status.Again), nil
	}
	return flow.Done(), nil
}

// remove sends one request of a deletion. A thing that does not exist is deleted.
// A deletion that the cloud does not know begins again, because the thing may
// still exist.
func remove(cloud *kusto.Cloud, token, id, correlation string) (flow.Progress, error) {
	if token != "" {
		return poll(cloud, token)
	}
	token, err := cloud.Delete(id, correlation)
	switch {
	case notThere(err):
		return flow.Done(), nil
	case err != nil:
		return flow.Progress{}, err
	}
	return flow.InProgress(token, kusto.AskAgainIn), nil
}

// observed returns the Observation of a GET with the error err. If the resource
// does not exist, forget clears the status, because an old state would block
// the PUT. If it exists, inSync reports whether it has the spec.
func observed(err error, forget func(), inSync func() bool) (flow.Observation, error) {
	switch {
	case notThere(err):
		forget()
		return flow.Observation{Presence: checks.Absent}, nil
	case err != nil:
		return flow.Observation{}, err
	}
	return flow.Observation{Presence: checks.Present, InSync: inSync()}, nil
}

func notThere(err error) bool {
	var refusal *kusto.Refusal
	return errors.As(err, &refusal) && refusal.HTTPStatusCode() == http.StatusNotFound
}

// correlation names the cause of a request: an object and a version of its
// spec.
func correlation(obj client.Object) string {
	return fmt.Sprintf("%s/%d", obj.GetUID(), obj.GetGeneration())
}
