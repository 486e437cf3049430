package grpc

import "github.com/windlass-go/windlass/classify"

// Codes returns the table of [Errors]. It is a copy, which you may change and
// add to a chain, as Codes().Link().
//
// Only InvalidArgument is [classify.OnChange]: by its definition the request is
// wrong, whatever the state of the system.
func Codes() classify.Table {
	t := make(classify.Table, 0, 32)
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
	// the code, so they come first.
	inner(classify.Slow,
		"RATE_LIMIT_EXCEEDED",
		"SERVICE_DISABLED", // an administrator can enable it
		"ACCESS_TOKEN_EXPIRED", "IAM_PERMISSION_DENIED", "CREDENTIALS_MISSING")
	inner(classify.VerySlow,
		"RESOURCE_QUOTA_EXCEEDED", "BILLING_DISABLED", "CONSUMER_INVALID", "CONSUMER_SUSPENDED",
		"LOCATION_POLICY_VIOLATED", "SECURITY_POLICY_VIOLATED", "USER_PROJECT_DENIED")

	// Source: the status codes of gRPC,
	// https://grpc.github.io/grpc/core/md_doc_statuscodes.html, by their names
	// in Go (google.golang.org/grpc/codes). Canceled has no row: the general rules
	// know whether the pass was canceled.
	add(classify.Slow,
		"Aborted", "DataLoss", "DeadlineExceeded",
		"FailedPrecondition", // the state of the system may change
		"Internal",
		"NotFound", // the missing object may be created later
		"PermissionDenied", "ResourceExhausted", "Unauthenticated", "Unavailable", "Unknown")
	add(classify.VerySlow,
		"AlreadyExists",
		"OutOfRange", // the value may be in range later, by the definition of the code
		"Unimplemented")
	add(classify.OnChange, "InvalidArgument")
	return t
}
