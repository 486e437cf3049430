package plugin

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
)

func (c *command) why() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "why (KIND/NAME | KIND NAME)",
		Short: "Say why an object is not ready, down to the root cause",
		Long: `Say why an object is not ready. The tree shows the objects that it waits for,
directly or not, down to the root cause.

The exit code is 0 if the object is ready, 1 if it waits, and 2 after an error.`,
		Example: `  kubectl windlass why database/orders -n apps
  kubectl windlass why Database.example.com orders -o json`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: c.completeObject,
	}
	format := output(cmd, "", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		k, err := c.clients()
		if err != nil {
			return err
		}
		refs, err := k.objects(args)
		if err != nil {
			return err
		}
		if len(refs) != 1 {
			return fmt.Errorf("name one object, not %d", len(refs))
		}
		d, err := c.about(cmd.Context(), k, refs[0])
		if err != nil {
			return err
		}
		return c.showWhy(d, refs[0], *format)
	}
	return cmd
}

// showWhy prints the document about an object.
func (c *command) showWhy(d why.Document, ref checks.Ref, format string) error {
	o := d.Objects[0]
	cause, waits := d.Graph().Cause(ref)
	if len(d.Objects) == 1 && o.State == why.Missing && d.Causes[0].Waiters == 0 {
		return fmt.Errorf("%s was not found", ref)
	}
	text := ""
	if format == "json" {
		var err error
		if text, err = jsonOf(d); err != nil {
			return err
		}
	} else {
		text = d.Graph().Tree(ref, d.At)
		if waits {
			for i := range d.Causes { // they have the numbers of waiters
				if id(d.Causes[i].Objects[0]) == id(cause.Objects[0]) {
					cause = d.Causes[i]
				}
			}
			text += "\nRoot cause: " + cause.String() + "\n"
		}
		if next := o.NextPass(d.At); next != "" {
			text += fmt.Sprintf("Next pass of %s: %s\n", ref, next)
		}
	}
	if err := write(c.Out, text); err != nil {
		return err
	}
	if o.State != why.Ready {
		return errWaits
	}
	return nil
}

// jsonOf returns the JSON of a document for people.
func jsonOf(d why.Document) (string, error) {
	text, err := json.MarshalIndent(d, "", "  ")
	return string(text) + "\n", err
}
