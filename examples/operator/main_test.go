package main

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
)

// wantStory holds the lines of the story, without times and without lines that
// a watch may miss.
var wantStory = []string{
	"operator          starts",
	"Database orders   a person creates it",
	"Database orders   not ready: OwnerNotFound: owner Cluster.kusto.example.com NAMESPACE/demo was not found: waiting until it is created",
	"$ kubectl windlass why database/orders",
	"Cluster demo      a person creates it",
	"Cluster demo      not ready: InProgress: the operation is under way in the cloud [Creating]",
	"operator          stops; the status of the cluster stores the operation /resourceGroups/NAMESPACE/clusters/demo/operations/1",
	"operator          starts",
	"Cluster demo      not ready: NotSettled: the cluster is Creating; it must be Running [Creating]",
	"Cluster demo      ready [Running]",
	"Database clicks   was woken; its first request came ",
	"operator          stops; all objects are ready",
	"operator          starts",
	"operator          sent 0 requests to the cloud in 1s",
	"Database orders   is ready, and follows Secret admin",
	"Secret admin      a person changes the password",
	"Database orders   not ready: InProgress",
	"Database orders   ready",
	"Database orders   was woken; its first request came ",
	`cloud             has the password "summer"`,
	"Cluster demo      a person stops it",
	"Cluster demo      ready [Stopped]",
	"Database orders   a person changes its retention to 30 days",
	`Database orders   not ready: OwnerNotRunning: owner Cluster.kusto.example.com NAMESPACE/demo is in state "Stopped": it must be Running`,
	"Cluster demo      a person starts it",
	"Cluster demo      ready [Running]",
	"Database orders   ready",
	"Cluster demo      a person deletes it",
	"Cluster demo      not ready: InUse: databases: 2 objects still use the resource: Database.kusto.example.com NAMESPACE/clicks; Database.kusto.example.com NAMESPACE/orders: waiting until all are gone [Running]",
	"Database orders   a person deletes it",
	"Cluster demo      not ready: Deleting: the deletion is under way in the cloud [Deleting]",
	"Cluster demo      gone",
	"requests to the cloud",
	"  POST start                                                           1\n",
	"  POST stop                                                            1\n",
	"  PUT                                                                  6\n",
	"  refused                                                              0\n",
	"versions of specs and passwords that caused changes                    8",
	"  most changes for a version                                           1\n",
	"  during 1s in which all databases waited                              0\n",
	"requests to the cloud after a restart with all objects ready           0\n",
	"  writes to the API server                                             0\n",
	"from an event to the first request about the database that it wakes    ",
}

// wantOfOne holds the lines about objects whose changes overlap with those of
// others. Each list is in order. The watches of two kinds have no common order.
var wantOfOne = [][]string{
	{ // an owner by query: none, one that is not ready, several, one
		"Database clicks   not ready: OwnerNotFound: owner every Cluster.kusto.example.com: no such object exists: waiting until one is created",
		"Database clicks   not ready: OwnerNotReady: owner Cluster.kusto.example.com NAMESPACE/demo is not ready",
		"Cluster spare     a person creates it",
		"Database clicks   not ready: OwnerAmbiguous: owner every Cluster.kusto.example.com: 2 objects exist, and exactly one may: Cluster.kusto.example.com NAMESPACE/demo; Cluster.kusto.example.com NAMESPACE/spare",
		"Cluster spare     a person deletes it",
		"Database clicks   not ready: InProgress",
		"Database clicks   ready",
	},
	{
		"Database orders   not ready: OwnerNotFound",
		"Database orders   not ready: OwnerNotReady: owner Cluster.kusto.example.com NAMESPACE/demo is not ready: InProgress",
		"Database orders   not ready: InProgress",
		"Database orders   ready",
		"Cluster demo      a person starts it",
		"Database orders   not ready: InProgress",
		"Database orders   ready",
	},
	{"Cluster spare     a person deletes it", "Cluster spare     gone", "a person stops it"},
	{ // a guarded Secret
		"Secret admin      a person deletes it",
		"Database orders   not ready: Deleting: the deletion is under way in the cloud",
		"Secret admin      gone",
	},
	{"Secret admin      a person deletes it", "Database orders   gone", "Cluster demo      gone"},
	{"Secret admin      a person deletes it", "Database clicks   gone", "Cluster demo      gone"},
}

// asExpected fails the test unless the output is that of the story.
func asExpected(t *testing.T, text string) {
	t.Helper()
	for _, lines := range append(wantOfOne, wantStory) {
		inOrder(t, text, lines)
	}
	readme(t, text)
}

var storyNamespace = regexp.MustCompile(`The story runs in the namespace (\S+)\.`)

// inOrder fails the test unless a text contains the lines in order.
func inOrder(t *testing.T, text string, lines []string) {
	t.Helper()
	where := storyNamespace.FindStringSubmatch(text)
	if where == nil {
		t.Fatalf("the namespace of the story is missing:\n%s", text)
	}
	rest := text
	for _, line := range lines {
		line = strings.ReplaceAll(line, "NAMESPACE", where[1])
		_, after, found := strings.Cut(rest, line)
		if !found {
			t.Fatalf("%q is missing or out of order:\n%s", line, text)
		}
		rest = after
	}
}

func TestStory(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"-timeout", "20m"}, &out, &errs); code != exitOK || errs.Len() > 0 {
		t.Fatalf("exit code %d: %s\n%s", code, &errs, &out)
	}
	asExpected(t, out.String())
}

// TestStoryOnACluster runs the story in a cluster without the kinds.
func TestStoryOnACluster(t *testing.T) {
	requireKube(t)
	t.Parallel()
	fresh := kubeServer()
	config, err := fresh.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = fresh.Stop() }()
	api, err := newClient(config)
	if err != nil {
		t.Fatal(err)
	}
	file := kubeconfig(t, fresh, "", "")

	for _, args := range [][]string{{"-kubeconfig", file}, {"-run", "-kubeconfig", file}} {
		var errs bytes.Buffer
		if code := run(t.Context(), args, io.Discard, &errs); code != exitUsage || !strings.Contains(errs.String(), "use -install or kubectl apply") {
			t.Fatalf("%q without definitions: exit code %d: %s", args, code, &errs)
		}
		nothingLeft(t, api)
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"-kubeconfig", file, "-install", "-timeout", "20m"}, &out, &errs); code != exitOK || errs.Len() > 0 {
		t.Fatalf("exit code %d: %s\n%s", code, &errs, &out)
	}
	asExpected(t, out.String())
	nothingLeft(t, api)
}

// nothingLeft fails the test if a story left objects in a cluster. It accepts
// terminating namespaces, because no controller removes them here.
func nothingLeft(t *testing.T, api client.Client) {
	t.Helper()
	var namespaces corev1.NamespaceList
	if err := api.List(t.Context(), &namespaces); err != nil {
		t.Fatal(err)
	}
	for _, ns := range namespaces.Items {
		if strings.HasPrefix(ns.Name, "windlass-") && ns.DeletionTimestamp.IsZero() {
			t.Errorf("the namespace %s remains", ns.Name)
		}
	}
	eventually(t, func() (bool, error) { // the definitions are gone
		var all apiextensions.CustomResourceDefinitionList
		err := api.List(t.Context(), &all)
		return len(all.Items) == 0, err
	})
}

// TestInterrupted: a story that is interrupted or runs out of time leaves no
// objects.
func TestInterrupted(t *testing.T) {
	requireKube(t)
	cases := map[string]struct {
		reason string
		args   []string
		after  string // interrupts the story when it prints this; empty: no interrupt
		want   string
	}{
		"Blocked":   {reason: "objects have finalizers", after: "OwnerNotFound", want: "interrupted"},
		"Operation": {reason: "an operation is under way", after: "[Creating]", want: "interrupted"},
		"Guarded":   {reason: "a Secret has the finalizer of the guard", after: "and follows Secret admin", want: "interrupted"},
		"Time":      {reason: "the story does not end in time", args: []string{"-timeout", "5s"}, want: "out of time after 5s"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			out := &until{text: tc.after, then: func() { cancel(errInterrupted) }}
			var errs bytes.Buffer
			code := run(ctx, append([]string{"-kubeconfig", kubeconfig(t, server, "", ""), "-timeout", "20m"}, tc.args...), out, &errs)
			if code != exitWrong || !strings.Contains(errs.String(), tc.want) {
				t.Fatalf("%s: exit code %d: %s\n%s", tc.reason, code, &errs, out)
			}
			where := storyNamespace.FindStringSubmatch(out.String())[1]
			var ns corev1.Namespace
			if err := api.Get(t.Context(), client.ObjectKey{Name: where}, &ns); err != nil || ns.DeletionTimestamp.IsZero() {
				t.Errorf("%s: the namespace remains: %v", tc.reason, err)
			}
			for _, list := range []client.ObjectList{&v1.ClusterList{}, &v1.DatabaseList{}, &corev1.SecretList{}} {
				if err := api.List(t.Context(), list, client.InNamespace(where)); err != nil || meta.LenList(list) > 0 {
					t.Errorf("%s: %d objects remain: %v", tc.reason, meta.LenList(list), err)
				}
			}
			var d apiextensions.CustomResourceDefinition
			if err := api.Get(t.Context(), client.ObjectKey{Name: "clusters.kusto.example.com"}, &d); err != nil {
				t.Errorf("%s: a definition that was installed before must stay: %v", tc.reason, err)
			}
		})
	}
}

// until is a buffer that calls a function when it contains a text.
type until struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	text string
	then func()
}

func (u *until) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.buf.Write(p)
	if u.text != "" && strings.Contains(u.buf.String(), u.text) {
		u.then()
	}
	return len(p), nil
}

func (u *until) String() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.buf.String()
}

// TestRun runs the deployed operator: with the rights of its account and leader
// election. It reconciles all namespaces, so it must not run in parallel to
// tests with the same API server.
func TestRun(t *testing.T) {
	requireKube(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var errs bytes.Buffer
	ended := make(chan int)
	go func() {
		ended <- run(ctx, []string{"-run", "-kubeconfig", kubeconfig(t, server, account, "kusto-operator")}, &bytes.Buffer{}, &errs)
	}()
	where := namespace(t)
	c := &v1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: where, Name: "demo"}}
	if err := api.Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() (bool, error) {
		err := api.Get(t.Context(), client.ObjectKeyFromObject(c), c)
		return meta.IsStatusConditionTrue(c.Status.Conditions, "Ready"), err
	})
	// An event reports the leader.
	eventually(t, func() (bool, error) {
		var events corev1.EventList
		err := api.List(t.Context(), &events, client.InNamespace("kusto-operator"))
		return len(events.Items) > 0, err
	})
	if err := api.Delete(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() (bool, error) {
		err := api.Get(t.Context(), client.ObjectKeyFromObject(c), c)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	stop()
	if code := <-ended; code != exitOK {
		t.Errorf("exit code %d: %s", code, &errs)
	}
}

func TestFlags(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		code   int
		want   string // a part of the output
	}{
		"Help":          {reason: "the user asks for help", args: []string{"-h"}, code: exitOK, want: "Usage: operator"},
		"Unknown":       {reason: "an unknown flag", args: []string{"-instal"}, code: exitUsage, want: "-instal"},
		"Argument":      {reason: "a missing dash", args: []string{"run"}, code: exitUsage, want: `unexpected argument "run"`},
		"NoFile":        {reason: "the file does not exist", args: []string{"-kubeconfig", "nowhere"}, code: exitUsage, want: "nowhere"},
		"EmptyFile":     {reason: "an unset variable of the shell", args: []string{"-kubeconfig", ""}, code: exitUsage, want: "is empty"},
		"InstallHere":   {reason: "-install without a cluster", args: []string{"-install"}, code: exitUsage, want: "-install needs -kubeconfig"},
		"MetricsHere":   {reason: "the story serves no metrics", args: []string{"-metrics", ":8080"}, code: exitUsage, want: "-metrics needs -run"},
		"TimeoutOfRun":  {reason: "-run has no end", args: []string{"-run", "-timeout", "1m"}, code: exitUsage, want: "-timeout cannot be used with -run"},
		"NoTime":        {reason: "a timeout of zero", args: []string{"-timeout", "0s"}, code: exitUsage, want: "use more than 0s"},
		"RunOutOfAPod":  {reason: "-run without a cluster", args: []string{"-run"}, code: exitUsage, want: "-run without -kubeconfig FILE must run in a pod"},
		"NotADuration":  {reason: "a duration without a unit", args: []string{"-timeout", "5"}, code: exitUsage, want: "-timeout"},
		"RunNoSuchFile": {reason: "the file does not exist", args: []string{"-run", "-kubeconfig", "nowhere"}, code: exitUsage, want: "nowhere"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := run(t.Context(), tc.args, &out, &errs)
			if printed := out.String() + errs.String(); code != tc.code || !strings.Contains(printed, tc.want) {
				t.Errorf("%s: exit code %d: %s", tc.reason, code, printed)
			}
		})
	}
}
