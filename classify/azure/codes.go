package azure

import "github.com/windlass-go/windlass/classify"

// Codes is the table of [Errors]: the error codes of Azure Resource Manager,
// exactly as it writes them. It is a copy: change it as you like and put it
// into a chain, as Codes().Link().
//
// A row is [classify.OnChange] only if its code says that the request itself is
// wrong, whatever the state of the cloud.
//
// Source: the classifier of Azure Service Operator after its change 5092
// (January 2026), which sets the codes of the first group as retryable, those
// of the second as retryable and very slow, those of the third as fatal.
func Codes() classify.Table {
	t := make(classify.Table, 0, 50)
	add := func(r classify.Retry, codes ...string) {
		for _, code := range codes {
			t = append(t, classify.Rule{Code: code, Retry: r})
		}
	}
	add(classify.Slow,
		"AllocationFailed",
		"AnotherOperationInProgress",
		"AuthorizationFailed",
		"Conflict",
		"FailedIdentityOperation",
		"InvalidResourceReference",
		"InvalidSubscriptionRegistrationState",
		"LinkedAuthorizationFailed",
		"MissingRegistrationForLocation",
		"MissingSubscriptionRegistration",
		"NoRegisteredProviderFound",
		"NotFound",
		"ParentResourceNotFound",
		"PrincipalNotFound",
		"RequestDisallowedByPolicy",
		"ResourceGroupNotFound",
		"ResourceNotFound",
		"ResourceQuotaExceeded",
		"SubscriptionNotRegistered",
	)
	add(classify.VerySlow,
		"BadRequest",
		"BadRequestFormat",
		"InvalidParameter",
		"InvalidParameterValue",
		"InvalidResourceGroupLocation",
		"MethodNotAllowed",
		"RegionIsOfferRestricted",
		"ReservedResourceName",
		"ScopeLocked",
		"SkuNotAvailable",
		"SubscriptionNotFound",
	)
	add(classify.OnChange,
		"InvalidGatewaySize",
		"InvalidGatewaySkuProvidedForGatewayVpnType",
		"InvalidRequestContent",
		"InvalidResourceType",
		"InvalidTemplate",
		"InvalidValuesForRequestParameters",
		"K8sVersionNotSupported",
		"LocationRequired",
		"MissingRequiredParameter",
		"PasswordTooLong",
		"PrivateIPAddressInReservedRange",
		"PrivateIPAddressNotInSubnet",
		"PropertyChangeNotAllowed",
		"PublicIpForGatewayIsRequired",
	)
	return t
}
