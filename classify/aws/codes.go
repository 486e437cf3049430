package aws

import "github.com/windlass-go/windlass/classify"

// throttling holds the codes that the SDK itself retries:
// DefaultThrottleErrorCodes and DefaultRetryableErrorCodes in
// aws/retry/standard.go of aws-sdk-go-v2.
var throttling = []string{
	"BandwidthLimitExceeded", "EC2ThrottledException",
	"LimitExceededException", // some services mean a quota
	"PriorRequestNotComplete", "ProvisionedThroughputExceededException", "RequestLimitExceeded",
	"RequestThrottled", "RequestThrottledException", "RequestTimeout", "RequestTimeoutException", "SlowDown",
	"ThrottledException", "Throttling", "ThrottlingException", "TooManyRequestsException",
	"TransactionInProgressException",
}

// Codes returns the table of [Errors]. It is a copy, which you may change and
// add to a chain, as Codes().Link().
//
// A row is [classify.OnChange] only if its code means that the request itself
// is wrong, whatever the state of the cloud. InvalidParameterValue and
// MalformedPolicyDocument do not mean that: services also return them for a new
// role that is not known everywhere yet.
func Codes() classify.Table {
	t := make(classify.Table, 0, 80)
	add := func(r classify.Retry, codes ...string) {
		for _, code := range codes {
			t = append(t, classify.Rule{Code: code, Retry: r})
		}
	}
	// Source: aws/retry/standard.go of aws-sdk-go-v2.
	add(classify.Slow, throttling...)

	// Source: the errors that are common to all services,
	// https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html.
	// Rights and credentials change without a change of the object.
	add(classify.Slow,
		"AccessDeniedException", "ExpiredTokenException", "IncompleteSignature", "InternalFailure",
		"InvalidClientTokenId", "NotAuthorized", "OptInRequired", "RequestExpired", "ServiceUnavailable",
		"UnrecognizedClientException")
	add(classify.VerySlow,
		"InvalidParameterCombination", // RDS also returns it for a wrong version or state
		"ValidationError",             // CloudFormation also returns it for a missing stack
		"ValidationException")
	add(classify.OnChange, "InvalidAction", "MissingAction", "MissingParameter")

	// Source: the error codes of EC2,
	// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html.
	add(classify.Slow,
		"AuthFailure", "DependencyViolation", "IncorrectInstanceState", "IncorrectState", "InsufficientCapacity",
		"InsufficientInstanceCapacity", "InternalError", "InvalidParameterValue", "ResourceCountExceeded",
		"Unavailable", "UnauthorizedOperation")
	add(classify.VerySlow,
		"AddressLimitExceeded", "Blocked", "InstanceLimitExceeded", "InvalidParameter", "PendingVerification",
		"UnsupportedOperation", "VcpuLimitExceeded", "VpcLimitExceeded")
	add(classify.OnChange, "UnknownParameter")

	// Source: the error responses of S3,
	// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html.
	add(classify.Slow, "AccessDenied", "BucketNotEmpty", "ExpiredToken", "OperationAborted", "TokenRefreshRequired")
	add(classify.VerySlow, "BucketAlreadyExists", "TooManyBuckets")
	add(classify.OnChange, "IllegalLocationConstraintException", "InvalidBucketName", "MalformedXML")

	// Source: the errors of the actions of IAM,
	// https://docs.aws.amazon.com/IAM/latest/APIReference/API_Operations.html.
	add(classify.Slow,
		"ConcurrentModification", "DeleteConflict", "EntityTemporarilyUnmodifiable", "MalformedPolicyDocument")
	add(classify.VerySlow, "EntityAlreadyExists", "LimitExceeded")

	// Source: the errors of the actions of STS, RDS and ElastiCache in their API references. The states change by
	// themselves.
	add(classify.Slow, "IDPCommunicationError", "InvalidCacheClusterState", "InvalidDBInstanceState")

	// Source: exceptions that many services share, as in the API references of
	// EKS, ECS, Lambda and DynamoDB.
	add(classify.Slow,
		"ConcurrentModificationException", "ConflictException", "InvalidStateException", "ResourceConflictException",
		"ResourceInUseException", "ResourceNotFoundException", "ResourceNotReadyException", "ServerException",
		"ServiceException", "ServiceUnavailableException")
	add(classify.VerySlow,
		"InvalidParameterException", "InvalidParameterValueException", "ServiceQuotaExceededException")
	return t
}
