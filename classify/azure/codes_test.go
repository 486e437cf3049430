package azure

import (
	"fmt"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/classify"
)

// wantCodes is the table of Codes, copied from the classifier of Azure Service
// Operator.
var wantCodes = map[classify.Retry]string{
	classify.Slow: `AnotherOperationInProgress AuthorizationFailed AllocationFailed Conflict FailedIdentityOperation
		InvalidResourceReference InvalidSubscriptionRegistrationState LinkedAuthorizationFailed MissingRegistrationForLocation
		MissingSubscriptionRegistration NoRegisteredProviderFound NotFound ParentResourceNotFound PrincipalNotFound
		ResourceGroupNotFound ResourceNotFound ResourceQuotaExceeded RequestDisallowedByPolicy SubscriptionNotRegistered`,
	classify.VerySlow: `BadRequestFormat BadRequest InvalidResourceGroupLocation InvalidParameter InvalidParameterValue
		MethodNotAllowed ReservedResourceName RegionIsOfferRestricted ScopeLocked SkuNotAvailable SubscriptionNotFound`,
	classify.OnChange: `PublicIpForGatewayIsRequired InvalidResourceType InvalidRequestContent InvalidTemplate
		InvalidValuesForRequestParameters InvalidGatewaySkuProvidedForGatewayVpnType InvalidGatewaySize K8sVersionNotSupported
		LocationRequired MissingRequiredParameter PasswordTooLong PrivateIPAddressInReservedRange PrivateIPAddressNotInSubnet
		PropertyChangeNotAllowed`,
}

func TestCodes(t *testing.T) {
	known := 0
	for retry, codes := range wantCodes {
		for _, code := range strings.Fields(codes) {
			known++
			// A long-running operation fails with 200.
			for _, status := range []int{0, 200, 400, 401, 404, 409, 429, 500} {
				c := classifyOf(t, fmt.Errorf("a: %w", respErr(code, status, "")))
				if c.Retry() != retry || c.Rule() != code || c.Code() != code {
					t.Errorf("%s with %d: got %v, want %s", code, status, c, retry)
				}
				for _, near := range []string{strings.ToLower(code), strings.ToUpper(code), code + "X", code[:len(code)-1]} {
					if strings.Contains(" "+strings.Join(strings.Fields(wantCodes[classify.Slow]+" "+wantCodes[classify.VerySlow]), " ")+" ", " "+near+" ") {
						continue // InvalidParameter and InvalidParameterValue, for example
					}
					if c := classifyOf(t, respErr(near, status, "")); c.Rule() == code || c.Retry() == classify.OnChange {
						t.Errorf("%s with %d must be another code: got %v", near, status, c)
					}
				}
			}
		}
	}
	if len(Codes()) != known || known != 44 {
		t.Errorf("%d codes are listed here and %d in the table, want 44", known, len(Codes()))
	}
	Codes()[0].Retry = classify.OnChange
	if Codes()[0].Retry == classify.OnChange {
		t.Error("a change of the copy changed the table")
	}
}
