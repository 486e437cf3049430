package azure

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/testing/reader"
)

// nonRetriable is the error of a credential, as the SDK wraps it.
type nonRetriable struct{ error }

func (nonRetriable) NonRetriable()   {}
func (e nonRetriable) Unwrap() error { return e.error }

// brokenBody panics when it is read.
type brokenBody struct{}

func (brokenBody) Read([]byte) (int, error) { panic("no body") }
func (brokenBody) Close() error             { return nil }

func TestRead(t *testing.T) {
	const body = `{"error":{"code":"FromBody","message":"busy"}}`
	var none *azcore.ResponseError
	reader.Test(t, Errors(), map[string]reader.Case{
		"response":       {"code and status of the error, message of the body, delay of the header", respErr("Conflict", 409, body, "Retry-After", "7"), classify.Failure{Code: "Conflict", Status: 409, Message: "busy", After: 7 * time.Second}},
		"code of body":   {"the body has the code if the error has none", respErr("", 409, body), classify.Failure{Code: "FromBody", Status: 409, Message: "busy"}},
		"code of header": {"the code of the header wins over that of the body", respErr("", 409, body, "x-ms-error-code", "FromHeader"), classify.Failure{Code: "FromHeader", Status: 409, Message: "busy"}},
		"status":         {"the response has the status if the error has none", &azcore.ResponseError{RawResponse: &http.Response{StatusCode: 503}}, classify.Failure{Status: 503, Transient: true}},
		"own status":     {"the status of the error wins", &azcore.ResponseError{StatusCode: 409, RawResponse: &http.Response{StatusCode: 200}}, classify.Failure{Status: 409}},
		"operation":      {"a failed operation is reported with 200", respErr("Conflict", 200, `{"status":"Failed","error":{"code":"Conflict","message":"busy"}}`), classify.Failure{Code: "Conflict", Status: 200, Message: "busy", Ended: true}},
		"last 2xx":       {"any 2xx reports a failed operation", respErr("Conflict", 299, ""), classify.Failure{Code: "Conflict", Status: 299, Ended: true}},
		"redirect":       {"300 does not report a failed operation", respErr("Conflict", 300, ""), classify.Failure{Code: "Conflict", Status: 300}},
		"not found":      {"404 means that the object or the operation does not exist", respErr("ResourceNotFound", 404, ""), classify.Failure{Code: "ResourceNotFound", Status: 404, NotFound: true, Ended: true}},
		"gone":           {"410 means that the operation does not exist", respErr("OperationExpired", 410, ""), classify.Failure{Code: "OperationExpired", Status: 410, Ended: true}},
		"throttled":      {"a throttled poll does not end the operation", respErr("TooManyRequests", 429, "", "Retry-After-Ms", "1500"), classify.Failure{Code: "TooManyRequests", Status: 429, Transient: true, After: 1500 * time.Millisecond}},
		"x-ms":           {"Azure has its own header in milliseconds", respErr("Busy", 503, "", "X-Ms-Retry-After-Ms", "2500"), classify.Failure{Code: "Busy", Status: 503, Transient: true, After: 2500 * time.Millisecond}},
		"ms wins":        {"the headers in milliseconds win over Retry-After, the standard one first", respErr("Busy", 503, "", "Retry-After-Ms", "1500", "X-Ms-Retry-After-Ms", "2500", "Retry-After", "7"), classify.Failure{Code: "Busy", Status: 503, Transient: true, After: 1500 * time.Millisecond}},
		"ms of zero":     {"a header that is no positive number is left out", respErr("Busy", 503, "", "Retry-After-Ms", "0", "X-Ms-Retry-After-Ms", "1e9", "Retry-After", "7"), classify.Failure{Code: "Busy", Status: 503, Transient: true, After: 7 * time.Second}},
		"ms over":        {"a delay has at most an hour, and does not overflow", respErr("Busy", 503, "", "Retry-After-Ms", "99999999999999999999"), classify.Failure{Code: "Busy", Status: 503, Transient: true, After: time.Hour}},
		"ms under":       {"a delay has at least a second", respErr("Busy", 503, "", "X-Ms-Retry-After-Ms", " 1 "), classify.Failure{Code: "Busy", Status: 503, Transient: true, After: time.Second}},
		"zero":           {"a zero ResponseError sets no field", new(azcore.ResponseError), classify.Failure{}},
		"details":        {"the cause of a failed deployment is read", respErr("DeploymentFailed", 200, `{"error":{"code":"DeploymentFailed","message":"see details","details":[{"code":"QuotaExceeded","message":"no cores"}]}}`), classify.Failure{Code: "DeploymentFailed", Status: 200, Message: "see details", Inner: []classify.InnerError{{Code: "QuotaExceeded", Message: "no cores"}}, Ended: true}},
		"proxy":          {"a 400 without a code is not Azure's, and its page is not Azure's text", respErr("", 400, "<html>Bad Request</html>"), classify.Failure{Message: "HTTP 400 without an error code of Azure", Inner: []classify.InnerError{{Message: "<html>Bad Request</html>"}}}},
		"JSON proxy":     {"the JSON of a proxy is not Azure's text", respErr("", 400, `{"message":"was not found"}`), classify.Failure{Message: "HTTP 400 without an error code of Azure", Inner: []classify.InnerError{{Message: "was not found"}}}},
		"page of 500":    {"a page of a server that fails is its text", respErr("", 500, "<html>down</html>"), classify.Failure{Status: 500, Transient: true, Inner: []classify.InnerError{{Message: "<html>down</html>"}}}},
		"page of 404":    {"a proxy does not know whether the object exists", respErr("", 404, "<html>no route</html>"), classify.Failure{Status: 404, Inner: []classify.InnerError{{Message: "<html>no route</html>"}}}},
		"JSON of 404":    {"the JSON of a proxy does not make an object missing", respErr("", 404, `{"message":"no Route matched"}`), classify.Failure{Status: 404, Message: "no Route matched"}},
		"OAuth of 404":   {"so does the form of an identity provider, which Spring also has", respErr("", 404, `{"status":404,"error":"Not Found"}`), classify.Failure{Code: "Not Found", Status: 404}},
		"number of 404":  {"a number is no code of Azure", respErr("", 404, `{"code":404,"message":"no route"}`), classify.Failure{Status: 404, Message: "no route"}},
		"digits of 404":  {"Azure SQL has codes of digits", respErr("45181", 404, `{"code":"45181","message":"does not exist"}`), classify.Failure{Code: "45181", Status: 404, Message: "does not exist", NotFound: true, Ended: true}},
		"code in a page": {"the SDK takes any element <code> for a code", respErr("blocked", 404, "<html><code>blocked</code></html>"), classify.Failure{Code: "blocked", Status: 404, Inner: []classify.InnerError{{Message: "<html><code>blocked</code></html>"}}}},
		"own client":     {"the credentials asked Azure for their secret, which is missing", nonRetriable{respErr("SecretNotFound", 404, "")}, classify.Failure{Code: "SecretNotFound", Status: 404}},
		"not served":     {"the type is not served, which says nothing about the object", respErr("InvalidResourceType", 404, ""), classify.Failure{Code: "InvalidResourceType", Status: 404}},
		"empty 404":      {"the response to a HEAD has no body", respErr("", 404, ""), classify.Failure{Status: 404, NotFound: true, Ended: true}},
		"uncoded 200":    {"a failed operation may have no error object", respErr("", 200, `{"status":"Failed"}`), classify.Failure{Status: 200, Ended: true, Inner: []classify.InnerError{{Message: `{"status":"Failed"}`}}}},
		"coded 400":      {"a 400 with a code is Azure's", respErr("", 400, `{"error":{"code":"BadRequest","message":"no"}}`), classify.Failure{Code: "BadRequest", Status: 400, Message: "no"}},
		"credentials":    {"an error that the SDK does not retry does not end the operation", fmt.Errorf("get: %w", nonRetriable{errors.New("no credentials")}), classify.Failure{Message: "get: no credentials", Transient: true}},
		"broken body":    {"a body that panics is not read, nor is the text of the error", &azcore.ResponseError{ErrorCode: "Conflict", StatusCode: 404, RawResponse: &http.Response{Body: brokenBody{}}}, classify.Failure{Message: "an error of type *exported.ResponseError panics when it is read"}},
		"typed nil":      {"a nil error sets no field", none, classify.Failure{Message: "an error of type *exported.ResponseError panics when it is read"}},
		"wrapped nil":    {"a nil error sets no field", fmt.Errorf("a: %w", error(none)), classify.Failure{Message: "a: <nil>"}},
	})
}
