package main

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/flow"
)

// advance moves a long-running operation on by one request: without a token by the one that begins it, with a token by
// asking once how it is getting on. It never waits: the token is where the next pass goes on. When the operation is done,
// finished looks at what came of it.
func advance(cloud *Cloud, token string, begin func() (token string, err error), finished func() error) (flow.Progress, error) {
	if token == "" {
		token, err := begin()
		if err != nil {
			return flow.Progress{}, err
		}
		return flow.InProgress(token, askAgainIn), nil
	}
	done, again, err := cloud.Poll(token)
	switch {
	case err != nil:
		return flow.Progress{}, err
	case !done:
		return flow.InProgress(token, again), nil
	}
	if err := finished(); err != nil {
		return flow.Progress{}, err
	}
	return flow.Done(), nil
}

// remove is advance for deletions. What is not there is done.
func remove(cloud *Cloud, token, id, correlation string) (flow.Progress, error) {
	p, err := advance(cloud, token,
		func() (string, error) { return cloud.Delete(id, correlation) },
		func() error { return nil })
	if notThere(err) {
		return flow.Done(), nil
	}
	return p, err
}

// observed is what a GET saw that answered with err. Of what is there inSync tells whether it is as the spec says.
func observed(err error, inSync func() bool) (flow.Observation, error) {
	switch {
	case notThere(err):
		return flow.Observation{}, nil
	case err != nil:
		return flow.Observation{}, err
	}
	return flow.Observation{Exists: true, InSync: inSync()}, nil
}

func notThere(err error) bool {
	var answer *azcore.ResponseError
	return errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound
}

// correlation says what a request is for: which object, and which version of its spec.
func correlation(obj client.Object) string {
	return fmt.Sprintf("%s/%d", obj.GetUID(), obj.GetGeneration())
}
