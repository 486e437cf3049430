package main

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx"
	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/examples/operator/internal/kusto"
)

// operatorRestarts stops the operator during the operation. The next operator
// has only the state in the objects.
func (s *Story) operatorRestarts(ctx context.Context) error {
	if err := pause(ctx, kusto.ClusterTakes/3); err != nil {
		return err
	}
	if err := s.stop(); err != nil {
		return err
	}
	c := &v1.Cluster{ObjectMeta: s.meta("demo")}
	if err := s.person.Get(ctx, client.ObjectKeyFromObject(c), c); err != nil {
		return err
	}
	stored := meta.FindStatusCondition(c.Status.Conditions, ctrlx.ConditionRecord)
	if s.figures.TokenStored = stored != nil; stored != nil {
		_, token, _ := strings.Cut(stored.Message, "operation.token=")
		token, _, _ = strings.Cut(token, ";")
		s.line.Say("operator", "stops; the status of the cluster stores the operation %s", token)
	}
	if err := pause(ctx, kusto.ClusterTakes/6); err != nil {
		return err
	}
	return s.start(ctx)
}

// restartIsQuiet restarts the operator while all objects are Ready. Each object
// has a pass, and no pass sends a request.
func (s *Story) restartIsQuiet(ctx context.Context) error {
	if err := s.traffic.Quiet(ctx, 300*time.Millisecond); err != nil { // the guard has changed the Secret
		return err
	}
	if err := s.stop(); err != nil {
		return err
	}
	s.line.Say("operator", "stops; all objects are ready")
	calls, requests := len(s.cloud.Requests()), len(s.traffic.Requests())
	if err := s.start(ctx); err != nil {
		return err
	}
	since := func() map[string]int {
		counts := map[string]int{}
		for _, r := range s.traffic.Requests()[requests:] {
			counts[r.Verb+" "+r.Resource]++
		}
		return counts
	}
	for now := since(); now["watch clusters"] == 0 || now["watch databases"] == 0; now = since() {
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	if err := pause(ctx, quietFor); err != nil {
		return err
	}
	s.figures.AfterRestart = len(s.cloud.Requests()) - calls
	for what, n := range since() {
		if verb, _, _ := strings.Cut(what, " "); verb == "patch" || verb == "create" || verb == "update" {
			s.figures.WrittenAfterRestart += n
		}
	}
	s.line.Say("operator", "sent %d requests to the cloud in %s", s.figures.AfterRestart, quietFor)
	return nil
}
