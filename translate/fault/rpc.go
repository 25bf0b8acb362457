package fault

import "strings"

// rpcDetails is what the details of an error of Google's servers state (google.rpc.Status):
// a list of objects, each with its type.
type rpcDetails struct {
	reason string  // a word, "" for none
	wait   float64 // seconds until a retry, 0 for none
	usedUp bool    // a quota of the day is used up, so that no retry helps
	field  string  // the path of the first field at fault, "" for none
}

// refusedKeys are the reasons for which a key is not accepted, or the project of the account.
// Status and type blame the request.
var refusedKeys = map[string]bool{
	"API_KEY_INVALID": true, "API_KEY_EXPIRED": true, "API_KEY_SERVICE_BLOCKED": true, "ACCESS_TOKEN_EXPIRED": true,
	"CONSUMER_INVALID": true, "CONSUMER_SUSPENDED": true, "SERVICE_DISABLED": true, "USER_PROJECT_DENIED": true,
}

// unpaid is the reason of a project that cannot be charged.
const unpaid = "BILLING_DISABLED"

// rpcDetailsOf returns the details of an error body, which may be in a list.
func rpcDetailsOf(body any) (d rpcDetails) {
	if list, ok := body.([]any); ok && len(list) > 0 {
		body = list[0]
	}
	object, _ := body.(map[string]any)
	failure, _ := object["error"].(map[string]any)
	details, _ := failure["details"].([]any)
	for _, detail := range details {
		fields, _ := detail.(map[string]any)
		kind, _ := fields["@type"].(string)
		switch kind[strings.LastIndexByte(kind, '.')+1:] {
		case "ErrorInfo":
			d.reason = firstText(fields["reason"])
		case "RetryInfo":
			d.wait = seconds(firstText(fields["retryDelay"]))
		case "QuotaFailure":
			for _, quota := range objects(fields["violations"]) {
				d.usedUp = d.usedUp || strings.Contains(firstText(quota["quotaId"]), "PerDay")
			}
		case "BadRequest":
			for _, violation := range objects(fields["fieldViolations"]) {
				d.field = firstText(d.field, violation["field"])
			}
		}
	}
	return d
}

// objects returns the objects of a list.
func objects(value any) (objects []map[string]any) {
	list, _ := value.([]any)
	for _, element := range list {
		if object, ok := element.(map[string]any); ok {
			objects = append(objects, object)
		}
	}
	return objects
}
