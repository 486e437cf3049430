package ctrltest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/ctrltest"
)

// small is an operator without a manager. Its status has a phase and a text.
type small struct {
	client.Client
	cloud   *ctrltest.Cloud
	process int       // 1: the first one
	first   time.Time // its start
	passes  int
	began   bool
}

// says writes the status of a Record.
func (s *small) says(o *unstructured.Unstructured, phase, text string) error {
	o.Object["status"] = map[string]any{"phase": phase, "text": text}
	return s.Status().Update(context.Background(), o)
}

// TestRules: the rules judge small operators, which have no condition Ready.
func TestRules(t *testing.T) {
	at := func(namespace, name string) client.Object {
		return &Record{object{TypeMeta: metav1.TypeMeta{APIVersion: dns.String(), Kind: "Record"}, ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}}
	}
	group := at("", "a") // the kind Record of another group
	group.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Group: "other.example.com", Version: "v1", Kind: "Record"})
	one, three := []client.Object{at("", "a")}, []client.Object{at("", "a"), at("", "b"), at("other", "b")}
	ready := func(s *small, o *unstructured.Unstructured) error { return s.says(o, "Done", "") }
	none := func(*small) error { return nil }
	leaves := func(*small) error { go func() { select {} }(); return nil }
	exits := func(s *small) error {
		if time.Since(s.first) < 5*time.Minute {
			return errors.New("no cache")
		}
		return nil
	}
	// texts returns the pass that writes these texts, of Records by namespace and name. Empty: the Record is ready.
	texts := func(texts map[string]string) func(*small, *unstructured.Unstructured) error {
		return func(s *small, o *unstructured.Unstructured) error {
			text, has := texts[o.GetNamespace()+"/"+o.GetName()]
			if !has {
				return nil
			}
			return s.says(o, map[bool]string{true: "Done", false: "Waiting"}[text == ""], text)
		}
	}
	cases := map[string]struct {
		reason string
		world  []client.Object
		fault  string
		off    string // a rule that is switched off
		starts func(*small) error
		pass   func(s *small, o *unstructured.Unstructured) error // of a Record, each minute
		want   string                                             // in the failure; empty: there is none
	}{
		"Other reason": {"an object that is not ready may have another reason after a restart", one, "", "", none, func(s *small, o *unstructured.Unstructured) error {
			return s.says(o, "Failed", fmt.Sprint("process ", s.process))
		}, ""},
		"Heartbeat": {"eight writes are too many for an object that is ready", one, "", "", none, func(s *small, o *unstructured.Unstructured) error {
			return s.says(o, "Done", fmt.Sprint(s.passes/10))
		}, "rest: "},
		"Cycle": {"objects that wait for each other say so in their own words", []client.Object{at("", "a"), at("", "b")}, "", "", none, texts(map[string]string{
			"default/a": "a cycle with Record b", "default/b": "a cycle with Record a",
		}), ""},
		"Silent": {"an object that is ready does not hide one of its name in another namespace or group", []client.Object{at("", "a"), at("other", "a"), group}, "", "", none,
			texts(map[string]string{"other/a": ""}),
			"settled: Record.dns.example.com a is not Ready for generation 1, and does not say why\nsettled: Record.other.example.com a is not Ready"},
		"Other cause": {"an object does not wait for one of this name in another namespace", three, "", "", none, texts(map[string]string{
			"default/a": "waits for Record b", "default/b": "", "other/b": "no zone",
		}), `settled: Record.dns.example.com a says "waits for Record b", and Record.dns.example.com b is Ready`},
		"Foreign cause": {"an object waits for one of another namespace", three, "", "", none, texts(map[string]string{
			"default/a": "waits for Record other/b", "default/b": "no zone", "other/b": "",
		}), `settled: Record.dns.example.com a says "waits for Record other/b", and Record.dns.example.com other/b is Ready`},
		"Outage": {"an outage is over when Patience begins", one, ctrltest.Outage, "", none, func(s *small, o *unstructured.Unstructured) error {
			return s.cloud.Do("GET", func() error { return ready(s, o) })
		}, ""},
		"Paused": {"a process that is paused has not stored what it began", one, ctrltest.Pause, "", none, func(s *small, o *unstructured.Unstructured) error {
			if o.Object["status"] == nil {
				s.cloud.Begin("a", false)
			}
			defer s.cloud.End("a", false)
			return ready(s, o)
		}, ""},
		"Stopped": {"a worker of a process that was stopped begins what it cannot store", one, ctrltest.Stop, "", none, func(s *small, o *unstructured.Unstructured) error {
			if s.passes > 0 || s.process > 3 { // the second one is stopped after its write
				return nil
			}
			err := ready(s, o)
			time.Sleep(time.Millisecond)
			if s.cloud.Begin("a", false); s.process == 3 {
				s.cloud.End("a", false)
			}
			return err
		}, ""},
		"Spins": {"any number of requests may be sent if the rule spin is switched off", one, "", ctrltest.RuleSpin, none, func(s *small, o *unstructured.Unstructured) error {
			for i := 0; i <= 3000 && o.Object["status"] == nil; i++ {
				_ = s.Get(context.Background(), client.ObjectKeyFromObject(o), o)
			}
			return ready(s, o)
		}, ""},
		"Twice": {"a process must know what the last one began", one, "", "", none, func(s *small, o *unstructured.Unstructured) error {
			if !s.began {
				s.cloud.Begin("a", false)
			}
			s.began = true
			return ready(s, o)
		}, "twice: a second operation began on a"},
		"Leaves":    {"the failure has the time line", one, "", "", leaves, ready, "creates Record.dns.example.com a"},
		"May leave": {"the rule exit is switched off", one, "", ctrltest.RuleExit, leaves, ready, ""},
		"Exits":     {"the operator ends again and again", one, "", "", exits, ready, "exit: the operator ended 10 times"},
		"May exit":  {"the operator is started again if the rule exit is switched off", one, "", ctrltest.RuleExit, exits, ready, ""},
		"Other time": {"the times in a status and in annotations are not compared", one, "", "", none, func(s *small, o *unstructured.Unstructured) error {
			if s.passes > 1 {
				return nil
			}
			o.SetAnnotations(map[string]string{"applied-at": time.Now().Format(time.RFC3339)})
			return errors.Join(s.Update(context.Background(), o), s.says(o, "Done", time.Now().Format(time.RFC3339)))
		}, ""},
		"New time": {"a time that appears is a change", one, "", "", none, func(s *small, o *unstructured.Unstructured) error {
			if s.process < 3 {
				return ready(s, o)
			}
			return s.says(o, "Done", time.Now().Format(time.RFC3339))
		}, "restart: Record.dns.example.com a is another one"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			processes := 0
			var cloud *ctrltest.Cloud
			var first time.Time
			failure := ctrltest.RestartAfter(t, ctrltest.Operator{
				CRDs: []string{"testdata"}, World: tc.world, Patience: 10 * time.Minute,
				Rules: map[string]func(*ctrltest.State) error{tc.off: nil},
				Cloud: func(c *ctrltest.Cloud) { processes, cloud, first = 0, c, time.Now() },
				Ready: func(o *unstructured.Unstructured) (bool, string) {
					phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
					text, _, _ := unstructured.NestedString(o.Object, "status", "text")
					return phase == "Done", text
				},
				Start: func(ctx context.Context, config *rest.Config) error {
					processes++
					api, err := client.New(config, client.Options{})
					s := &small{Client: api, cloud: cloud, process: processes, first: first}
					if err == nil {
						err = tc.starts(s)
					}
					for ; err == nil && ctx.Err() == nil; s.passes++ {
						all := &unstructured.UnstructuredList{}
						all.SetGroupVersionKind(dns.WithKind("RecordList"))
						_ = s.List(ctx, all)
						for i := range all.Items {
							_ = tc.pass(s, &all.Items[i])
						}
						select {
						case <-time.After(time.Minute):
						case <-ctx.Done():
						}
					}
					return err
				},
			}, tc.fault, 5*time.Second)
			if tc.want == "" && failure != "" || !strings.Contains(failure, tc.want) {
				t.Errorf("%s: want %q in the failure:\n%.1500s", tc.reason, tc.want, failure)
			}
		})
	}
}
