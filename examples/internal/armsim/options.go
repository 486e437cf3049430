package armsim

import (
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// ClientOptions returns options that connect a client of the SDK to a simulated
// cloud. The SDK's own retries are off: the reconciler decides when to retry.
func ClientOptions(cloud policy.Transporter) *arm.ClientOptions {
	return &arm.ClientOptions{
		ClientOptions: policy.ClientOptions{
			Transport: cloud,
			Retry:     policy.RetryOptions{MaxRetries: -1},
		},
		DisableRPRegistration: true,
	}
}
