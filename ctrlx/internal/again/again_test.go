package again

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
)

var (
	busy = apierrors.NewServiceUnavailable("busy")
	gone = apierrors.NewNotFound(schema.GroupResource{Resource: "apps"}, "a")
)

// TestDo verifies which requests are made again, and how often.
func TestDo(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	cases := map[string]struct {
		reason string
		ctx    context.Context
		errs   []error // of the requests; the last one of all later ones
		want   int     // requests
	}{
		"Done":        {"the first request succeeds", t.Context(), []error{nil}, 1},
		"Again":       {"the second one succeeds", t.Context(), []error{busy, nil}, 2},
		"Last":        {"the third one succeeds", t.Context(), []error{busy, busy, nil}, 3},
		"TooOften":    {"the pass ends", t.Context(), []error{busy}, 3},
		"Other":       {"a later error is none of these", t.Context(), []error{busy, gone}, 2},
		"Timeout":     {"the API server took too long", t.Context(), []error{apierrors.NewServerTimeout(schema.GroupResource{}, "get", 0)}, 3},
		"Internal":    {"it has lost its leader", t.Context(), []error{apierrors.NewInternalError(errors.New("etcdserver: leader changed"))}, 3},
		"Webhook":     {"the webhook may need its whole time-out again", t.Context(), []error{apierrors.NewInternalError(errors.New(`failed calling webhook "w"`))}, 1},
		"Conversion":  {"the same", t.Context(), []error{apierrors.NewInternalError(errors.New(`conversion webhook for a.example/v1, Kind=A failed: refused`))}, 1},
		"TooMany":     {"it names no delay", t.Context(), []error{apierrors.NewTooManyRequestsError("busy")}, 3},
		"TooManyLate": {"a pass does not wait that long", t.Context(), []error{apierrors.NewTooManyRequests("busy", 1)}, 1},
		"Late":        {"the same", t.Context(), []error{apierrors.NewServerTimeout(schema.GroupResource{}, "get", 1)}, 1},
		"Gone":        {"the answer stays", t.Context(), []error{gone}, 1},
		"Stopped":     {"the manager stops", stopped, []error{busy}, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			next := func() error { n++; return tc.errs[min(n, len(tc.errs))-1] }
			if err, want := Do(tc.ctx, next), tc.errs[min(tc.want, len(tc.errs))-1]; n != tc.want || !errors.Is(err, want) || (err == nil) != (want == nil) {
				t.Errorf("%s: %d requests and %v, want %d and %v", tc.reason, n, err, tc.want, want)
			}
		})
	}
}

// TestDoPauses verifies the pauses before the second and the third request.
func TestDoPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 100 { // the pauses have a jitter
			var at []time.Time
			_ = Do(t.Context(), func() error { at = append(at, time.Now()); return busy })
			for i, want := range []time.Duration{10 * time.Millisecond, 50 * time.Millisecond} {
				if got := at[i+1].Sub(at[i]); got < want || got > want+want/2 {
					t.Fatalf("the pause %d takes %s, want %s and at most half of it more", i, got, want)
				}
			}
		}
	})
}

// cluster answers each request but the first one, and notes all.
type cluster struct {
	client.Client
	asked []string
	gone  bool // it answers that the object does not exist
}

func (c *cluster) answer(verb string) error {
	c.asked = append(c.asked, verb)
	if c.gone {
		return gone
	}
	if len(c.asked)%2 == 1 {
		return busy
	}
	return nil
}
func (c *cluster) GetClient() client.Client    { return c }
func (c *cluster) GetAPIReader() client.Reader { return &cluster{} }
func (c *cluster) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return c.answer("get")
}
func (c *cluster) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return c.answer("list")
}
func (c *cluster) Create(context.Context, client.Object, ...client.CreateOption) error {
	return c.answer("create")
}
func (c *cluster) Patch(context.Context, client.Object, client.Patch, ...client.PatchOption) error {
	return c.answer("patch")
}
func (c *cluster) Apply(context.Context, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	return c.answer("apply")
}
func (c *cluster) Delete(context.Context, client.Object, ...client.DeleteOption) error {
	return c.answer("delete")
}

// controllers is a manager with a cluster, which may refuse the engine.
type controllers struct {
	manager.Manager
	*cluster
	refuses error
}

func (m *controllers) GetClient() client.Client     { return m.cluster }
func (m *controllers) GetAPIReader() client.Reader  { return m.cluster }
func (m *controllers) GetCache() cache.Cache        { return nil }
func (m *controllers) GetScheme() *runtime.Scheme   { return runtime.NewScheme() }
func (m *controllers) GetConfig() *rest.Config      { return &rest.Config{} }
func (m *controllers) GetHTTPClient() *http.Client  { return http.DefaultClient }
func (m *controllers) Add(_ manager.Runnable) error { return m.refuses }

// TestOfManager verifies that the cluster of a manager has its engine.
func TestOfManager(t *testing.T) {
	mgr := &controllers{cluster: &cluster{}}
	y, err := Of(mgr)
	want, _ := engine.Of(mgr)
	if err != nil || y.Engine == nil || y.Engine != want || y.Client != client.Client(mgr.cluster) {
		t.Errorf("%+v: %v", y, err)
	}
	if _, err := Of(&controllers{cluster: &cluster{}, refuses: busy}); err != busy {
		t.Errorf("the manager refuses the engine: %v", err)
	}
}

// TestOf verifies that all requests of an access are made again, and that its live reads pass the cache.
func TestOf(t *testing.T) {
	c := &cluster{}
	y, err := Of(c)
	if err != nil || y.Engine != nil || y.Client != client.Client(c) {
		t.Fatalf("%+v: %v", y, err)
	}
	live := &cluster{}
	for name, a := range map[string]Access{"own": y.Own, "target": Target(live)} {
		ctx, obj := t.Context(), &metav1.PartialObjectMetadata{}
		asked := map[string]func() error{
			"get":    func() error { return a.Client.Get(ctx, client.ObjectKey{}, obj) },
			"list":   func() error { return a.Client.List(ctx, &metav1.PartialObjectMetadataList{}) },
			"create": func() error { return a.Client.Create(ctx, obj) },
			"patch":  func() error { return a.Client.Patch(ctx, obj, client.Merge) },
			"apply":  func() error { return a.Client.Apply(ctx, nil) },
			"delete": func() error { return a.Client.Delete(ctx, obj) },
		}
		for verb, do := range asked {
			of := map[string]*cluster{"own": c, "target": live}[name]
			of.asked = nil
			if err := do(); err != nil || strings.Join(of.asked, " ") != verb+" "+verb {
				t.Errorf("%s: %s asks %q: %v", name, verb, of.asked, err)
			}
			of.gone = true
			if err := do(); err != gone {
				t.Errorf("%s: %s of an object that does not exist: %v", name, verb, err)
			}
			of.gone = false
		}
		for verb, do := range map[string]func() error{
			"get":  func() error { return a.Live.Get(ctx, client.ObjectKey{}, obj) },
			"list": func() error { return a.Live.List(ctx, &metav1.PartialObjectMetadataList{}) },
		} {
			c.asked, live.asked = nil, nil
			if err := do(); err != nil || len(c.asked) > 0 || (len(live.asked) == 2) != (name == "target") {
				t.Errorf("%s: a live %s asks the cache %q and the target %q: %v", name, verb, c.asked, live.asked, err)
			}
		}
		if a.Target != (name == "target") {
			t.Errorf("%s: target is %t", name, a.Target)
		}
	}
}

// TestAccess verifies by which client a pass reaches its dependents.
func TestAccess(t *testing.T) {
	mine, other := &engine.Engine{}, &engine.Engine{}
	own, target := &cluster{}, &cluster{}
	errBroken := errors.New("broken")
	const otherManager = "dependents: the pass has a deployment target, and New got another manager: give New the manager of the reconciler"
	cases := map[string]struct {
		reason string
		of     *engine.Engine // of the cluster; nil: it is no manager
		pass   *engine.InPass // nil: the call is in no pass
		client client.Client  // of the pass
		err    error          // of the pass
		want   string
	}{
		"NoPass":       {"code of its own", mine, nil, target, nil, "own"},
		"NoManager":    {"the cluster has no passes", nil, &engine.InPass{Remote: true}, target, nil, "own"},
		"Own":          {"the pass has no target", mine, &engine.InPass{Engine: mine}, target, nil, "own"},
		"Target":       {"the rights of the target count", mine, &engine.InPass{Engine: mine, Remote: true}, target, nil, "target"},
		"Same":         {"the target is the cluster", mine, &engine.InPass{Engine: mine, Remote: true}, own, nil, "own"},
		"Unreachable":  {"the own client never stands in", mine, &engine.InPass{Engine: mine, Remote: true}, nil, errBroken, "broken"},
		"OtherManager": {"the own client would be that of another cluster", mine, &engine.InPass{Engine: other, Remote: true}, target, nil, otherManager},
		"OtherSame":    {"the same, also for the client of the cluster", mine, &engine.InPass{Engine: other, Remote: true}, own, nil, otherManager},
	}
	t.Cleanup(func() { clientOf = ctrlx.ClientFromContext })
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			y := &Cluster{Client: own, Own: Access{Client: own}, Engine: tc.of}
			ctx := t.Context()
			if tc.pass != nil {
				ctx = context.WithValue(ctx, engine.PassKey{}, tc.pass)
			}
			clientOf = func(context.Context) (client.Client, error) { return tc.client, tc.err }
			a, err := y.Access(ctx)
			got := fmt.Sprint(err)
			switch {
			case a.Client == client.Client(own) && !a.Target && err == nil:
				got = "own"
			case a.Target && err == nil && a.Client.(writer).Client == client.Client(target):
				got = "target"
			}
			if got != tc.want || err != nil && a.Client != nil {
				t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}
