package plugin

import (
	"bytes"
	"cmp"
	"context"
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

The exit code is 0 if nothing waits, 1 if an object waits, and 2 after an error. It is
also 2 if no wait was found and a manager does not answer, was not asked or has just
started, or if no manager is known: an object that never reported a condition may wait.`,
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
			return c.watchBlocked(cmd.Context(), look, *format, *interval, isTerminal)
		}
		l, err := look(cmd.Context())
		if err != nil {
			return err
		}
		if len(l.doc.Causes) == 0 && !l.whole {
			return errors.New("no wait was found, but some may be unknown: see the notes")
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

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && printers.IsTerminal(f)
}

// watchBlocked prints the list when it changes, until ctx is done. A list on a terminal
// erases the notes there, so they follow each list.
func (c *command) watchBlocked(ctx context.Context, look func(context.Context) (list, error), format string, interval time.Duration, terminal func(io.Writer) bool) error {
	screen, last, between, errOut := terminal(c.Out), "", "", c.ErrOut
	for {
		start := time.Now()
		var notes bytes.Buffer
		if screen && terminal(errOut) {
			clear(c.noted)
			c.ErrOut = &notes
		}
		l, err := look(ctx)
		c.ErrOut = errOut
		if ctx.Err() != nil {
			return nil // the user ended the watch
		}
		if err != nil {
			return errors.Join(err, write(errOut, notes.String()))
		}
		text, err := l.show(format)
		if err != nil {
			return err
		}
		key := text + notes.String()
		if screen {
			between = "\x1b[H\x1b[2J" // clears the screen
		} else { // neither ages nor another sample of the waiters repeat the list in a file
			causes := slices.Clone(l.doc.Causes)
			for i := range causes {
				causes[i].Sample = nil
			}
			key = fmt.Sprint(causes, l.whole)
		}
		if key != last {
			if err := errors.Join(write(c.Out, between+text), write(errOut, notes.String())); err != nil {
				return err
			}
		}
		last, between = key, "\n"
		// A look takes at most a tenth of the time of the API server and the manager.
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(min(max(interval, 10*time.Since(start)), maxInterval)):
		}
	}
}

// list is the list of root causes. whole reports whether all of them are known.
type list struct {
	doc   why.Document
	whole bool
}

// show returns the list as text.
func (l list) show(format string) (string, error) {
	d := l.doc
	switch {
	case format == "json":
		return jsonOf(d)
	case len(d.Causes) == 0 && l.whole:
		return "Nothing waits.\n", nil
	case len(d.Causes) == 0:
		return "No wait was found, but some may be unknown.\n", nil
	}
	var b bytes.Buffer
	w := printers.GetNewTabWriter(&b)
	row := func(cells ...string) {
		if format != "wide" {
			cells = cells[:5]
		}
		_, _ = io.WriteString(w, strings.Join(cells, "\t")+"\n")
	}
	row("AGE", "WAITERS", "STATE", "ROOT CAUSE", "REASON", "MESSAGE", "ADVICE", "SOME WAITERS")
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
		row(age, strconv.Itoa(c.Waiters), state, names(objects, " -> "), cmp.Or(c.Reason, "-"), cmp.Or(c.Message, "-"), c.Advice(), cmp.Or(names(c.Sample, ", "), "-"))
	}
	_ = w.Flush() // a buffer accepts each write
	if d.OmittedCauses > 0 {
		fmt.Fprintf(&b, "and %d more\n", d.OmittedCauses)
	}
	if !l.whole {
		b.WriteString("The list may lack some: see the notes.\n")
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
