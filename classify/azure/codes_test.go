package azure

import (
	"fmt"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/testing/reader"
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
				c := reader.Classify(t, Errors(), fmt.Errorf("a: %w", respErr(code, status, "")))
				if c.Retry() != retry || c.Rule() != code || c.Code() != code {
					t.Errorf("%s with %d: got %v, want %s", code, status, c, retry)
				}
			}
		}
	}
	if len(Codes()) != known || known != 44 {
		t.Errorf("%d codes are listed here and %d in the table, want 44", known, len(Codes()))
	}
	reader.Table(t, Codes)
}
