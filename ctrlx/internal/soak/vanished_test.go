package soak_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// Objects are deleted at the moment at which the operator adds their finalizer.
// Some vanish then, although the operator calls Apply for them. An operator that
// stays alive deletes the cloud resource of each of them.
func TestVanished(t *testing.T) {
	cases := map[string]struct {
		reason string
		kills  int
	}{
		"Alive":  {"a process that is not killed leaves no cloud resource without an object", 0},
		"Killed": {"a killed process leaves those that it was deleting, which are in its memory only", size(3, 60)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := random(t)
			c := newCloud(t, r, 5*time.Millisecond, 50*time.Millisecond)
			c.orphans = true // leftBy counts them
			s := setup{Namespace: namespace(t), Get: true, Delete: true, Workers: 8, Cloud: c.serve(t)}
			watchOver(t, c, s.Namespace)
			makeCluster(t, s.Namespace, "c0", "Running")
			read := &signals{}
			c.hears(func(q question, done bool) {
				if q.Do == "get" && done {
					read.give(q.UID) // the finalizer follows
				}
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var makers sync.WaitGroup
			var made atomic.Int64
			for range 16 {
				r := rand.New(rand.NewPCG(r.Uint64(), 7))
				makers.Go(func() {
					for ctx.Err() == nil {
						makeAndDelete(t, r, s.Namespace, fmt.Sprintf("v-%d", made.Add(1)), read)
					}
				})
			}
			run := func(name string) *process {
				s.Process = name
				p := launch(t, s)
				until(t, time.Minute, func() error {
					if c.firstOf(p.name).IsZero() {
						return fmt.Errorf("%s does nothing: %s", p.name, &p.out)
					}
					return nil
				})
				return p
			}
			for i := range tc.kills {
				p := run(fmt.Sprintf("process %d", i))
				time.Sleep(between(r, 200*time.Millisecond, 2*time.Second))
				p.kill()
			}
			const last = "the last"
			p := run(last)
			time.Sleep(size(3*time.Second, time.Minute))
			cancel()
			makers.Wait()
			c.hears(nil)
			until(t, *patience, func() error {
				list := &testv1.DatabaseList{}
				if err := api.List(t.Context(), list, client.InNamespace(s.Namespace)); err != nil {
					return err
				}
				if n := len(list.Items); n > 0 {
					return fmt.Errorf("%d databases are not deleted, one of them is %s with %q", n, list.Items[0].Name, list.Items[0].Finalizers)
				}
				if _, left := c.leftBy(last); len(left) > 0 {
					return fmt.Errorf("%s left %d resources without an object: %q", last, len(left), left[0].history)
				}
				return nil
			})
			if p.ended() {
				t.Errorf("%s ended: %s", p.name, &p.out)
			}
			others, _ := c.leftBy(last)
			t.Logf("%s: %d deletions, %d kills, %d resources left by killed processes; the cloud: %+v", tc.reason, made.Load(), tc.kills, len(others), c.counts())
			if most := tc.kills * s.Workers; len(others) > most {
				t.Errorf("killed processes left %d resources without an object, more than the %d workers that were killed", len(others), most)
			}
		})
	}
}

// makeAndDelete makes a database of a new name, and deletes it when the operator
// has read it in the cloud, whatever its version is then.
func makeAndDelete(t *testing.T, r *rand.Rand, namespace, name string, read *signals) {
	d := &testv1.Database{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: testv1.DatabaseSpec{Cluster: "c0", Size: 1},
	}
	ctx := context.Background()
	if err := api.Create(ctx, d); err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	select {
	case <-read.of(d.UID):
		time.Sleep(between(r, 0, 6*time.Millisecond))
	case <-time.After(between(r, time.Second, 3*time.Second)): // no process runs
	}
	if err := api.Delete(ctx, d); err != nil && !apierrors.IsNotFound(err) {
		t.Errorf("%s: %v", name, err)
	}
}

// signals are channels that close, each at most once.
type signals struct {
	mu  sync.Mutex
	all map[types.UID]chan struct{}
}

func (s *signals) of(uid types.UID) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[types.UID]chan struct{}{}
	}
	if s.all[uid] == nil {
		s.all[uid] = make(chan struct{})
	}
	return s.all[uid]
}

func (s *signals) give(uid types.UID) {
	c := s.of(uid)
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-c:
	default:
		close(c)
	}
}

// leftBy returns the resources in the cloud, once all objects are gone: those
// that a process made, and those of other processes.
func (c *cloud) leftBy(process string) (others, its []*thing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for _, th := range c.things {
		th.catchUp(now)
		switch {
		case !th.exists && th.op == nil:
		case th.puts[th.generation] == process:
			its = append(its, th)
		default:
			others = append(others, th)
		}
	}
	return others, its
}
