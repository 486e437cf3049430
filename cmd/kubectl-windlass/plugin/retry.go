package plugin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
)

// The names by which an operator takes a request, and shows that it has handled
// it. Package ctrlx has the same ones.
const (
	retryAnnotation = "windlass-go.github.io/requestedAt"
	recordCondition = "windlass-go.github.io/Record"
	retryField      = "lastHandledReconcileAt"
)

// maxUnasked is the number of objects that are retried without a question.
const maxUnasked = 20

// retryFlags are the flags of retry.
type retryFlags struct {
	waitingFor, reason, annotation string
	everywhere, dryRun, yes        bool
	timeout                        time.Duration
}

func (c *command) retry() *cobra.Command {
	var f retryFlags
	cmd := &cobra.Command{
		Use:   "retry (KIND/NAME... | --waiting-for KIND/NAME | --reason REASON)",
		Short: "Retry objects now, and wait until their operators have done so",
		Long: `Retry objects now: the operator of each object runs a pass at once and resets the
back-off. The command sets an annotation on each object, and waits until the operator
shows in the status that it has handled it, or until the object is gone.

--waiting-for retries the objects whose manager, owner or message names the object.
--reason retries the objects whose Ready condition has this reason. Both leave out
objects that are ready, and objects without a Ready condition.

The exit code is 0 if each retry was handled, 1 if not, and 2 after an error, or if that
is not known: you need the rights to list and watch the objects.`,
		Example: `  kubectl windlass retry database/orders -n apps
  kubectl windlass retry --waiting-for subnet/batch -n apps --dry-run
  kubectl windlass retry --reason QuotaExceeded -A --yes`,
		ValidArgsFunction: c.completeObject,
	}
	cmd.Flags().StringVar(&f.waitingFor, "waiting-for", "", "retry the objects that wait for this object, KIND/NAME")
	cmd.Flags().StringVar(&f.reason, "reason", "", "retry the objects whose Ready condition has this reason")
	cmd.Flags().BoolVarP(&f.everywhere, "all-namespaces", "A", false, "with --waiting-for and --reason: retry objects of all namespaces")
	cmd.Flags().StringVar(&f.annotation, "annotation", retryAnnotation, "name of the annotation, if the operator has another one")
	cmd.Flags().DurationVar(&f.timeout, "timeout", time.Minute, "time to wait until the retries are handled; 0: do not wait")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print the objects, and change nothing")
	cmd.Flags().BoolVar(&f.yes, "yes", false, fmt.Sprintf("do not ask before more than %d objects", maxUnasked))
	_ = cmd.RegisterFlagCompletionFunc("waiting-for", func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return c.completeObject(cmd, nil, typed)
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		given := 0
		for _, is := range []bool{len(args) > 0, f.waitingFor != "", f.reason != ""} {
			if is {
				given++
			}
		}
		switch errs := validation.IsQualifiedName(f.annotation); {
		case given != 1:
			return errors.New("name objects, or give --waiting-for, or --reason")
		case len(errs) > 0:
			return fmt.Errorf("--annotation %q: %s", f.annotation, strings.Join(errs, "; "))
		case f.timeout < 0:
			return errors.New("--timeout must not be negative")
		}
		k, err := c.clients()
		if err != nil {
			return err
		}
		refs, whole, err := c.selected(cmd.Context(), k, args, f)
		if err != nil {
			return err
		}
		seen := map[checks.Ref]bool{}
		refs = slices.DeleteFunc(refs, func(ref checks.Ref) bool {
			again := seen[ref]
			seen[ref] = true
			return again
		})
		if err := c.retryAll(cmd.Context(), k, refs, f); err != nil || whole {
			return err
		}
		return errors.New("other objects may have to be retried, too: see the notes")
	}
	return cmd
}

// selected returns the objects to retry. It may name one twice. whole reports whether
// all objects could be read.
func (c *command) selected(ctx context.Context, k clients, args []string, f retryFlags) (refs []checks.Ref, whole bool, err error) {
	if len(args) > 0 {
		refs, err = k.objects(args)
		return refs, true, err
	}
	var target checks.Ref
	var mention *regexp.Regexp
	if f.waitingFor != "" {
		targets, err := k.objects([]string{f.waitingFor})
		if err != nil {
			return nil, false, err
		}
		target = targets[0]
		mention = regexp.MustCompile(`(^|[^A-Za-z0-9.-])` + regexp.QuoteMeta(target.String()) + `($|[^a-z0-9.-]|[.]($|\s))`)
	}
	namespace := k.namespace
	if f.everywhere {
		namespace = metav1.NamespaceAll
	}
	// A document has only some of the waiters, so the conditions of all objects
	// are read, too.
	objects, whole, err := c.listed(ctx, k, namespace)
	if err != nil {
		return nil, false, err
	}
	all, asksAll, err := c.endpoints(ctx, k)
	if err != nil {
		return nil, false, err
	}
	replies, alive := c.ask(ctx, all, checks.Ref{})
	for _, r := range replies {
		for _, o := range r.doc.Objects {
			if o.Reconciler != "" && (namespace == metav1.NamespaceAll || o.Ref.Namespace == namespace) {
				objects = append(objects, o)
			}
		}
	}
	for _, o := range objects {
		waits := f.waitingFor != "" && (slices.Contains(o.WaitingFor, target) || mention.MatchString(o.Message))
		ref := id(o.Ref)
		if ref.Name == "" || o.State == why.Ready || ref == target || !waits && (f.reason == "" || o.Reason != f.reason) {
			continue
		}
		if err := k.retryable(ctx, ref, f.reason); err != nil {
			c.note("%s is left out: %v", ref, err)
			continue
		}
		refs = append(refs, ref)
	}
	return refs, whole && asksAll && len(alive) == len(all), nil
}

// retryable returns an error if the Ready condition of the object itself does not
// show that it is not ready, and for this reason; empty: any. A document may name
// any object, because any service may serve one.
func (k clients) retryable(ctx context.Context, ref checks.Ref, reason string) error {
	m, err := k.mapper.RESTMapping(schema.GroupKind{Group: ref.Group, Kind: ref.Kind})
	if err != nil {
		return err
	}
	u, err := k.resource(m, ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	switch o := objectOf(u); {
	case condition(u, "Ready") == nil:
		return errors.New("it has no Ready condition")
	case o.State == why.Ready:
		return errors.New("it is ready")
	case reason != "" && o.Reason != reason:
		return fmt.Errorf("the reason of its Ready condition is %q", o.Reason)
	}
	return nil
}

// retryAll retries the objects and waits until the retries are handled.
func (c *command) retryAll(ctx context.Context, k clients, refs []checks.Ref, f retryFlags) error {
	if len(refs) == 0 {
		return write(c.Out, "No object to retry.\n")
	}
	if f.dryRun {
		for _, ref := range refs {
			fmt.Fprintf(c.Out, "%s would be retried (dry run)\n", ref)
		}
		return nil
	}
	if len(refs) > maxUnasked && !f.yes && !c.confirmed(len(refs)) {
		return fmt.Errorf("not confirmed: answer y, or give --yes to retry %d objects", len(refs))
	}
	request := c.now().UTC().Format(time.RFC3339Nano)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{f.annotation: request}}})
	if err != nil {
		return err
	}
	pending := map[group]map[string]checks.Ref{}
	failed := 0
	for _, ref := range refs {
		m, err := k.mapper.RESTMapping(schema.GroupKind{Group: ref.Group, Kind: ref.Kind})
		if err == nil {
			_, err = k.resource(m, ref.Namespace).Patch(ctx, ref.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-windlass"})
		}
		if err != nil {
			failed++
			c.note("%s was not retried: %v", ref, err)
			continue
		}
		g := group{m.Resource, ref.Namespace}
		if pending[g] == nil {
			pending[g] = map[string]checks.Ref{}
		}
		pending[g][ref.Name] = ref
	}
	unhandled, unknown := 0, 0
	if f.timeout > 0 {
		unhandled, unknown = c.await(ctx, k, pending, request, f.timeout)
	} else {
		fmt.Fprintf(c.Out, "%d retries were requested\n", len(refs)-failed)
	}
	switch {
	case failed > 0:
		return fmt.Errorf("%d of %d objects were not retried", failed, len(refs))
	case unknown > 0:
		return fmt.Errorf("it is not known whether %d of %d retries were handled", unknown, len(refs))
	case unhandled > 0:
		return errWaits
	}
	return nil
}

// confirmed asks the user whether n objects shall be retried.
func (c *command) confirmed(n int) bool {
	fmt.Fprintf(c.ErrOut, "Retry %d objects? [y/N] ", n)
	answer, _ := bufio.NewReader(c.In).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// group is a kind of objects in a namespace.
type group struct {
	resource  schema.GroupVersionResource
	namespace string
}

// await prints each pending object that is gone or whose operator has handled request, and then
// those that no operator handled before the time-out. It returns the number of
// these, and of those that the user may not list. The keys of the inner map are names.
func (c *command) await(ctx context.Context, k clients, pending map[group]map[string]checks.Ref, request string, timeout time.Duration) (unhandled, unknown int) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var wait sync.WaitGroup
	var mu sync.Mutex // guards the output
	for g, names := range pending {
		wait.Go(func() {
			err := g.await(ctx, k, names, request, func(ref checks.Ref, state why.State) {
				mu.Lock()
				defer mu.Unlock()
				fmt.Fprintf(c.Out, "%s was retried and is %s\n", ref, state)
			})
			mu.Lock()
			defer mu.Unlock()
			for name, ref := range names {
				if err != nil {
					c.note("a retry of %s was requested; it is not known whether it was handled: %v", ref, err)
					unknown++
					delete(names, name)
				}
			}
		})
	}
	wait.Wait()
	var left []string
	for _, names := range pending {
		for _, ref := range names {
			left = append(left, ref.String())
		}
	}
	slices.Sort(left)
	for _, name := range left {
		fmt.Fprintf(c.Out, "%s: the retry was not handled within %s\n", name, timeout)
	}
	if len(left) > 0 {
		c.note("an operator that does not run, or does not reconcile a kind, handles no retry; finished objects are not retried")
	}
	return len(left), unknown
}

// gone is the state of an object that does not exist any more: the retry was the last
// one of its deletion, and no status can show it.
const gone why.State = "gone"

// await watches the objects of g and removes from names those that are gone, or whose operator
// has handled request, until none is left or ctx is done. It returns an error if the user
// may not list the objects: client-go would try again without a word.
func (g group) await(ctx context.Context, k clients, names map[string]checks.Ref, request string, report func(checks.Ref, why.State)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	client := k.dynamic.Resource(g.resource).Namespace(g.namespace)
	selector := ""
	for name := range names {
		if len(names) == 1 {
			selector = fields.OneTermEqualSelector("metadata.name", name).String()
		}
	}
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = selector
			list, err := client.List(ctx, o)
			if apierrors.IsForbidden(err) {
				cancel(err)
			}
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = selector
			return client.Watch(ctx, o)
		},
	}
	ended := func(name string, state why.State) {
		if ref, waits := names[name]; waits {
			delete(names, name)
			report(ref, state)
		}
	}
	_, _ = toolswatch.UntilWithSync(ctx, lw, &unstructured.Unstructured{}, func(store cache.Store) (bool, error) {
		for name := range names { // an object may go before the first list
			if _, exists, _ := store.GetByKey(cache.NewObjectName(g.namespace, name).String()); !exists {
				ended(name, gone)
			}
		}
		return len(names) == 0, nil
	}, func(e watch.Event) (bool, error) {
		switch u, ok := e.Object.(*unstructured.Unstructured); {
		case !ok:
		case e.Type == watch.Deleted:
			ended(u.GetName(), gone)
		case handled(u, request):
			ended(u.GetName(), objectOf(u).State)
		}
		return len(names) == 0, nil
	})
	if err := context.Cause(ctx); apierrors.IsForbidden(err) {
		return err
	}
	return nil
}

// handled reports whether the status of u shows that its operator has handled
// request. Requests by several annotations are joined by a comma.
func handled(u *unstructured.Unstructured, request string) bool {
	value, _, _ := unstructured.NestedString(u.Object, "status", retryField)
	message, _ := condition(u, recordCondition)["message"].(string)
	_, field, _ := strings.Cut(message, "; handled=") // an object without a record has handled nothing
	field, _, _ = strings.Cut(field, ";")
	stored, err := url.PathUnescape(field)
	return slices.Contains(strings.Split(value, ","), request) || err == nil && slices.Contains(strings.Split(stored, ","), request)
}
