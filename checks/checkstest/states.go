package checkstest

import (
	"strings"

	"pgregory.net/rapid"
)

// provisioningStates are the provisioning states of Azure resources, the most
// frequent first, because rapid prefers the first ones.
var provisioningStates = []string{
	"Succeeded", "Failed", "Canceled", "Creating", "Updating", "Deleting",
	"Accepted", "Running", "Stopped", "Stopping", "Starting", "Upgrading", "Scaling", "Deallocating", "Deallocated",
	"Provisioning", "Unprovisioning", "Ready", "Created", "Deleted", "Moving", "Migrating", "Restarting", "Dropping", "Disabled",
	"Unavailable", "Resuming", "Pausing", "Paused", "Linking", "Unlinking", "RecoveringScaleFailure", "Assigned", "NotSpecified",
	"InProgress", "Pending", "Registering", "ReconcilingClusterCertificates", "RotatingClusterCertificates", "Waiting",
}

// oddStates are not states of Azure.
var oddStates = []string{
	"", " ", "\n", "Cancelled", "Success", "Suceeded", "SucceededWithErrors", "NotSucceeded", "Succeeded,Failed", "Unknown", "None",
	"nil", "0", "?", "\"", "成功", "\xff",
}

// ProvisioningStates draws values of a state field of Azure: nil, every state
// of Azure, in any case and with surrounding white space, other words, and
// blanks.
func ProvisioningStates[S ~string]() *rapid.Generator[*S] {
	return rapid.Custom(func(t *rapid.T) *S {
		switch rapid.IntRange(0, 9).Draw(t, "kind of state") {
		case 8:
			return nil
		case 9:
			state := S(rapid.SampledFrom(oddStates).Draw(t, "odd state"))
			return &state
		}
		state := S(rapid.SampledFrom(spellings).Draw(t, "spelling")(rapid.SampledFrom(provisioningStates).Draw(t, "state")))
		return &state
	})
}

// spellings are ways to write the same word.
var spellings = []func(string) string{
	func(s string) string { return s },
	strings.ToLower,
	strings.ToUpper,
	func(s string) string { return strings.ToLower(s[:1]) + s[1:] },
	func(s string) string { return " " + s },
	func(s string) string { return s + "\r\n" },
	func(s string) string { return "\t" + strings.ToLower(s) + " " },
}
