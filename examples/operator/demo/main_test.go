package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/examples/operator/internal/apiserver/apitest"
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
	"Cluster demo      not ready: InUse: databases: 2 objects still use the resource: Database.kusto.example.com NAMESPACE/",
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
		"Database orders   a person deletes it",
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

// inOrder fails the test unless a text contains the lines in order.
func inOrder(t *testing.T, text string, lines []string) {
	t.Helper()
	rest := text
	for _, line := range lines {
		line = strings.ReplaceAll(line, "NAMESPACE", "default")
		_, after, found := strings.Cut(rest, line)
		if !found {
			t.Fatalf("%q is missing or out of order:\n%s", line, text)
		}
		rest = after
	}
}

func TestMain(m *testing.M) { apitest.Main(m) }

func TestStory(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"-timeout", "20m"}, &out, &errs); code != exitOK || errs.Len() > 0 {
		t.Fatalf("exit code %d: %s\n%s", code, &errs, &out)
	}
	asExpected(t, out.String())
}

func TestFlags(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		code   int
		want   string // a part of the output
	}{
		"Help":         {reason: "the user asks for help", args: []string{"-h"}, code: exitOK, want: "Usage: demo"},
		"Unknown":      {reason: "an unknown flag", args: []string{"-instal"}, code: exitUsage, want: "-instal"},
		"Argument":     {reason: "a missing dash", args: []string{"run"}, code: exitUsage, want: `unexpected argument "run"`},
		"NotADuration": {reason: "a duration without a unit", args: []string{"-timeout", "5"}, code: exitUsage, want: "-timeout"},
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
