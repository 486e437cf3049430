package plugin

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
)

func (c *command) flow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "flow KIND",
		Short: "Print the flow of a reconciler: its extension points and their links",
		Long: `Print the flow of the reconciler of a kind, as its manager has it: each extension
point with its links. KIND may also be the name of the reconciler.`,
		Example: `  kubectl windlass flow database
  kubectl windlass flow database -o mermaid > database.mmd`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.completeKind,
	}
	format := output(cmd, "", "mermaid")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		k, err := c.clients()
		if err != nil {
			return err
		}
		all, _, err := c.endpoints(cmd.Context(), k)
		if err != nil {
			return err
		}
		replies, _ := c.ask(cmd.Context(), all, checks.Ref{})
		if len(replies) == 0 {
			return errors.New("no manager answered, and only a manager knows its flows")
		}
		names := []string{args[0]}
		if m, err := k.mapping(args[0]); err == nil {
			gk, gr := m.GroupVersionKind.GroupKind(), m.Resource.GroupResource()
			names = append(names, gk.Kind, gk.String(), gr.Resource, gr.String())
			for _, r := range replies {
				for _, o := range r.doc.Objects {
					if o.Ref.Kind == gk.Kind && o.Ref.Group == gk.Group && o.Reconciler != "" {
						names = append(names, o.Reconciler)
					}
				}
			}
		}
		return c.showFlows(flows(replies), names, *format)
	}
	return cmd
}

// showFlows prints the flows that have one of the names.
func (c *command) showFlows(all []why.Flow, names []string, format string) error {
	var known []string
	found := false
	for _, f := range all {
		known = append(known, f.Name)
		if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, f.Name) }) {
			continue
		}
		text := f.Text
		if format == "mermaid" {
			text = f.Mermaid
		}
		if err := write(c.Out, strings.TrimRight(text, "\n")+"\n"); err != nil {
			return err
		}
		found = true
	}
	if !found {
		return fmt.Errorf("no manager that answered has a flow for %q; it has flows for: %s", names[0], strings.Join(known, ", "))
	}
	return nil
}
