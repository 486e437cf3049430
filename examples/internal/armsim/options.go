package armsim

import (
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// ClientOptions are the options that make a client of the SDK talk to a simulated cloud. The SDK's own retries are off: who
// reconciles decides when to try again, and in virtual time there is nothing to sleep for.
func ClientOptions(cloud policy.Transporter) *arm.ClientOptions {
	return &arm.ClientOptions{
		ClientOptions: policy.ClientOptions{
			Transport: cloud,
			Retry:     policy.RetryOptions{MaxRetries: -1},
		},
		DisableRPRegistration: true,
	}
}
