package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/examples/internal/sim/simtest"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

type attrs map[string]string

// span holds the compared parts of a span.
type span struct {
	Name    string
	Failed  bool
	Attrs   attrs
	Events  []event
	Service string
}

type event struct {
	Name  string
	Attrs attrs
}

// metric holds the attributes of a metric and, for a counter, the values of its
// series.
type metric struct {
	Name   string
	Series []series
}

type series struct {
	Attrs attrs
	N     int64
}

// received holds the telemetry of a run.
type received struct {
	spans   []span
	metrics []metric
}

// receiver receives OTLP over HTTP. It keeps the keys of the resources of the
// spans, in their order.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	paths []string
	keys  []string
}

// receive starts a receiver. refuse may write the response itself; it then
// returns true.
func receive(t *testing.T, refuse func(http.ResponseWriter, *http.Request) bool) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			if refuse == nil { // else the client may have reached its time limit in the middle of the body
				t.Error(err)
			}
			return
		}
		r.mu.Lock()
		r.paths = append(r.paths, req.URL.Path)
		r.mu.Unlock()
		if refuse != nil && refuse(w, req) || strings.HasSuffix(req.URL.Path, "/v1/metrics") {
			return
		}
		var got collectortrace.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &got); err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, s := range got.ResourceSpans[0].ScopeSpans[0].Spans {
			for _, a := range s.Attributes {
				if a.Key == "windlass.key" {
					r.keys = append(r.keys, a.Value.GetStringValue())
				}
			}
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// jsonAttrs holds attributes in the format of the exporters to standard output.
type jsonAttrs []struct {
	Key   string
	Value struct{ Value any }
}

func (all jsonAttrs) read() attrs {
	made := attrs{}
	for _, a := range all {
		made[a.Key], _ = a.Value.Value.(string) // as in protoAttrs
		list, _ := a.Value.Value.([]any)
		for _, v := range list {
			made[a.Key] += fmt.Sprint(v)
		}
	}
	return made
}

// read parses the output of -otel, which is only JSON.
func read(t *testing.T, text string) (r received) {
	t.Helper()
	for decoder := json.NewDecoder(strings.NewReader(text)); ; {
		var doc struct {
			Name       string // of a span
			Status     struct{ Code string }
			Attributes jsonAttrs
			Events     []struct {
				Name       string
				Attributes jsonAttrs
			}
			Resource     jsonAttrs
			ScopeMetrics []struct {
				Metrics []struct {
					Name string
					Data struct {
						DataPoints []struct {
							Attributes jsonAttrs
							Value      int64
						}
					}
				}
			}
		}
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return r
		}
		if err != nil {
			t.Fatalf("%v in:\n%s", err, text)
		}
		if doc.Name != "" {
			made := span{Name: doc.Name, Failed: doc.Status.Code == "Error",
				Attrs: doc.Attributes.read(), Service: doc.Resource.read()["service.name"]}
			for _, e := range doc.Events {
				made.Events = append(made.Events, event{e.Name, e.Attributes.read()})
			}
			r.spans = append(r.spans, made)
		}
		for _, scope := range doc.ScopeMetrics {
			for _, m := range scope.Metrics {
				made := metric{Name: m.Name}
				for _, p := range m.Data.DataPoints {
					made.Series = append(made.Series, series{p.Attributes.read(), p.Value})
				}
				r.metrics = append(r.metrics, made)
			}
		}
	}
}

// story returns the passes of a run.
func story(t *testing.T) []sim.Pass {
	t.Helper()
	m, err := LoadManifests("")
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSimulation(m, true)
	if err != nil {
		t.Fatal(err)
	}
	s.engine.RunUntil(t.Context(), time.Hour, s.engine.AllReady)
	return s.engine.Passes(checks.Ref{})
}

// passRecord holds the values of a pass that both the engine and its span have.
// Blocks has its events with the verdict block.
type passRecord struct {
	Name, Key, At, Reason, Service string
	Failed                         bool
	Blocks                         []string
}

func recordPasses(all []sim.Pass) (list []passRecord) {
	for _, p := range all {
		o := p.Outcome
		one := passRecord{Name: "reconcile " + p.Resource.Kind, Key: p.Resource.Name, At: flowtest.Stamp(p.At), Reason: o.Reason(),
			Service: "windlass-example-aks", Failed: o.State() == flow.StateFailed}
		if o.State() == flow.StateBlocked {
			one.Blocks = []string{strings.Join([]string{o.Point(), o.Link(), o.Reason()}, " ")}
		}
		list = append(list, one)
	}
	return list
}

func recordSpans(all []span) (list []passRecord) {
	for _, s := range all {
		one := passRecord{Name: s.Name, Key: s.Attrs["windlass.key"], At: s.Attrs["example.at"], Reason: s.Attrs["windlass.reason"],
			Service: s.Service, Failed: s.Failed}
		for _, e := range s.Events {
			if e.Name == "windlass.link" && e.Attrs["windlass.verdict"] == "block" {
				where := []string{e.Attrs["windlass.point"], e.Attrs["windlass.link"], e.Attrs["windlass.reason"]}
				one.Blocks = append(one.Blocks, strings.Join(where, " "))
			}
		}
		list = append(list, one)
	}
	return list
}

// TestTelemetry: -otel prints the passes of the engine, and -otlp sends them.
func TestTelemetry(t *testing.T) {
	want, got := recordPasses(story(t)), read(t, program.Run("-otel").Stdout)
	if diff := cmp.Diff(want, recordSpans(got.spans)); diff != "" {
		t.Errorf("want a span for each pass: -engine, +spans:\n%s", diff)
	}
	mustHaveEvents(t, got.spans)
	mustMeasure(t, got.metrics)

	var keys []string
	for _, p := range want {
		keys = append(keys, p.Key)
	}
	r := receive(t, nil)
	plain, sent := program.MustShow(t), program.MustShow(t, "-otlp", r.URL)
	if diff := cmp.Diff(plain+fmt.Sprintf("\n%d spans were sent to %s\n", len(want), r.URL), sent); diff != "" {
		t.Errorf("-otlp adds one line to the output: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([][]string{{"/v1/traces", "/v1/metrics"}, keys}, [][]string{r.paths, r.keys}); diff != "" {
		t.Errorf("want one request for spans and one for metrics: -want, +got:\n%s", diff)
	}
}

// mustHaveEvents checks the events of two passes.
func mustHaveEvents(t *testing.T, spans []span) {
	t.Helper()
	at := func(when, key string) []event {
		for _, s := range spans {
			if s.Attrs["example.at"] == when && s.Attrs["windlass.key"] == key {
				for _, e := range s.Events {
					delete(e.Attrs, "windlass.duration")
				}
				return s.Events
			}
		}
		return nil
	}
	const link = "windlass.link"
	of := func(point, name, verdict string) attrs {
		return attrs{"windlass.point": point, "windlass.link": name, "windlass.verdict": verdict}
	}
	blocked := of("OwnerCheck", "OwnerProvisioningState", "block")
	blocked["windlass.reason"], blocked["windlass.retry"] = "OwnerState", "slow"
	blocked["windlass.message"], blocked["windlass.waiting_for"] = `owner ManagedCluster demo is in state "Upgrading": it must be Succeeded, Failed or Canceled`, "ManagedCluster demo"
	if diff := cmp.Diff([]event{{link, blocked}, {link, of("OwnerCheck", "OwnerReady", "proceed")}}, at("02:00", "system")); diff != "" {
		t.Errorf("the events of a blocked pass: -want, +got:\n%s", diff)
	}
	ruled := of("Classify", "Table(1 rule)", "slow")
	ruled["windlass.reason"], ruled["windlass.retry"] = "ControlPlaneLagsBehind", "slow"
	refers := of("PreCheck", "ReferenceReady(network)", "proceed")
	refers["windlass.notes"] = "follows Subnet apps/batch"
	want := []event{
		{link, of("OwnerCheck", "OwnerProvisioningState", "proceed")}, {link, of("OwnerCheck", "OwnerReady", "proceed")},
		{link, of("PreCheck", "ProvisioningState", "proceed")}, {link, refers},
		{link, ruled}, {"exception", attrs{"exception.type": "NodePoolMcVersionIncompatible"}},
	}
	if diff := cmp.Diff(want, at("09:50", "batch")); diff != "" {
		t.Errorf("the events of a failed pass: -want, +got:\n%s", diff)
	}
}

func mustMeasure(t *testing.T, metrics []metric) {
	t.Helper()
	var names []string
	for _, m := range metrics {
		names = append(names, m.Name)
		for _, s := range m.Series {
			for key, value := range s.Attrs {
				if slices.Contains([]string{"demo", "system", "batch"}, value) || strings.Contains(value, "apps") {
					t.Errorf("%s has the name of a resource: %s=%s", m.Name, key, value)
				}
			}
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"windlass.link.duration", "windlass.link.verdicts", "windlass.pass.duration", "windlass.pass.verdicts",
		"windlass.point.duration", "windlass.point.verdicts"}, names); diff != "" {
		t.Fatalf("want each metric once: -want, +got:\n%s", diff)
	}
	want := attrs{"windlass.reconciler": "AgentPool", "windlass.point": "PreCheck", "windlass.link": "ReferenceReady(network)"}
	has := func(m metric, n int64) bool {
		return slices.ContainsFunc(m.Series, func(s series) bool { return cmp.Equal(want, s.Attrs) && s.N == n })
	}
	byName := map[string]metric{}
	for _, m := range metrics {
		byName[m.Name] = m
	}
	if m := byName["windlass.link.duration"]; !has(m, 0) {
		t.Errorf("the duration of the check is missing in %v", m)
	}
	want["windlass.verdict"], want["windlass.reason"] = "block", "ReferenceNotFound"
	if m := byName["windlass.link.verdicts"]; !has(m, 1) {
		t.Errorf("the block of the check is missing in %v", m)
	}
}

func TestLogLines(t *testing.T) {
	got := program.Run("-otel")
	if got.Code != sim.ExitOK {
		t.Fatalf("exit code %d: %s", got.Code, got.Stderr)
	}
	simtest.InOrder(t, got.Stderr,
		"at=00:00 msg=\"pass started\" reconciler=ManagedCluster key=demo\n",
		"at=02:00 msg=\"link started\" reconciler=AgentPool key=system point=OwnerCheck link=OwnerReady\n",
		"at=02:00 msg=\"link ended\" reconciler=AgentPool key=system point=OwnerCheck link=OwnerProvisioningState verdict=block reason=OwnerState retry=slow message=",
		"at=07:00 msg=\"point ended\" reconciler=AgentPool key=system point=Apply verdict=error duration=", "errorType=OperationNotAllowed\n",
		"at=07:00 msg=\"pass ended\" reconciler=AgentPool key=system err=OperationNotAllowed point=Apply verdict=error", "errorType=OperationNotAllowed\n",
		"at=09:30 msg=\"made by a person\" object=\"Subnet apps/batch\"\n",
		"at=11:22 msg=\"pass ended\" reconciler=AgentPool key=batch verdict=ready reason=Succeeded",
	)
	for line := range strings.Lines(got.Stderr) {
		line = regexp.MustCompile(` message="[^\\"]*(\\.[^\\"]*)*"`).ReplaceAllString(line, "") // a message may contain a state
		if strings.Contains(strings.ToLower(line), "succeeded") && !strings.Contains(line, "verdict=ready ") {
			t.Errorf("only a ready resource has succeeded: %s", line)
		}
		if strings.Contains(line, "time=") || strings.Contains(line, "level=") {
			t.Errorf("want the virtual time instead of time and level: %s", line)
		}
	}
}

func TestTelemetryOfARunThatIsLate(t *testing.T) {
	r := receive(t, nil)
	for name, args := range map[string][]string{"Printed": {"-otel"}, "Sent": {"-otlp", r.URL}} {
		t.Run(name, func(t *testing.T) {
			args = append(args, "-timeout", "9m")
			got := program.Run(args...)
			spans := len(r.keys)
			if name == "Printed" {
				spans = len(read(t, got.Stdout).spans)
			} else {
				simtest.InOrder(t, got.Stdout, fmt.Sprintf("\n%d spans were sent", spans))
			}
			if spans == 0 || spans >= len(story(t)) {
				t.Errorf("%d spans, want those of the passes until the timeout", spans)
			}
			simtest.InOrder(t, program.MustBeLate(t, args...), "aks: not all is ready after 9m0s:", "or with Subnet apps/batch")
		})
	}
}

func TestEndpointDoesNotTakeIt(t *testing.T) {
	answer := func(status int, suffix string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, req *http.Request) bool {
			if !strings.HasSuffix(req.URL.Path, suffix) {
				return false
			}
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(status)
			return true
		}
	}
	partial, err := proto.Marshal(&collectortrace.ExportTraceServiceResponse{
		PartialSuccess: &collectortrace.ExportTracePartialSuccess{RejectedSpans: 3, ErrorMessage: "too old"}})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		refuse func(http.ResponseWriter, *http.Request) bool
		want   []string
		sent   bool // whether the spans were sent
	}{
		"Unavailable": {"no retry, even with Retry-After", answer(503, ""),
			[]string{"did not accept the telemetry", "/v1/traces", "503 Service Unavailable"}, false},
		"NotFound": {"the address is not a receiver", answer(404, ""),
			[]string{"did not accept the telemetry", "/v1/traces", "404 Not Found"}, false},
		"Elsewhere": {"redirects are refused", answer(307, ""),
			[]string{"did not accept the telemetry", "307 Temporary Redirect"}, false},
		"NoMetrics": {"the receiver accepts only spans", answer(404, "/v1/metrics"),
			[]string{"did not accept the telemetry", "/v1/metrics", "404 Not Found"}, true},
		"Some": {"the receiver accepts some spans and reports it", func(w http.ResponseWriter, req *http.Request) bool {
			if !strings.HasSuffix(req.URL.Path, "/v1/traces") {
				return false
			}
			w.Header().Set("Content-Type", "application/x-protobuf")
			_, _ = w.Write(partial)
			return true
		}, []string{"did not accept the telemetry", "too old (3 spans rejected)"}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.reason)
			r := receive(t, tc.refuse)
			got := program.MustBeLate(t, "-otlp", r.URL)
			mustBeOneLine(t, got, append([]string{"aks: -otlp: " + r.URL}, tc.want...)...)
			if diff := cmp.Diff([]string{"/v1/traces", "/v1/metrics"}, r.paths); diff != "" {
				t.Errorf("want one request for each signal: -want, +got:\n%s", diff)
			}
			if out := program.Run("-otlp", r.URL).Stdout; strings.Contains(out, "spans were sent") != tc.sent {
				t.Errorf("want a line about sent spans: %t:\n%s", tc.sent, out)
			}
		})
	}
}

func mustBeOneLine(t *testing.T, text string, want ...string) {
	t.Helper()
	if strings.Count(text, "\n") != 1 {
		t.Errorf("want one line, got:\n%s", text)
	}
	simtest.InOrder(t, text, want...)
}

func TestEndpointIsClosed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	mustBeOneLine(t, program.MustBeLate(t, "-otlp", l.Addr().String()),
		"aks: -otlp: "+l.Addr().String()+" did not accept the telemetry", "connection refused")
}

// TestEndpointNeverResponds: a request without a response ends at the time
// limit.
func TestEndpointNeverResponds(t *testing.T) {
	r := receive(t, func(_ http.ResponseWriter, req *http.Request) bool {
		<-req.Context().Done()
		return true
	})
	m, err := LoadManifests("")
	if err != nil {
		t.Fatal(err)
	}
	silent := telemetry{to: r.URL, flushTimeout: time.Millisecond}
	err = silent.show(io.Discard, io.Discard, time.Hour, m)
	if err == nil {
		t.Fatal("want an error, got none")
	}
	mustBeOneLine(t, err.Error()+"\n", r.URL+" did not accept the telemetry", "exceeded")
}

func TestEndpoint(t *testing.T) {
	cases := map[string]struct{ reason, text, want string }{
		"URL":      {"the usual endpoint of a collector", "http://localhost:4318", "http://localhost:4318/v1/traces"},
		"TLS":      {"https has a default port", "https://collector.example", "https://collector.example/v1/traces"},
		"HostPort": {"no scheme means http", "localhost:4318", "http://localhost:4318/v1/traces"},
		"IPv6":     {"an IPv6 address in brackets", "[::1]:4318", "http://[::1]:4318/v1/traces"},
		"Path":     {"a gateway with a path", "https://gateway.example/otlp/", "https://gateway.example/otlp/v1/traces"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u, err := endpoint(tc.text)
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if got := u.JoinPath("v1/traces").String(); got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

func TestBadTelemetryFlags(t *testing.T) {
	const form = "is not an endpoint; use http://HOST:PORT, https://HOST:PORT or HOST:PORT"
	for reason, tc := range map[string]struct {
		args []string
		want string
	}{
		"an empty endpoint": {[]string{"-otlp", ""}, `-otlp: "" ` + form},
		"a host without scheme and port may be a mistake": {[]string{"-otlp", "localhost"}, `"localhost" ` + form},
		"a port without a host":                           {[]string{"-otlp", ":4318"}, `":4318" ` + form},
		"a scheme without a host":                         {[]string{"-otlp", "http://"}, `"http://" ` + form},
		"OTLP over gRPC is not supported":                 {[]string{"-otlp", "grpc://localhost:4317"}, form},
		"not a URL":                                       {[]string{"-otlp", "http://a b"}, form},
		"the exporters would drop the password":           {[]string{"-otlp", "http://a:b@localhost:4318"}, form},
		"the exporters would drop the query":              {[]string{"-otlp", "http://localhost:4318?a=b"}, form},
		"two destinations":                                {[]string{"-otel", "-otlp", "localhost:4318"}, "-otel and -otlp: use one of them"},
		"-explain prints no telemetry":                    {[]string{"-otel", "-explain", "demo"}, "cannot be used with -explain"},
		"-explain sends no telemetry":                     {[]string{"-otlp", "localhost:4318", "-explain", "demo"}, "cannot be used with -explain"},
	} {
		t.Run(reason, func(t *testing.T) { program.MustRefuse(t, tc.want, tc.args...) })
	}
}
