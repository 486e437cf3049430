package plugin

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	eventsv1 "k8s.io/client-go/kubernetes/typed/events/v1"

	"github.com/windlass-go/windlass/checks"
)

// clients are the clients of the API server.
type clients struct {
	core      corev1.CoreV1Interface
	events    eventsv1.EventsV1Interface
	dynamic   dynamic.Interface
	discovery discovery.DiscoveryInterface
	mapper    meta.RESTMapper
	namespace string
}

func (c *command) clients() (k clients, err error) {
	config, err := c.flags.ToRESTConfig()
	if err != nil {
		return k, err
	}
	config.QPS, config.Burst = 50, 100 // the limits of client-go suit a small controller
	var errs [6]error
	k.core, errs[0] = corev1.NewForConfig(config)
	k.events, errs[1] = eventsv1.NewForConfig(config)
	k.dynamic, errs[2] = dynamic.NewForConfig(config)
	k.discovery, errs[3] = c.flags.ToDiscoveryClient()
	k.mapper, errs[4] = c.flags.ToRESTMapper()
	k.namespace, _, errs[5] = c.flags.ToRawKubeConfigLoader().Namespace()
	return k, errors.Join(errs[:]...)
}

// mapping returns the kind that a user names: Kind, plural, short name, each with
// or without version and group. The order is the same as in kubectl.
func (k clients) mapping(name string) (*meta.RESTMapping, error) {
	full, resource := schema.ParseResourceArg(strings.ToLower(name))
	var gvk schema.GroupVersionKind
	if full != nil {
		gvk, _ = k.mapper.KindFor(*full)
	}
	if gvk.Empty() {
		gvk, _ = k.mapper.KindFor(resource.WithVersion(""))
	}
	if !gvk.Empty() {
		return k.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	}
	exact, kind := schema.ParseKindArg(name)
	if exact != nil {
		if m, err := k.mapper.RESTMapping(exact.GroupKind(), exact.Version); err == nil {
			return m, nil
		}
	}
	m, err := k.mapper.RESTMapping(kind)
	if meta.IsNoMatchError(err) {
		return nil, fmt.Errorf("the API server has no kind %q", name)
	}
	return m, err
}

// refOf returns the ref of an object of a kind. Only objects of kinds with
// namespaces keep the namespace.
func refOf(m *meta.RESTMapping, namespace, name string) checks.Ref {
	ref := checks.Ref{Group: m.GroupVersionKind.Group, Kind: m.GroupVersionKind.Kind, Name: name}
	if m.Scope.Name() == meta.RESTScopeNameNamespace {
		ref.Namespace = namespace
	}
	return ref
}

// resource returns the client of the objects of a kind.
func (k clients) resource(m *meta.RESTMapping, namespace string) dynamic.ResourceInterface {
	if m.Scope.Name() == meta.RESTScopeNameNamespace {
		return k.dynamic.Resource(m.Resource).Namespace(namespace)
	}
	return k.dynamic.Resource(m.Resource)
}

// objects returns the objects that args name: KIND/NAME..., or KIND NAME....
func (k clients) objects(args []string) ([]checks.Ref, error) {
	if len(args) > 1 && !strings.Contains(args[0], "/") {
		for i, name := range args[1:] {
			if strings.Contains(name, "/") {
				return nil, errors.New("name the objects as KIND/NAME or as KIND NAME, not both")
			}
			args[i+1] = args[0] + "/" + name
		}
		args = args[1:]
	}
	var refs []checks.Ref
	for _, arg := range args {
		kind, name, _ := strings.Cut(arg, "/")
		if kind == "" || name == "" || strings.Contains(name, "/") {
			return nil, fmt.Errorf("%q does not name an object: write KIND/NAME or KIND NAME", arg)
		}
		m, err := k.mapping(kind)
		if err != nil {
			return nil, err
		}
		refs = append(refs, refOf(m, k.namespace, name))
	}
	return refs, nil
}

// customKinds returns the kinds that definitions add to the API server, in their
// preferred versions. partial is the error of groups that did not answer.
func (k clients) customKinds() (kinds []*meta.RESTMapping, partial error) {
	lists, partial := discovery.ServerPreferredResources(k.discovery)
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil || builtIn(gv.Group) {
			continue
		}
		for _, r := range list.APIResources {
			if strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "list") {
				continue
			}
			scope := meta.RESTScopeRoot
			if r.Namespaced {
				scope = meta.RESTScopeNamespace
			}
			kinds = append(kinds, &meta.RESTMapping{Resource: gv.WithResource(r.Name), GroupVersionKind: gv.WithKind(r.Kind), Scope: scope})
		}
	}
	slices.SortFunc(kinds, func(a, b *meta.RESTMapping) int { return strings.Compare(a.Resource.String(), b.Resource.String()) })
	return kinds, partial
}

// builtIn reports whether a group belongs to the API server itself.
func builtIn(group string) bool {
	return scheme.Scheme.IsGroupRegistered(group) || group == "apiextensions.k8s.io" || group == "apiregistration.k8s.io"
}

// completable matches the names that a shell may complete: no other name is safe
// in every shell.
var completable = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*$`)

// completeObject completes KIND/NAME and KIND NAME.
func (c *command) completeObject(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	prefix, kind := "", ""
	switch before, _, slash := strings.Cut(typed, "/"); {
	case slash:
		prefix, kind = before+"/", before
	case len(args) > 0 && !strings.Contains(args[0], "/"):
		kind = args[0]
	default:
		kinds, directive := c.completeKind(cmd, nil, typed)
		return kinds, directive | cobra.ShellCompDirectiveNoSpace
	}
	k, err := c.clients()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	m, err := k.mapping(kind)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	list, err := k.resource(m, k.namespace).List(cmd.Context(), metav1.ListOptions{Limit: 500})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for i := range list.Items {
		if name := list.Items[i].GetName(); completable.MatchString(name) {
			names = append(names, prefix+name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeKind completes KIND.
func (c *command) completeKind(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	k, err := c.clients()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	kinds, _ := k.customKinds()
	var names []string
	for _, m := range kinds {
		if name := m.Resource.GroupResource().String(); completable.MatchString(name) {
			names = append(names, name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
