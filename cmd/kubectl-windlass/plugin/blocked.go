package plugin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
)

// The bounds of the time between two looks of --watch.
const (
	minInterval = time.Second
	maxInterval = 10 * time.Minute
)

func (c *command) blocked() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "blocked",
		Short: "List the root causes of all waits, the oldest first",
		Long: `List the root causes of all waits, the oldest first. A root cause is an object that
waits for no other one, or a cycle. WAITERS is the number of objects of the namespace
that wait for it, directly or not; with -A, of all namespaces. The root cause itself
may be in another namespace.

The exit code is 0 if nothing waits, 1 if an object waits, and 2 after an error.`,
		Example: `  kubectl windlass blocked -A
  kubectl windlass blocked -n apps -o wide
  kubectl windlass blocked -A --watch`,
		Args: cobra.NoArgs,
	}
	format := output(cmd, "", "json", "wide")
	everywhere := cmd.Flags().BoolP("all-namespaces", "A", false, "list the root causes of all namespaces")
	watch := cmd.Flags().BoolP("watch", "w", false, "print the list again when it changes")
	interval := cmd.Flags().Duration("interval", 5*time.Second, "time between two looks of --watch, from 1s to 10m; it grows if a look takes long")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *interval < minInterval || *interval > maxInterval {
			return fmt.Errorf("--interval must be between %s and %s", minInterval, maxInterval)
		}
		k, err := c.clients()
		if err != nil {
			return err
		}
		namespace := k.namespace
		if *everywhere {
			namespace = metav1.NamespaceAll
		}
		look := func(ctx context.Context) (list, error) {
			d, whole, err := c.overview(ctx, k, namespace)
			return list{d, whole}, err
		}
		if *watch {
			return c.watchBlocked(cmd.Context(), look, *format, *interval)
		}
		l, err := look(cmd.Context())
		if err != nil {
			return err
		}
		if len(l.doc.Causes) == 0 && !l.whole {
			return errors.New("no wait was found, but not everything could be read: see the notes, or use -A")
		}
		text, err := l.show(*format)
		if err == nil {
			err = write(c.Out, text)
		}
		if err == nil && len(l.doc.Causes) > 0 {
			err = errWaits
		}
		return err
	}
	return cmd
}

// watchBlocked prints the list when it changes, until ctx is done.
func (c *command) watchBlocked(ctx context.Context, look func(context.Context) (list, error), format string, interval time.Duration) error {
	clear := ""
	if f, ok := c.Out.(*os.File); ok && printers.IsTerminal(f) {
		clear = "\x1b[H\x1b[2J"
	}
	last, first := "", true
	for {
		start := time.Now()
		l, err := look(ctx)
		if ctx.Err() != nil {
			return nil // the user ended the watch
		}
		if err != nil {
			return err
		}
		text, err := l.show(format)
		if err != nil {
			return err
		}
		key := text
		if clear == "" { // ages alone do not repeat the list in a file
			data, err := json.Marshal([]any{l.doc.Causes, l.whole})
			if err != nil {
				return err
			}
			key = string(data)
		}
		if first || key != last {
			if !first && clear == "" {
				text = "\n" + text
			}
			if err := write(c.Out, clear+text); err != nil {
				return err
			}
		}
		last, first = key, false
		// A look takes at most a tenth of the time of the API server and the manager.
		timer := time.NewTimer(min(max(interval, 10*time.Since(start)), maxInterval))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}

// list is the list of root causes. whole reports whether it has all of them.
type list struct {
	doc   why.Document
	whole bool
}

// show returns the list as text.
func (l list) show(format string) (string, error) {
	d := l.doc
	var b bytes.Buffer
	if format == "json" {
		return jsonOf(d)
	}
	if len(d.Causes) == 0 {
		if !l.whole {
			return "No wait was found, but not everything could be read.\n", nil
		}
		return "Nothing waits.\n", nil
	}
	w := printers.GetNewTabWriter(&b)
	row := func(cells ...string) { _, _ = io.WriteString(w, strings.Join(cells, "\t")+"\n") }
	head := []string{"AGE", "WAITERS", "STATE", "ROOT CAUSE", "REASON"}
	if format == "wide" {
		head = append(head, "MESSAGE", "ADVICE", "SOME WAITERS")
	}
	row(head...)
	for i := range d.Causes {
		c := &d.Causes[i]
		age := "unknown"
		if !c.Since.IsZero() {
			age = duration.HumanDuration(max(0, d.At.Sub(c.Since)))
		}
		state, objects := string(c.State), c.Objects
		if c.Cycle() {
			state, objects = "cycle", append(slices.Clone(objects), objects[0])
		}
		cells := []string{age, strconv.Itoa(c.Waiters), state, names(objects, " -> "), cmp.Or(c.Reason, "-")}
		if format == "wide" {
			cells = append(cells, cmp.Or(c.Message, "-"), c.Advice(), cmp.Or(names(c.Sample, ", "), "-"))
		}
		row(cells...)
	}
	if err := w.Flush(); err != nil {
		return "", errors.Join(errors.New("the table was not written"), err)
	}
	if d.OmittedCauses > 0 {
		fmt.Fprintf(&b, "and %d more\n", d.OmittedCauses)
	}
	return b.String(), nil
}

// maxNames is the number of objects in a cell of the table.
const maxNames = 10

// names joins the names of objects.
func names(refs []checks.Ref, sep string) string {
	var all []string
	for _, ref := range refs[:min(len(refs), maxNames)] {
		all = append(all, ref.String())
	}
	if more := len(refs) - len(all); more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, sep)
}
