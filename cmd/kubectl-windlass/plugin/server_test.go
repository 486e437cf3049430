package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
	"github.com/windlass-go/windlass/internal/testing/patience"
	"github.com/windlass-go/windlass/internal/testing/smallserver"
)

// The API server of all tests that need one. Each test has its own namespace.
// startServer sets the variables.
var (
	server     *envtest.Environment // nil: the small server
	config     *rest.Config
	api        client.WithWatch
	kubeconfig []byte
	stopServer = func() {}
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	code := m.Run()
	stopServer()
	os.Exit(code)
}

// isKube reports whether the tests run on kube-apiserver, as in make verify.
func isKube() bool { return os.Getenv("WINDLASS_KUBE_APISERVER") == "1" }

// requireKube skips a test that needs the proxy or the rights of kube-apiserver.
func requireKube(t *testing.T) {
	t.Helper()
	if !isKube() {
		t.Skip("it needs kube-apiserver: run make verify, or set WINDLASS_KUBE_APISERVER=1 after make envtest")
	}
}

// startServer starts the API server when the first test needs it.
var startServer = sync.OnceValue(func() (err error) {
	start := startSmall
	if isKube() {
		start = startKube
	}
	if err := start(); err != nil {
		return err
	}
	if config, err = clientcmd.RESTConfigFromKubeConfig(kubeconfig); err != nil {
		return err
	}
	config.QPS = -1
	if api, err = client.NewWithWatch(config, client.Options{Scheme: clientgoscheme.Scheme}); err != nil {
		return err
	}
	_, err = envtest.InstallCRDs(config, envtest.CRDInstallOptions{MaxTime: 2 * time.Minute, CRDs: []*apiextensions.CustomResourceDefinition{
		definition("Database", "databases", "db"), definition("Cluster", "clusters"), definition("Subnet", "subnets"),
	}})
	return err
})

func startSmall() (err error) {
	file, stop, err := smallserver.Start()
	if err != nil {
		return err
	}
	stopServer = stop
	kubeconfig, err = os.ReadFile(file)
	return err
}

func startKube() error {
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets, _ = filepath.Abs("../../../bin/envtest")
	}
	server = &envtest.Environment{BinaryAssetsDirectory: assets, ControlPlaneStartTimeout: 2 * time.Minute}
	stopServer = func() { _ = server.Stop() }
	if _, err := server.Start(); err != nil {
		return fmt.Errorf("no kube-apiserver starts from %s (make envtest builds it, KUBEBUILDER_ASSETS names another folder): %w", assets, err)
	}
	user, err := server.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil)
	if err == nil {
		kubeconfig, err = user.KubeConfig()
	}
	return err
}

// definition returns the definition of a kind of example.com. The API server
// keeps all fields that are written.
func definition(kind, plural string, short ...string) *apiextensions.CustomResourceDefinition {
	anything := true
	return &apiextensions.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + ".example.com"},
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensions.NamespaceScoped,
			Names: apiextensions.CustomResourceDefinitionNames{Kind: kind, ListKind: kind + "List", Plural: plural, ShortNames: short},
			Versions: []apiextensions.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Subresources: &apiextensions.CustomResourceSubresources{Status: &apiextensions.CustomResourceSubresourceStatus{}},
				Schema:       &apiextensions.CustomResourceValidation{OpenAPIV3Schema: &apiextensions.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &anything}},
			}},
		},
	}
}

// namespace makes a namespace for a test.
func namespace(t *testing.T) string {
	t.Helper()
	if err := startServer(); err != nil {
		t.Fatal(err)
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := api.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// user is a user of the command with a kubeconfig.
type user struct {
	t         *testing.T
	ctx       context.Context
	namespace string
	config    string // the folder of the kubeconfig
	in        string // the standard input
	printed   func() // is called after each write to the standard output; may be nil
}

func admin(t *testing.T, namespace string) user { return as(t, namespace, kubeconfig) }

func as(t *testing.T, namespace string, config []byte) user {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kubeconfig"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	return user{t: t, ctx: t.Context(), namespace: namespace, config: dir}
}

// run runs the command and returns its output, its notes and its exit code. The
// name of the namespace becomes NS.
func (u user) run(args ...string) (out, notes string, code int) {
	u.t.Helper()
	args = append(args, u.access()...)
	return u.start(args)
}

// complete returns the completions of the last argument.
func (u user) complete(args ...string) (out, notes string, code int) {
	u.t.Helper()
	return u.start(slices.Concat([]string{"__complete", args[0]}, u.access(), args[1:]))
}

func (u user) access() []string {
	return []string{"--kubeconfig", filepath.Join(u.config, "kubeconfig"), "--cache-dir", filepath.Join(u.config, "cache"), "-n", u.namespace}
}

func (u user) start(args []string) (out, notes string, code int) {
	u.t.Helper()
	o, e := &writer{printed: u.printed}, &writer{}
	code = Run(u.ctx, args, genericiooptions.IOStreams{In: strings.NewReader(u.in), Out: o, ErrOut: e}, func() time.Time { return noon })
	for name, text := range map[string]string{"output": o.String(), "notes": e.String()} {
		if strings.ContainsAny(text, "\x1b\u202e\u0007") {
			u.t.Errorf("the %s of %q has control characters: %q", name, args, text)
		}
	}
	return strings.ReplaceAll(o.String(), u.namespace, "NS"), strings.ReplaceAll(e.String(), u.namespace, "NS"), code
}

// served returns a user of an API server that has these answers, by their paths. An
// answer may begin with its code. An empty one is 403, none is 404.
func served(t *testing.T, answers map[string]string) user {
	t.Helper()
	discovery := map[string]string{
		"/api": `{"versions":[]}`, "/apis": `{"groups":[{"name":"example.com","versions":[{"groupVersion":"example.com/v1","version":"v1"}]}]}`,
		"/apis/example.com/v1": `{"groupVersion":"example.com/v1","resources":[{"name":"databases","singularName":"database","namespaced":true,"kind":"Database","verbs":["list"]}]}`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer, ok := answers[strings.TrimPrefix(r.Method+" ", "GET ")+r.URL.Path]
		var code int
		_, _ = fmt.Sscan(answer, &code)
		switch known := discovery[r.URL.Path]; {
		case known != "":
			answer = known
		case !ok:
			answer, code = `{"kind":"Status","reason":"NotFound","code":404}`, http.StatusNotFound
		case answer == "":
			answer, code = `{"kind":"Status","reason":"Forbidden","code":403}`, http.StatusForbidden
		}
		w.WriteHeader(max(code, http.StatusOK))
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return as(t, "apps", []byte("clusters: [{name: c, cluster: {server: '"+s.URL+"'}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n"))
}

// listOf returns the JSON of a list of objects.
func listOf(kind, version string, items []string) string {
	return fmt.Sprintf(`{"kind":"%sList","apiVersion":%q,"metadata":{"resourceVersion":"1"},"items":[%s]}`, kind, version, strings.Join(items, ","))
}

func databases(items ...string) string { return listOf("Database", "example.com/v1", items) }

// databaseWith returns the JSON of a database in the namespace apps.
func databaseWith(name string, status map[string]any) string {
	u := databaseOf("apps", name)
	u.Object["status"] = status
	data, _ := u.MarshalJSON()
	return string(data)
}

// services returns a list of labelled services in the namespace apps: s0, s1 and so on.
func services(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"metadata":{"name":"s%d","namespace":"apps"},"spec":{"ports":[{"name":"metrics","port":8080}]}}`, i))
	}
	return listOf("Service", "v1", all)
}

// documentOf returns the path of the document of a service.
func documentOf(service int) string {
	return fmt.Sprintf("/api/v1/namespaces/apps/services/http:s%d:metrics/proxy"+documentPath, service)
}

func documentWith(objects ...why.Object) string {
	data, _ := json.Marshal(why.New(objects).Document(noon))
	return string(data)
}

// object makes an object of a kind with a status.
func object(t *testing.T, kind, namespace, name string, status map[string]any) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": kind, "metadata": map[string]any{"namespace": namespace, "name": name}, "spec": map[string]any{},
	}}
	if err := api.Create(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	if status != nil {
		u.Object["status"] = status
		if err := api.Status().Update(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

// conditions returns a status with conditions: Ready and one more.
func conditions(ready, reason, message, more string) map[string]any {
	all := []any{}
	for _, c := range []struct{ kind, status string }{{"Ready", ready}, {more, "True"}} {
		if c.kind != "" {
			all = append(all, map[string]any{"type": c.kind, "status": c.status, "reason": reason, "message": message, "lastTransitionTime": "2026-01-01T10:45:00Z"})
		}
	}
	return map[string]any{"conditions": all}
}

// serve makes a service in a namespace whose endpoint is handler, which listens on
// an address that the API server may reach by its proxy. It returns the name for
// --service when the proxy knows the endpoint. It skips the test on a server without a proxy.
func serve(t *testing.T, namespace, name string, handler http.Handler) string {
	t.Helper()
	requireKube(t)
	ip := outerAddress(t)
	listener, err := net.Listen("tcp", net.JoinHostPort(ip, "0"))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(documentPath, handler)
	mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) {}) // the handler does not see the questions below
	s := &httptest.Server{Listener: listener, Config: &http.Server{Handler: mux}}
	s.Start()
	t.Cleanup(s.Close)
	port := int32(listener.Addr().(*net.TCPAddr).Port)
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{serviceLabel: "true"}},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "web", Port: 80}, {Name: "metrics", Port: 8080}}},
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "manager", Image: "manager"}}},
	}
	for _, o := range []client.Object{svc, pod} {
		if err := api.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	pod.Status.PodIP, pod.Status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	if err := api.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	target := &corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: name, UID: pod.UID} // the proxy reaches only pods
	//lint:ignore SA1019 the proxy of the API server reads this kind
	endpoints := &corev1.Endpoints{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		//lint:ignore SA1019 as above
		Subsets: []corev1.EndpointSubset{{Addresses: []corev1.EndpointAddress{{IP: ip, TargetRef: target}}, Ports: []corev1.EndpointPort{{Name: "metrics", Port: port}}}},
	}
	// Since Kubernetes 1.37 the proxy reads this kind instead.
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: name}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{ip}, TargetRef: target}},
		Ports:       []discoveryv1.EndpointPort{{Name: new("metrics"), Port: &port}},
	}
	for _, o := range []client.Object{endpoints, slice} {
		if err := api.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { // other tests list the services of all namespaces
		if err := api.Delete(context.Background(), svc); err != nil {
			t.Error(err)
		}
	})
	// The proxy takes endpoints from a cache, which gets them by a watch. Until then the API server itself answers 503.
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	patience.Until(time.Minute, func() bool {
		err = core.RESTClient().Get().Namespace(namespace).Resource("services").Name("http:" + name + ":metrics").SubResource("proxy").Do(t.Context()).Error()
		return !apierrors.IsServiceUnavailable(err) || !strings.Contains(err.Error(), "no endpoints available")
	})
	if err != nil {
		t.Fatal(err)
	}
	return namespace + "/" + name
}

// outerAddress returns an address of this machine that is not a loopback address.
func outerAddress(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	t.Skip("this machine has no IPv4 address that the API server's proxy accepts")
	return ""
}

// manager serves documents as ctrlx does.
type manager struct {
	objects []why.Object
	flows   []why.Flow
	version string // replaces the version of the documents
	unseen  int    // objects
	older   bool   // it does not know the parameter namespace
}

func (m manager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != documentPath {
		http.NotFound(w, r)
		return
	}
	q := r.URL.Query()
	ref := checks.Ref{Group: q.Get("group"), Kind: q.Get("kind"), Namespace: q.Get("namespace"), Name: q.Get("name")}
	g, at := why.New(m.objects), noon
	d, ok := g.DocumentIn(ref.Namespace, at, m.flows...), true
	if m.older {
		d = g.Document(at, m.flows...)
	}
	if ref.Name != "" {
		if d, ok = g.DocumentOf(ref, at, m.flows...); !ok {
			http.Error(w, "the object is not known", http.StatusNotFound)
			return
		}
	}
	d.Unseen = m.unseen
	if m.version != "" {
		d.Version = m.version
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(d)
}

// noon is the present time of the command and of managers. The conditions of
// objects are 75 minutes older.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// writer calls printed after each write.
type writer struct {
	bytes.Buffer
	printed func()
}

func (w *writer) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if w.printed != nil {
		w.printed()
	}
	return n, err
}

func ref(kind, namespace, name string) checks.Ref {
	return checks.Ref{Group: "example.com", Kind: kind, Namespace: namespace, Name: name}
}

// waits returns an object of a reconciler that waits for others.
func waits(of checks.Ref, awaited ...checks.Ref) why.Object {
	return why.Object{
		Ref: of, Reconciler: strings.ToLower(of.Kind), State: why.Blocked, Link: "Check", Reason: "NotReady", Since: noon.Add(-time.Hour),
		Again: noon.Add(3 * time.Minute), WaitingFor: slices.Clone(awaited),
	}
}

// evil clears the screen, changes the direction of text, forges a line, and is
// long.
var evil = "x\x1b[2J\u202e\u2066\x07\x7f\u009b2J\r\n└─ forged\u2028" + strings.Repeat("long ", 2000)

// safe fails the test if a text controls the terminal that shows it.
func safe(t *testing.T, what, text string) {
	t.Helper()
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			t.Errorf("%s has the character %U:\n%q", what, r, text)
			return
		}
	}
}

// hostileObjects makes objects whose texts are evil where the API server allows
// it: in conditions, owner references, annotations and events.
func hostileObjects(t *testing.T, ns string) {
	t.Helper()
	object(t, "Database", ns, "orders", conditions("False", evil, evil, "Stalled"))
	owned := object(t, "Cluster", ns, "owned", conditions("False", "R", "Subnet.example.com "+ns+"/\x1b[2J was not found", ""))
	yes := true
	owned.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Database" + evil[:40], Name: evil[:40], UID: types.UID("1"), Controller: &yes}})
	owned.SetAnnotations(map[string]string{retryAnnotation: evil})
	if err := api.Update(t.Context(), owned); err != nil {
		t.Fatal(err)
	}
	event(t, "Cluster", ns, "owned", "R", evil, evil)
}

// hostileServices makes services whose documents, errors and annotations are
// evil.
func hostileServices(t *testing.T, ns string) {
	t.Helper()
	o := waits(ref("Database", ns, "orders"), checks.Ref{Group: evil, Kind: evil, Namespace: evil, Name: evil}, checks.Ref{Kind: evil, Set: evil})
	o.Message, o.Link, o.Reason, o.State = evil, evil, evil, why.State(evil)
	far := waits(checks.Ref{Kind: evil, Namespace: ns, Name: evil})
	far.Reason = "R"
	serve(t, ns, "document", manager{objects: []why.Object{o, far}, flows: []why.Flow{{Name: "database", Text: evil, Mermaid: evil}, {Name: evil}}})
	serve(t, ns, "version", manager{version: evil})
	serve(t, ns, "error", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, evil, http.StatusTeapot) }))
	serve(t, ns, "status", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { // as if the API server answered
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status"}, Message: evil})
	}))
	port := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "port", Labels: map[string]string{serviceLabel: "true"}, Annotations: map[string]string{portAnnotation: evil}},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}
	if err := api.Create(t.Context(), port); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Delete(context.Background(), port) })
}

// Texts of managers, objects, users and errors never control a terminal, with and
// without a manager. Only a flow has several lines. JSON has the texts as data.
func TestHostile(t *testing.T) {
	for name, with := range map[string]bool{"Managers": true, "Conditions": false} {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t)
			hostileObjects(t, ns)
			if with {
				hostileServices(t, ns)
			}
			operate(t, ns, func(u *unstructured.Unstructured, request string) map[string]any {
				status := conditions(evil, evil, evil, "")
				status["lastHandledReconcileAt"] = evil + "," + request
				return status
			})
			u := admin(t, ns)
			for _, args := range []string{
				"why db/orders", "why db/orders -o json", "why cluster/owned", "why cluster/owned -o json", "blocked", "blocked -A", "blocked -o wide", "blocked -o json",
				"flow db", "flow db -o mermaid", "flow nope", "retry --reason R --dry-run", "retry db/orders --timeout 10m", "retry db/none",
				"retry --waiting-for subnet/a --dry-run", "retry --reason \x1b[2J", "why \x1b[2J/\u202e", "why db/\x1b[2J", "why db/orders --service " + ns + "/\x1b[2J",
				"blocked --service \x1b[2J/b", "blocked --address \x1b[2J", "why db/orders --\x1b[2J", "\x1b[2J", "blocked -o \x1b[2J", "retry db/a --annotation \x1b[2J", "flow \x1b[2J",
			} {
				out, notes, _ := u.run(strings.Split(args, " ")...)
				safe(t, "the output of "+args, out)
				safe(t, "the notes of "+args, notes)
				if text := out + notes; text == "" || len(text) > 40_000 || !strings.HasPrefix(args, "flow db") && strings.Contains(text, "\n└─ forged") {
					t.Errorf("%q prints %d bytes:\n%s", args, len(text), text)
				}
				if strings.HasSuffix(args, "json") {
					if d, err := why.Read(strings.NewReader(out)); err != nil || !strings.Contains(out, "forged") && strings.Contains(args, "orders") || len(d.Objects) == 0 {
						t.Errorf("%q prints no document with the texts as data: %v\n%s", args, err, out)
					}
				}
			}
			out, _, _ := u.complete("why", "db/")
			safe(t, "the completion", out)
		})
	}
}
