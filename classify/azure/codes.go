package azure

import "github.com/windlass-go/windlass/classify"

// Codes returns the table of [Errors]: the error codes of Azure Resource
// Manager, exactly as it writes them. It is a copy, which you may change and
// add to a chain, as Codes().Link().
//
// A row is [classify.OnChange] only if its code means that the request itself
// is wrong, whatever the state of the cloud.
//
// Source: the classifier of Azure Service Operator after its pull request 5092
// (January 2026). It makes the first group retryable, the second retryable and
// very slow, the third fatal.
func Codes() classify.Table {
	t := make(classify.Table, 0, 50)
	add := func(r classify.Retry, codes ...string) {
		for _, code := range codes {
			t = append(t, classify.Rule{Code: code, Retry: r})
		}
	}
	add(classify.Slow,
		"AllocationFailed", "AnotherOperationInProgress", "AuthorizationFailed", "Conflict", "FailedIdentityOperation",
		"InvalidResourceReference", "InvalidSubscriptionRegistrationState", "LinkedAuthorizationFailed",
		"MissingRegistrationForLocation", "MissingSubscriptionRegistration", "NoRegisteredProviderFound", "NotFound",
		"ParentResourceNotFound", "PrincipalNotFound", "RequestDisallowedByPolicy", "ResourceGroupNotFound",
		"ResourceNotFound", "ResourceQuotaExceeded", "SubscriptionNotRegistered")
	add(classify.VerySlow,
		"BadRequest", "BadRequestFormat", "InvalidParameter", "InvalidParameterValue", "InvalidResourceGroupLocation",
		"MethodNotAllowed", "RegionIsOfferRestricted", "ReservedResourceName", "ScopeLocked", "SkuNotAvailable",
		"SubscriptionNotFound")
	add(classify.OnChange,
		"InvalidGatewaySize", "InvalidGatewaySkuProvidedForGatewayVpnType", "InvalidRequestContent",
		"InvalidResourceType", "InvalidTemplate", "InvalidValuesForRequestParameters", "K8sVersionNotSupported",
		"LocationRequired", "MissingRequiredParameter", "PasswordTooLong", "PrivateIPAddressInReservedRange",
		"PrivateIPAddressNotInSubnet", "PropertyChangeNotAllowed", "PublicIpForGatewayIsRequired")
	return t
}
