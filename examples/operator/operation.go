package main

import (
	"errors"
	"fmt"
	"net/http"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// advance moves a long-running operation on by one request. Without a token that request begins the operation, with a token
// it polls it. It never waits: the next pass continues by the token. After the operation, finished reads what it made.
//
// An error of a poll leaves the operation under way, because it may go on in the cloud. Only the cloud's own word ends it:
// that it failed, or that the cloud does not know it.
func advance(cloud *Cloud, token string, begin func() (token string, err error), finished func() error) (flow.Progress, error) {
	if token == "" {
		token, err := begin()
		if err != nil {
			return flow.Progress{}, err
		}
		return flow.InProgress(token, askAgainIn), nil
	}
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
	switch err := finished(); {
	case notThere(err): // it was deleted since, and has to be made again
		return flow.Progress{}, flow.Failed(err)
	case err != nil:
		return flow.Progress{}, err
	}
	return flow.Done(), nil
}

// remove is advance for deletions. A thing that does not exist is deleted. An operation that the cloud does not know is
// begun again: the thing may still exist.
func remove(cloud *Cloud, token, id, correlation string) (flow.Progress, error) {
	p, err := advance(cloud, token,
		func() (string, error) { return cloud.Delete(id, correlation) },
		func() error { return nil })
	if token == "" && notThere(err) {
		return flow.Done(), nil
	}
	return p, err
}

// observed makes an Observation of a GET that answered with err. If the resource does not exist, forget clears the state
// that the status still reports: an old state would block the PUT that creates the resource again. If it exists, inSync
// reports whether it is as the spec says.
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
	var refusal *Refusal
	return errors.As(err, &refusal) && refusal.status == http.StatusNotFound
}

// correlation says what a request is for: which object, and which version of its spec.
func correlation(obj client.Object) string {
	return fmt.Sprintf("%s/%d", obj.GetUID(), obj.GetGeneration())
}
