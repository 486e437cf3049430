package write

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// server is an API server with one database, whose writer it tests.
type server struct {
	*Writer
	t     *testing.T
	wrote []string // the versions that the writer remembered
}

func newServer(t *testing.T, status bool) *server {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(testv1.GroupVersion, &testv1.Database{}, &testv1.DatabaseList{})
	d := &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "db", UID: "u", Annotations: map[string]string{"old": "x"}}}
	b := fake.NewClientBuilder().WithScheme(scheme).WithObjects(d)
	if status {
		b.WithStatusSubresource(d)
	}
	c := b.Build()
	s := &server{t: t}
	s.Writer = &Writer{Name: "Database", Client: c, Live: c, NotFound: apierrors.IsNotFound, Wrote: func(_ context.Context, obj client.Object, _ types.UID) {
		s.wrote = append(s.wrote, obj.GetResourceVersion())
	}}
	return s
}

func addFinalizer(now client.Object) { now.SetFinalizers([]string{"f"}) }

func (s *server) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) read() *testv1.Database {
	s.t.Helper()
	d := &testv1.Database{}
	s.must(s.Client.Get(s.t.Context(), client.ObjectKey{Namespace: "a", Name: "db"}, d))
	return d
}

// refuses lets the API server refuse each write.
func (s *server) refuses(err error) {
	s.Client = interceptor.NewClient(s.Client.(client.WithWatch), interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return err
		},
		SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
			return err
		},
	})
}

// unreadable fails each live read.
type unreadable struct{ client.Reader }

func (unreadable) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errUnreadable
}

var errUnreadable = errors.New("no live read")

// What another writer does after a pass has read the object.
var others map[string]func(*server)

func init() {
	others = map[string]func(*server){
		"Nothing": func(*server) {},
		"Status": func(s *server) {
			d := s.read()
			d.Status.Size = 7
			s.must(s.Client.Status().Update(s.t.Context(), d))
		},
		"Deleted": func(s *server) { s.must(s.Client.Delete(s.t.Context(), s.read())) },
		"Refuses": func(s *server) {
			s.refuses(apierrors.NewForbidden(schema.GroupResource{Resource: "databases"}, "db", errors.New("a webhook denies it")))
		},
		"Unreadable": func(s *server) { // after a conflict
			others["Status"](s)
			s.Live = unreadable{}
		},
		"Invalid": func(s *server) { // as an API server refuses to change the UID
			others["MadeAnew"](s)
			s.refuses(apierrors.NewInvalid(schema.GroupKind{Kind: "Database"}, "db", nil))
		},
		"MadeAnew": func(s *server) {
			s.must(s.Client.Delete(s.t.Context(), s.read()))
			s.must(s.Client.Create(s.t.Context(), &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "db", UID: "v", Annotations: map[string]string{"old": "x"}}}))
		},
	}
}

// Each write meets each change of another writer.
func TestWrites(t *testing.T) {
	conflict, gone := errors.New("a conflict"), ErrGone
	missing, refused, invalid := errors.New("it is missing"), errors.New("it is refused"), errors.New("it is invalid")
	writes := map[string]struct {
		do   func(ctx context.Context, s *server, read *testv1.Database) error
		want map[string]error // by what another writer does; nil: the write succeeds
	}{
		"Status": {
			func(ctx context.Context, s *server, read *testv1.Database) error {
				next := copied(read).(*testv1.Database)
				next.Status.Conditions = []metav1.Condition{{Type: "Ready"}}
				return s.Status(ctx, read, next)
			},
			map[string]error{"Nothing": nil, "Status": conflict, "Deleted": missing, "MadeAnew": conflict, "Refuses": refused, "Invalid": invalid},
		},
		"Change": {
			func(ctx context.Context, s *server, read *testv1.Database) error {
				read.SetGroupVersionKind(testv1.GroupVersion.WithKind("Database"))
				now, written, err := s.Change(ctx, read, func(obj client.Object) error {
					if kind := obj.(*testv1.Database).Kind; kind != "Database" {
						t.Errorf("the object has the kind %q", kind)
					}
					obj.(*testv1.Database).SetConditions([]metav1.Condition{{Type: "Ready"}})
					return nil
				})
				if err == nil && (!written || cmp.Diff(s.read().Status, now.(*testv1.Database).Status) != "") {
					t.Errorf("written %t: %+v", written, now)
				}
				if err != nil && (written || now != nil) {
					t.Errorf("the write failed, but written is %t, and the object is %+v", written, now)
				}
				return err
			},
			map[string]error{"Nothing": nil, "Status": nil, "Deleted": gone, "MadeAnew": gone, "Refuses": refused, "Invalid": gone, "Unreadable": errUnreadable},
		},
		"Metadata": {
			func(ctx context.Context, s *server, read *testv1.Database) error {
				now, err := s.Metadata(ctx, read, addFinalizer)
				if len(read.Finalizers) > 0 || !slices.Equal(now.GetFinalizers(), []string{"f"}) && err == nil || err == nil && !slices.Equal(s.read().Finalizers, []string{"f"}) {
					t.Errorf("the object became %+v, and the returned one is %+v", read, now)
				}
				return err
			},
			map[string]error{"Nothing": nil, "Status": conflict, "Deleted": missing, "MadeAnew": conflict, "Refuses": refused, "Invalid": invalid},
		},
		"RemoveFinalizer": {
			func(ctx context.Context, s *server, read *testv1.Database) error {
				read.Finalizers = []string{"f"}
				removed, err := s.RemoveFinalizer(ctx, read, "f")
				if !removed {
					t.Error("it was not removed")
				}
				return err
			},
			map[string]error{"Nothing": nil, "Status": conflict, "Deleted": missing, "MadeAnew": conflict, "Refuses": refused, "Invalid": invalid},
		},
	}
	for name, w := range writes {
		for other, want := range w.want {
			t.Run(name+"/"+other, func(t *testing.T) {
				s := newServer(t, true)
				read := s.read()
				others[other](s)
				var changed string
				if other == "Status" {
					changed = s.read().ResourceVersion
				}
				err := w.do(t.Context(), s, read)
				switch want {
				case nil:
					versions := []string{s.read().ResourceVersion}
					if name == "Change" && other == "Status" {
						versions = []string{changed, versions[0]} // the live read after the conflict shows the first one
					}
					if err != nil || !slices.Equal(s.wrote, versions) {
						t.Errorf("error %v; the remembered versions are %v", err, s.wrote)
					}
					return
				case conflict:
					if !apierrors.IsConflict(err) {
						t.Errorf("error %v, want a conflict", err)
					}
				case refused:
					if !apierrors.IsForbidden(err) {
						t.Errorf("error %v, want that it is refused", err)
					}
				case invalid:
					if !apierrors.IsInvalid(err) {
						t.Errorf("error %v, want that it is invalid", err)
					}
				case missing:
					if !apierrors.IsNotFound(err) {
						t.Errorf("error %v, want that it is missing", err)
					}
				default:
					if !errors.Is(err, want) {
						t.Errorf("error %v, want %v", err, want)
					}
				}
				var seen []string
				if want == gone && other != "Deleted" {
					seen = []string{s.read().ResourceVersion} // of the new object: no pass may see the first one in a late cache
				}
				if !slices.Equal(s.wrote, seen) {
					t.Errorf("the remembered versions are %v, want %v", s.wrote, seen)
				}
			})
		}
	}
}

// A change that another writer has made already is not written, and neither is one that
// its function refuses.
func TestChangeWritesNothing(t *testing.T) {
	refused := errors.New("another process has replaced it")
	for _, want := range []error{nil, refused} {
		s := newServer(t, true)
		now, written, err := s.Change(t.Context(), s.read(), func(obj client.Object) error {
			if want != nil {
				obj.(*testv1.Database).Status.Size = 7
			}
			return want
		})
		if written || err != want || len(s.wrote) > 0 || (now == nil) != (want != nil) {
			t.Errorf("written %t, error %v, remembered %v, the object is %v", written, err, s.wrote, now)
		}
	}
	s := newServer(t, true)
	if removed, err := s.RemoveFinalizer(t.Context(), s.read(), "f"); removed || err != nil || len(s.wrote) > 0 {
		t.Errorf("removed %t, error %v, remembered %v", removed, err, s.wrote)
	}
}

// A writer without Wrote remembers nothing.
func TestWritesWithoutMemory(t *testing.T) {
	s := newServer(t, true)
	s.Wrote = nil
	if _, err := s.Metadata(t.Context(), s.read(), addFinalizer); err != nil {
		t.Error(err)
	}
	read := s.read()
	others["Status"](s)
	if _, _, err := s.Change(t.Context(), read, func(obj client.Object) error { obj.(*testv1.Database).Status.Size = 9; return nil }); err != nil {
		t.Error(err)
	}
}

// A write that must not be lost has its own time, also after the deadline of the pass.
func TestLasting(t *testing.T) {
	s := newServer(t, true)
	var during []context.Context
	s.Client = interceptor.NewClient(s.Client.(client.WithWatch), interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, p client.Patch, opts ...client.PatchOption) error {
			during = append(during, ctx)
			return ctx.Err()
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			during = append(during, ctx)
			return ctx.Err()
		},
	})
	ended, end := context.WithCancel(t.Context())
	end()
	read := s.read()
	read.Finalizers = []string{"f"}
	_, errOfRemoval := s.RemoveFinalizer(ended, read, "f")
	_, _, errOfChange := s.Change(ended, s.read(), func(obj client.Object) error { obj.(*testv1.Database).Status.Size = 9; return nil })
	if err := errors.Join(s.Status(ended, s.read(), s.read()), errOfChange, errOfRemoval); err != nil || len(during) != 3 {
		t.Fatalf("%d writes, error %v", len(during), err)
	}
	for _, ctx := range during {
		if at, ok := ctx.Deadline(); !ok || time.Until(at) > 10*time.Second || ctx.Err() != context.Canceled {
			t.Errorf("the deadline is in %s, and after the write the context says %v", time.Until(at), ctx.Err())
		}
	}
}

// A kind without a status is no deleted object.
func TestNoStatus(t *testing.T) {
	s := newServer(t, false)
	read := s.read()
	next := copied(read).(*testv1.Database)
	next.Status.Size = 1
	if err := s.Status(t.Context(), read, next); apierrors.IsNotFound(err) || !errors.Is(err, ErrNoStatus) || !strings.HasPrefix(err.Error(), "ctrlx: Database: the kind has no status subresource: add it to the definition") {
		t.Errorf("error %v", err)
	}
}
