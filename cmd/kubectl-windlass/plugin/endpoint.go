package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
)

// The label and the annotation of a service whose manager serves documents, and
// the path on which it does.
const (
	serviceLabel   = "windlass-go.github.io/why"
	portAnnotation = "windlass-go.github.io/why-port"
	documentPath   = "/debug/windlass"
)

// The bounds of questions to endpoints.
const (
	askTimeout   = 10 * time.Second
	maxEndpoints = 50
	maxError     = 8192 // bytes that are read of an error
	maxReplicas  = 30   // questions to a service until its leader answers
)

// endpoint is a place that may serve documents.
type endpoint struct {
	name   string // for messages
	url    *url.URL
	client *http.Client
}

// reply is the document of an endpoint.
type reply struct {
	from string
	doc  why.Document
}

// endpoints returns the endpoints to ask. whole reports whether no other service may
// have the label.
func (c *command) endpoints(ctx context.Context, k clients) (all []endpoint, whole bool, err error) {
	config, err := c.flags.ToRESTConfig()
	if err != nil {
		return nil, false, err
	}
	if c.address != "" {
		e, err := direct(config, c.address, c.addressCA)
		return []endpoint{e}, true, err
	}
	services, whole, err := c.findServices(ctx, k)
	if err != nil {
		return nil, false, err
	}
	if len(services) == 0 {
		c.note("no service that you may list has the label %s=true", serviceLabel)
	}
	if len(services) > maxEndpoints {
		c.note("more than %d services have the label %s=true; only the first %d are asked", maxEndpoints, serviceLabel, maxEndpoints)
		services, whole = services[:maxEndpoints], false
	}
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, false, err
	}
	client, err := clientFor(config)
	if err != nil {
		return nil, false, err
	}
	for _, s := range services {
		port, err := portOf(s)
		if err != nil {
			c.note("service %s/%s is left out: %v", s.Namespace, s.Name, err)
			whole = false
			continue
		}
		target := strings.Join([]string{schemeOf(port), s.Name, cmp.Or(port.Name, strconv.Itoa(int(port.Port)))}, ":")
		u := server.JoinPath("api", "v1", "namespaces", url.PathEscape(s.Namespace), "services", url.PathEscape(target), "proxy", documentPath)
		all = append(all, endpoint{"service " + s.Namespace + "/" + s.Name, u, client})
	}
	return all, whole, nil
}

// clientFor returns a client that follows no redirect: a service could otherwise
// send the credentials of the user to another host.
func clientFor(config *rest.Config) (*http.Client, error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, nil
}

// direct returns the endpoint at an address. It gets the token of the user, so
// the connection must be secret: encrypted, or inside this machine. The proxy of
// a kubeconfig is outside.
func direct(config *rest.Config, address, ca string) (endpoint, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return endpoint{}, fmt.Errorf("--address %q is not a URL such as https://metrics.example.com:8443", address)
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme == "http" && (ip == nil || !ip.IsLoopback()) {
		return endpoint{}, errors.New("--address needs https, because your token is sent to it; http is allowed only to a loopback address such as 127.0.0.1")
	}
	own := rest.AnonymousClientConfig(config)
	own.Host, own.TLSClientConfig = address, rest.TLSClientConfig{CAFile: ca}
	own.BearerToken, own.BearerTokenFile, own.ExecProvider, own.AuthProvider = config.BearerToken, config.BearerTokenFile, config.ExecProvider, config.AuthProvider
	if u.Scheme == "http" {
		own.Dial, own.Proxy = nil, http.ProxyURL(nil)
	}
	client, err := clientFor(own)
	if strings.Trim(u.Path, "/") == "" {
		u = u.JoinPath(documentPath)
	}
	return endpoint{address, u, client}, err
}

// findServices returns the services that the user names, or those with the label.
// whole reports whether the user may list the services of all namespaces.
func (c *command) findServices(ctx context.Context, k clients) (found []corev1.Service, whole bool, err error) {
	for _, name := range c.services {
		namespace, rest, ok := strings.Cut(name, "/")
		rest, port, hasPort := strings.Cut(rest, ":")
		if !ok || content.IsPathSegmentName(namespace) != nil || content.IsPathSegmentName(rest) != nil || namespace == "" || rest == "" || hasPort && port == "" {
			return nil, false, fmt.Errorf("--service %q is not NAMESPACE/NAME or NAMESPACE/NAME:PORT", name)
		}
		s, err := k.core.Services(namespace).Get(ctx, rest, metav1.GetOptions{})
		if err != nil {
			return nil, false, err
		}
		if hasPort {
			s.Annotations = map[string]string{portAnnotation: port}
		}
		found = append(found, *s)
	}
	if len(c.services) > 0 {
		return found, true, nil
	}
	options := metav1.ListOptions{LabelSelector: serviceLabel + "=true", Limit: maxEndpoints + 1}
	list, err := k.core.Services(metav1.NamespaceAll).List(ctx, options)
	whole = err == nil
	if apierrors.IsForbidden(err) {
		c.note("you may not list the services of all namespaces; only those in %s are asked; name others with --service", k.namespace)
		list, err = k.core.Services(k.namespace).List(ctx, options)
	}
	switch {
	case apierrors.IsForbidden(err):
		c.note("you may not list the services in %s; name them with --service", k.namespace)
		return nil, false, nil
	case err != nil:
		return nil, false, err
	}
	return list.Items, whole, nil
}

// portOf returns the port of the documents: the port of the annotation, else the one
// with the name "metrics", else the first one.
func portOf(s corev1.Service) (corev1.ServicePort, error) {
	if len(s.Spec.Ports) == 0 {
		return corev1.ServicePort{}, errors.New("it has no port")
	}
	want, given := s.Annotations[portAnnotation]
	i := slices.IndexFunc(s.Spec.Ports, func(p corev1.ServicePort) bool {
		return p.Name == cmp.Or(want, "metrics") || strconv.Itoa(int(p.Port)) == want
	})
	if i < 0 && given {
		return corev1.ServicePort{}, fmt.Errorf("it has no port %q", want)
	}
	return s.Spec.Ports[max(i, 0)], nil
}

// schemeOf returns the scheme of a port. The API server does not find it out.
func schemeOf(p corev1.ServicePort) string {
	if p.AppProtocol != nil && *p.AppProtocol != "" {
		if strings.EqualFold(*p.AppProtocol, "https") {
			return "https"
		}
		return "http"
	}
	if strings.HasPrefix(p.Name, "https") || p.Port == 443 || p.Port == 8443 {
		return "https"
	}
	return "http"
}

// errUnknown is the error of an endpoint that does not know an object.
var errUnknown = errors.New("unknown object")

// get returns the document about an object, or about all objects if ref is zero.
func (e endpoint) get(ctx context.Context, ref checks.Ref) (why.Document, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	u := *e.url
	query := url.Values{}
	for key, value := range map[string]string{"kind": ref.Kind, "group": ref.Group, "namespace": ref.Namespace, "name": ref.Name} {
		if value != "" {
			query.Set(key, value)
		}
	}
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return why.Document{}, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := e.client.Do(req)
	for n := 1; n < maxReplicas && err == nil && resp.StatusCode == http.StatusMisdirectedRequest; n++ {
		_ = resp.Body.Close() // a replica that is not the leader; the service chooses any
		req.Close = true      // by a new connection, because a balancer chooses a replica for each connection
		resp, err = e.client.Do(req)
	}
	if err != nil {
		return why.Document{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusOK {
		return why.Read(resp.Body)
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxError))
	var status metav1.Status // the API server itself answers in this form
	fromServer := json.Unmarshal(body, &status) == nil && status.Kind == "Status"
	text := strings.TrimSpace(string(body))
	if fromServer {
		text = status.Message
	}
	err = fmt.Errorf("it answered %d %s: %.300s", resp.StatusCode, http.StatusText(resp.StatusCode), text)
	advice := map[int]string{
		http.StatusUnauthorized:     "it accepts only a token, and no certificate: log in again, or add --token",
		http.StatusForbidden:        "you need the right to get the path " + documentPath + " of its metrics server",
		http.StatusNotFound:         "it serves no documents: add ctrlx.Why to its metrics server, or name another port",
		http.StatusMethodNotAllowed: "another program answers there: name the port of the metrics server",
	}[resp.StatusCode]
	switch code := resp.StatusCode; {
	case fromServer, advice == "":
	case code == http.StatusNotFound && ref.Name != "":
		err = fmt.Errorf("%w: %w", errUnknown, err)
	case code < http.StatusNotFound && strings.Contains(e.url.Path, "/proxy/"):
		advice = "it requires a token, and the API server does not pass yours on: use --address with a URL of its metrics server"
		fallthrough
	default:
		err = fmt.Errorf("%w (%s)", err, advice)
	}
	return why.Document{}, err
}

// ask asks all endpoints about ref, at the same time. alive are the endpoints that
// gave an answer.
func (c *command) ask(ctx context.Context, all []endpoint, ref checks.Ref) (replies []reply, alive []endpoint) {
	docs, errs := make([]why.Document, len(all)), make([]error, len(all))
	var wait sync.WaitGroup
	for i, e := range all {
		wait.Go(func() { docs[i], errs[i] = e.get(ctx, ref) })
	}
	wait.Wait()
	for i, e := range all {
		switch {
		case errs[i] == nil:
			replies = append(replies, reply{e.name, docs[i]})
		case !errors.Is(errs[i], errUnknown):
			c.note("%s gave no answer: %v", e.name, errs[i])
			continue
		}
		alive = append(alive, e)
	}
	return replies, alive
}
