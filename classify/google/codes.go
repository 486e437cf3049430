package google

import "github.com/windlass-go/windlass/classify"

// Codes returns the table of [Errors]. It is a copy, which you may change and
// add to a chain, as Codes().Link().
//
// A row is [classify.OnChange] only if its code means that the request itself
// is wrong, whatever the state of the cloud. INVALID_ARGUMENT means that by its
// definition. The older "invalid" does not: services also use it for a new
// network, or for a machine type that a zone does not have at present.
func Codes() classify.Table {
	t := make(classify.Table, 0, 60)
	add := func(r classify.Retry, codes ...string) {
		for _, code := range codes {
			t = append(t, classify.Rule{Code: code, Retry: r})
		}
	}
	inner := func(r classify.Retry, reasons ...string) {
		for _, reason := range reasons {
			t = append(t, classify.Rule{InnerCode: reason, Retry: r})
		}
	}
	// Source: the reasons of an ErrorInfo with the domain googleapis.com, in
	// google/api/error_reason.proto of googleapis. They are more specific than
	// the status, so they come first.
	inner(classify.Slow,
		"RATE_LIMIT_EXCEEDED",
		"SERVICE_DISABLED", // an administrator can enable it
		"ACCESS_TOKEN_EXPIRED", "IAM_PERMISSION_DENIED", "CREDENTIALS_MISSING")
	inner(classify.VerySlow,
		"RESOURCE_QUOTA_EXCEEDED", "BILLING_DISABLED", "CONSUMER_INVALID", "CONSUMER_SUSPENDED",
		"LOCATION_POLICY_VIOLATED", "SECURITY_POLICY_VIOLATED", "USER_PROJECT_DENIED")

	// Source: google.rpc.Code, google/rpc/code.proto of googleapis.
	add(classify.Slow,
		"ABORTED", "CANCELLED", "DATA_LOSS", "DEADLINE_EXCEEDED",
		"FAILED_PRECONDITION", // the state of the system may change
		"INTERNAL",
		"NOT_FOUND", // the missing object may be created later
		"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "UNAUTHENTICATED", "UNAVAILABLE", "UNKNOWN")
	add(classify.VerySlow,
		"ALREADY_EXISTS",
		"OUT_OF_RANGE", // the value may be in range later, by the definition of the code
		"UNIMPLEMENTED")
	add(classify.OnChange, "INVALID_ARGUMENT")

	// Source: the reasons of the older services: the error messages of the
	// Storage JSON API,
	// https://cloud.google.com/storage/docs/json_api/v1/status-codes, and those
	// of Compute Engine,
	// https://cloud.google.com/compute/docs/troubleshooting/troubleshooting-bulk-vm-creation
	// and
	// https://cloud.google.com/compute/docs/troubleshooting/troubleshooting-resource-availability.
	add(classify.Slow,
		"accessNotConfigured", "authError", "backendError", "concurrentLimitExceeded",
		"conditionNotMet",                                             // a new GET helps
		"conflict", "dependentResourceNotFound", "failedPrecondition", // also of GKE, while another operation changes the cluster
		"forbidden", "insufficientCapacity", "internalError", "notFound",
		"rateLimitExceeded", "resourceInUseByAnotherResource", "resourceNotFound", "resourceNotReady",
		"resourcesNotReady", "stockout", "userRateLimitExceeded")
	add(classify.VerySlow,
		"accountDisabled", "alreadyExists", "badRequest", "dailyLimitExceeded", "invalid", "quotaExceeded")
	add(classify.OnChange, "invalidParameter", "parseError", "required")
	return t
}
