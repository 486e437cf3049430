package ctrlx_test

import (
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
)

// Reasons and other names that people and programs search for stay the same.
func TestNames(t *testing.T) {
	cases := map[string]struct{ got, want string }{
		"Retrying":        {ctrlx.ReasonRetrying, apierr.Retrying},
		"Timeout":         {ctrlx.ReasonTimeout, "Timeout"},
		"Suspended":       {ctrlx.ReasonSuspended, "Suspended"},
		"Terminal":        {ctrlx.ReasonTerminal, apierr.Terminal},
		"StatusInvalid":   {ctrlx.ReasonStatusInvalid, "StatusInvalid"},
		"Processing":      {ctrlx.ReasonProcessing, record.Processing},
		"PassTimeout":     {ctrlx.ReasonPassTimeout, apierr.PassTimeout},
		"HookFailed":      {ctrlx.ReasonHookFailed, apierr.HookFailed},
		"NotPaused":       {ctrlx.ReasonNotPaused, "NotPaused"}, // as in Cluster API
		"ConditionPaused": {ctrlx.ConditionPaused, "Paused"},    // as in Cluster API
		"Handled":         {ctrlx.ReasonRetryHandled, record.Handled},
		"Settled":         {ctrlx.ReasonSettled, record.Settled},
		"UnderWay":        {ctrlx.ReasonOperationUnderWay, record.UnderWay},
	}
	for name, tc := range cases {
		if tc.got != tc.want {
			t.Errorf("%s: %q should be %q", name, tc.got, tc.want)
		}
		if checks.Block(tc.got, "").Reason() != tc.got {
			t.Errorf("%s: %q is no valid reason", name, tc.got)
		}
	}
}
